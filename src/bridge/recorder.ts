/** Writes the records of one execution's calls. */

import { GloveboxError } from "../domain/index.ts";
import type { JsonObject, Limits } from "../domain/index.ts";

import type { BridgeOptions } from "./crossing.ts";

type RecordDurability = Parameters<BridgeOptions["ledger"]["write"]>[1];

/** Remembers whether a record was lost. */
export function createRecorder({ execution, ledger, limits, principal }: BridgeOptions) {
  let lost: { readonly thrown: unknown } | undefined;
  const record = (
    durability: RecordDurability,
    action: string,
    subject: string,
    detail: JsonObject,
  ): Promise<unknown> => {
    const write = ledger.write({ actor: principal.id, action, subject, detail }, durability);
    write.catch((thrown: unknown) => (lost ??= { thrown }));
    return write;
  };
  return {
    record,
    /** Throws when a record was lost. */
    refuseLost(): void {
      if (lost) throw lost.thrown;
    },
    /** The error for a call beyond `limits.calls`. Only the first is recorded: there may be many before the program ends. */
    overrun(seq: number, name: string, isFirst: boolean): GloveboxError {
      const detail = { execution, seq, code: "LIMIT_CALLS" };
      if (isFirst) void record("batched", "call.refused", name, detail);
      return callsOverrun(limits);
    },
  };
}

/** The error of a program that makes too many calls. */
export function callsOverrun(limits: Limits): GloveboxError {
  return new GloveboxError("LIMIT_CALLS", `The program made more than ${limits.calls} tool calls (calls)`, {
    hint: "If a loop makes them, leave it with `break`; otherwise use a tool that answers many at once, or split the work",
  });
}

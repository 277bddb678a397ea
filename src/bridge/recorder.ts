/** Writes the ledger records of a call: before it leaves, and after it ended. */

import type { Ledger, Durability } from "../ledger/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { ExecutionId, JsonObject, Limits, Principal } from "../domain/index.ts";

export interface RecorderOptions {
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly limits: Limits;
  readonly ledger: Ledger;
  /** Makes the excerpt of arguments or a result that a record holds beside the digest. By default there is none. */
  readonly preview?: (text: string) => string;
}

export type Recorder = ReturnType<typeof createRecorder>;

/** Writes the records of one execution, and remembers whether one was lost. */
export function createRecorder({ execution, ledger, limits, principal }: RecorderOptions) {
  let lost: { readonly thrown: unknown } | undefined;
  const record = (durability: Durability, action: string, subject: string, detail: JsonObject): Promise<unknown> => {
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
    overrun(seq: number, name: string): GloveboxError {
      const detail = { execution, seq, code: "LIMIT_CALLS" };
      if (seq === limits.calls + 1) void record("batched", "call.refused", name, detail);
      return callsOverrun(limits);
    },
  };
}

/** The error of a program that makes too many calls. */
export function callsOverrun(limits: Limits): GloveboxError {
  return new GloveboxError("LIMIT_CALLS", `The program made more than ${limits.calls} tool calls (calls)`, {
    hint: "Use a tool that answers many at once, or split the work into several programs",
  });
}

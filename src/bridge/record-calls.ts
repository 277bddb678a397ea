/** Step 7 of a crossing: what the ledger is told of a call, before it leaves and after it ended. */

import { digestOf } from "../text/index.ts";
import type { Ledger, Durability } from "../ledger/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type {
  CallRecord,
  Decision,
  ExecutionId,
  JsonObject,
  Limits,
  Principal,
  Reply,
  Tool,
  ToolCall,
} from "../domain/index.ts";

import { nameOf } from "./find-tool.ts";

export interface RecorderOptions {
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly limits: Limits;
  readonly ledger: Ledger;
  /** Makes of arguments or a result what the ledger may keep beside their digest; left out, nothing of them is kept. */
  readonly preview?: (text: string) => string;
}

/** Writes for one execution, and remembers whether a record of it was lost. */
export function createRecorder({ execution, ledger, limits, principal }: RecorderOptions) {
  let lost: { readonly thrown: unknown } | undefined;
  const record = (durability: Durability, action: string, subject: string, detail: JsonObject): Promise<unknown> => {
    const write = ledger.write({ actor: principal.id, action, subject, detail }, durability);
    write.catch((thrown: unknown) => (lost ??= { thrown }));
    return write;
  };
  const refuseLost = (): void => {
    if (lost) throw lost.thrown;
  };
  /** Only the first is written down: a program could try as often as it likes before it is ended. */
  const overrun = (seq: number, rawAddress: unknown): GloveboxError => {
    if (seq === limits.calls + 1)
      void record("batched", "call.refused", nameOf(rawAddress), { execution, seq, code: "LIMIT_CALLS" });
    return callsOverrun(limits);
  };
  return { record, refuseLost, overrun };
}

/** The end of a program that calls too often. */
export function callsOverrun(limits: Limits): GloveboxError {
  return new GloveboxError("LIMIT_CALLS", `The program made more than ${limits.calls} tool calls (calls)`, {
    hint: "Use a tool that answers many at once, or split the work into several programs",
  });
}

export interface Intended {
  readonly tool: Tool;
  readonly decision: Decision;
  readonly rawArgs: unknown;
  /** A dry run answers it from its schema. */
  readonly isSkipped: boolean;
}

/** Digests instead of values: a record says what was sent without keeping it. */
export function describeIntent(
  { preview }: Pick<RecorderOptions, "preview">,
  call: ToolCall,
  { tool, decision, rawArgs, isSkipped }: Intended,
): JsonObject {
  const text = String(rawArgs);
  return {
    execution: call.execution,
    seq: call.seq,
    server: tool.origin.connector,
    effect: tool.effect,
    ...(tool.idempotent && { idempotent: true }),
    definition: tool.digest,
    arguments: digestOf(text),
    ...(preview && { preview: preview(text) }),
    decision: decision.kind,
    rule: decision.rule,
    ...(isSkipped && { dryRun: true }),
    ...(decision.flow && { flow: decision.flow.map((source) => ({ ...source })) }),
  };
}

/** What came of it, likewise. */
export function describeOutcome(
  { execution, preview }: Pick<RecorderOptions, "execution" | "preview">,
  { seq, outcome, ms, dryRun }: CallRecord,
  reply: Reply,
): JsonObject {
  const said = { execution, seq, outcome, ms, ...(dryRun && { dryRun }) };
  if (!reply.ok) return { ...said, code: reply.error.code };
  return { ...said, result: digestOf(reply.json), ...(preview && { preview: preview(reply.json) }) };
}

/** Writes the ledger records of a call: before it leaves, and after it ended. */

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

export interface RecorderOptions {
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly limits: Limits;
  readonly ledger: Ledger;
  /** Makes the excerpt of arguments or a result that a record holds beside the digest. By default there is none. */
  readonly preview?: (text: string) => string;
}

/** Writes the records of one execution, and remembers whether one was lost. */
export interface Recorder {
  readonly record: (durability: Durability, action: string, subject: string, detail: JsonObject) => Promise<unknown>;
  /** Throws when a record was lost. */
  readonly refuseLost: () => void;
  /** The error for a call beyond `limits.calls`. Only the first is recorded: there may be many before the program ends. */
  readonly overrun: (seq: number, name: string) => GloveboxError;
}

export function createRecorder({ execution, ledger, limits, principal }: RecorderOptions): Recorder {
  let lost: { readonly thrown: unknown } | undefined;
  const record: Recorder["record"] = (durability, action, subject, detail) => {
    const write = ledger.write({ actor: principal.id, action, subject, detail }, durability);
    write.catch((thrown: unknown) => (lost ??= { thrown }));
    return write;
  };
  const refuseLost = (): void => {
    if (lost) throw lost.thrown;
  };
  const overrun: Recorder["overrun"] = (seq, name) => {
    if (seq === limits.calls + 1) void record("batched", "call.refused", name, { execution, seq, code: "LIMIT_CALLS" });
    return callsOverrun(limits);
  };
  return { record, refuseLost, overrun };
}

/** The error of a program that makes too many calls. */
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

/** Holds digests instead of values: a record proves what was sent without keeping it. */
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

/** The outcome, with a digest of the result instead of the result. */
export function describeOutcome(
  { execution, preview }: Pick<RecorderOptions, "execution" | "preview">,
  { seq, outcome, ms, dryRun }: CallRecord,
  reply: Reply,
): JsonObject {
  const said = { execution, seq, outcome, ms, ...(dryRun && { dryRun }) };
  if (!reply.ok) return { ...said, code: reply.error.code };
  return { ...said, result: digestOf(reply.json), ...(preview && { preview: preview(reply.json) }) };
}

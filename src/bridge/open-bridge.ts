/**
 * The one door between a running program and the host, and the most important file of the product.
 * Every crossing takes the same seven steps in the same order; nothing else hands a guest's request to an upstream.
 */

import { GloveboxError, toPublicError } from "../domain/index.ts";
import type {
  CallPlan,
  CallProgress,
  CallRecord,
  CatalogSnapshot,
  Decision,
  ErrorCode,
  DryRun,
  ExecutionEvent,
  Json,
  JsonObject,
  LabelSource,
  PublicError,
  Reply,
  Tool,
  ToolAddress,
  ToolCall,
} from "../domain/index.ts";
import { pickStricter } from "../policy/index.ts";
import type { CallFlow, ExecutionFlow } from "../policy/index.ts";

import { ALLOWED_BUILTIN, findBuiltin } from "./builtin.ts";
import type { Builtin } from "./builtin.ts";
import { createCallTrace } from "./call-trace.ts";
import type { OpenCall, TracedCall } from "./call-trace.ts";
import { createDryRun } from "./dry-run.ts";
import type { DryRunSession } from "./dry-run.ts";
import { findTool, nameOf, refuseUnplanned } from "./find-tool.ts";
import { invokeWithin } from "./invoke.ts";
import { parseArguments } from "./parse-arguments.ts";
import { parseResult } from "./parse-result.ts";
import { createRecorder, describeIntent, describeOutcome } from "./record-calls.ts";
import type { RecorderOptions } from "./record-calls.ts";
import { ExecutionSuspended, bindToApproval, releaseCall } from "./release-call.ts";
import type { AskDecision, ReleaseOptions } from "./release-call.ts";
import { createSlots } from "./slots.ts";
import type { Slots } from "./slots.ts";

export interface BridgeOptions extends RecorderOptions {
  /** Resolves once the execution itself is on disk; rejects when it could not be written down. */
  readonly opened: () => Promise<unknown>;
  readonly snapshot: CatalogSnapshot;
  /** Fires when the program has ended in any way. */
  readonly signal: AbortSignal;
  readonly decide: (call: ToolCall, tool: Tool) => Decision;
  /** Rejects with POLICY_APPROVAL_REJECTED when a person says no, or with `ExecutionSuspended`. */
  readonly approve?: ReleaseOptions["approve"];
  /** What people were asked about calls of an earlier run of the program, by number. */
  readonly asked?: ReadonlyMap<number, AskDecision>;
  /** Resolves when everything that the program has seen so far outlives this process, or is on disk. */
  readonly seen?: (how: "written" | "flushed") => Promise<unknown>;
  /** Counts a call that may be made against quotas over time; rejects with LIMIT_QUOTA when nothing is left. */
  readonly take?: (tool: Tool) => Promise<unknown>;
  readonly invoke: (tool: Tool, args: JsonObject, options: InvokeOptions) => Promise<Json>;
  /** What the product itself offers to every program, beside the tools of the snapshot. */
  readonly builtins?: ReadonlyMap<ToolAddress, Builtin>;
  /** Hears what goes on. Must not throw. */
  readonly onEvent?: (event: ExecutionEvent) => void;
  /** Keeps the details of an internal fault and returns the incident's id. */
  readonly report: (thrown: unknown) => string;
  /** What the program can call, as its text tells. When it is exact, nothing else crosses. */
  readonly plan?: CallPlan;
  /** Follows what the program has read and speaks up before it can leave. */
  readonly flow?: ExecutionFlow;
  /** For a dry run: takes known secrets out of a text, because arguments are shown. Nothing but reads is then made. */
  readonly dryRun?: { readonly hide: (text: string) => string };
}

/** What goes along with one upstream call. */
export interface InvokeOptions {
  readonly seq: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CallProgress) => void;
  /** To be called when the upstream may have received the request: from then on a lost answer is an unknown outcome. */
  readonly onSent: () => void;
}

export interface Bridge {
  /**
   * Carries one call across. A failed or refused call is a `Reply`, so that a program can handle it but never reads an
   * internal fault. Rejects only when the execution must end: too many calls, or a record that cannot be written.
   */
  call(rawAddress: unknown, rawArgs: unknown, seq?: number): Promise<Reply>;
  /** A call that ended in an earlier run of the program: nothing is done, and the trace has it. */
  restore(call: TracedCall, failure?: PublicError): void;
  callOf(seq: number): TracedCall | undefined;
  records(): readonly CallRecord[];
  failureOf(seq: number): PublicError | undefined;
  /** The calls that were not made; `undefined` unless this is a dry run. */
  dryRun(): DryRun | undefined;
  /** What the program can call, as its text tells; absent when nobody looked. */
  readonly plan?: CallPlan;
  /** What the program's session has read by now. */
  labels(): readonly LabelSource[];
  /**
   * Once `signal` has fired: resolves when every call has ended and its records are with the ledger; rejects when one
   * of them was lost. Those still on their way are durable before any record that is written later.
   */
  recorded(): Promise<void>;
}

export function openBridge(options: BridgeOptions): Bridge {
  const { limits, onEvent = () => undefined } = options;
  const trace = createCallTrace();
  const slots = createSlots(limits.concurrentCalls);
  const { record, refuseLost, overrun } = createRecorder(options);
  const dryRun = options.dryRun && createDryRun(options.dryRun, onEvent);
  const door = { options, slots, record, dryRun };
  const carries: Promise<unknown>[] = [];

  const carry = async (rawAddress: unknown, rawArgs: unknown, seq: number): Promise<Reply> => {
    if (seq > limits.calls) throw overrun(seq, rawAddress); // 1 limit: attempts count, refused or not
    const entry = trace.open(seq, nameOf(rawAddress));
    const arrival = options.flow?.arrive(); // before any waiting: what comes later cannot be in this call
    await slots.enter();
    const reply = await cross(door, entry, { rawAddress, rawArgs, arrival })
      .then((json): Reply => ({ ok: true, json }))
      .catch((thrown: unknown) => toFailure(entry, thrown, options.report))
      .finally(() => slots.leave());
    if (!reply.ok && reply.error === PENDING) return reply; // it goes on with the execution
    const closed = entry.close(reply);
    onEvent({ kind: "answered", record: closed });
    const ending = { ...describeOutcome(options, closed, reply), ...entry.note };
    void record("batched", "call.ended", entry.tool, ending); // 7 record
    await arrival?.deliver(reply, entry.isSent);
    return reply;
  };

  return {
    call(rawAddress, rawArgs, seq = carries.length + 1) {
      const carried = carry(rawAddress, rawArgs, seq);
      carries.push(carried.catch(() => undefined));
      return carried;
    },
    restore: (past, failure) => trace.restore(past, failure),
    callOf: (seq) => trace.find(seq),
    ...(options.plan && { plan: options.plan }),
    records: () => trace.records(),
    failureOf: (number) => trace.failureOf(number),
    dryRun: () => dryRun?.listed(trace.records()),
    labels: () => options.flow?.sources() ?? [],
    async recorded() {
      await Promise.all(carries); // those under way end with the program and still write how
      refuseLost();
    },
  };
}

/** What the steps of one crossing share. */
interface Door {
  readonly options: BridgeOptions;
  readonly slots: Slots;
  readonly record: ReturnType<typeof createRecorder>["record"];
  readonly dryRun: DryRunSession | undefined;
}

/** Steps 2 to 6. */
async function cross(door: Door, entry: OpenCall, crossing: Crossing): Promise<string> {
  const { options, slots, record, dryRun } = door;
  const { execution, principal, limits } = options;
  const { builtin, tool, args } = identify(options, entry, crossing); // 2 name, 3 parse
  const call = { execution, seq: entry.seq, principal: principal.id, address: tool.address, args };
  const decide = createDecide(options, { builtin, tool, call, arrival: crossing.arrival });
  const decision = bindToApproval(decide(), options.asked?.get(entry.seq)); // 4 decide
  entry.decision = decision.kind;
  const isRead = decision.kind === "allow" && tool.effect === "read";
  const isSkipped = (entry.isSkipped = dryRun?.skips(tool, decision) ?? false);
  const said = { tool, decision, rawArgs: crossing.rawArgs, isSkipped };
  const intended = { ...describeIntent(options, call, said), ...builtin?.noteCall?.(args) };
  // Written before it leaves, with all that the program has seen by then; what changes something is on disk, too.
  const intent = record(isRead ? "committed" : "flushed", "call.intended", tool.address, intended);
  await Promise.all([intent, options.seen?.(isRead ? "written" : "flushed"), isRead && options.opened()]);
  const target = builtin ?? { tool };
  if (dryRun && isSkipped) return parseResult(tool, dryRun.answer(call, decision, target), limits);
  const note: ReleaseOptions["note"] = ({ rule }, approval) =>
    record("flushed", "call.intended", tool.address, { ...intended, decision: "allow", rule, approval });
  await releaseCall({ call, tool, decision, decide }, { ...options, slots, note });
  const raw = await invokeCall({ ...options, onSent: () => entry.send() }, call, target); // 5 invoke
  if (builtin?.noteResult) entry.note = builtin.noteResult(raw);
  return parseResult(tool, raw, limits); // 6 parse
}

/** The answer to nobody: whoever asked is put away. */
const PENDING: PublicError = { code: "POLICY_APPROVAL_PENDING", message: "It waits for a person", retry: true };

/** What the guest sent, and what had been delivered to it until then. */
interface Crossing {
  readonly rawAddress: unknown;
  readonly rawArgs: unknown;
  readonly arrival: CallFlow | undefined;
}

/** A record is lost, or somebody else writes the records of this execution. */
const FATAL: readonly ErrorCode[] = ["STORE_UNAVAILABLE", "REQUEST_CONFLICT"];

/** A failure is an answer, but nothing goes on unrecorded. */
function toFailure(entry: OpenCall, thrown: unknown, report: BridgeOptions["report"]): Reply {
  if (thrown instanceof GloveboxError && FATAL.includes(thrown.code)) throw thrown;
  if (thrown instanceof ExecutionSuspended) {
    entry.pend();
    return { ok: false, error: PENDING };
  }
  return { ok: false, error: entry.fail(thrown, toPublicError(thrown, report)) };
}

/** Which tool is meant, with which arguments, and what the trace says of it so far. */
function identify(
  { builtins, snapshot, plan, limits }: BridgeOptions,
  entry: OpenCall,
  { rawAddress, rawArgs }: Crossing,
): { readonly builtin: Builtin | undefined; readonly tool: Tool; readonly args: JsonObject } {
  const builtin = findBuiltin(builtins, rawAddress);
  const named = builtin?.tool ?? findTool(snapshot, rawAddress);
  Object.assign(entry, { tool: named.address, effect: named.effect, isRepeatable: named.idempotent ?? false });
  entry.definition = named.digest;
  if (!builtin) refuseUnplanned(plan, named);
  const args = parseArguments(named, rawArgs, limits);
  const tool = builtin?.judge?.(args) ?? named;
  entry.effect = tool.effect;
  return { builtin, tool, args };
}

interface Subject {
  readonly builtin: Builtin | undefined;
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly arrival: CallFlow | undefined;
}

/** Rules first, then the data-flow guard; asked again, both look at what holds by then. */
function createDecide({ decide }: BridgeOptions, { builtin, tool, call, arrival }: Subject): () => Decision {
  return () => {
    const usual = builtin && !builtin.judge ? ALLOWED_BUILTIN : decide(call, tool);
    return pickStricter(usual, arrival?.judge(call, tool));
  };
}

/** The call itself, once quotas over time have room for it: whoever watches hears of it first. */
async function invokeCall(
  {
    take,
    onEvent = () => undefined,
    limits: { callMs },
    signal: ended,
    invoke,
    decide,
    onSent,
  }: BridgeOptions & Pick<InvokeOptions, "onSent">,
  call: ToolCall & { readonly args: JsonObject },
  { tool, answer, judge }: Pick<Builtin, "tool"> & Partial<Builtin>,
): Promise<Json> {
  if (!answer || judge) await take?.(tool);
  const { seq, args } = call;
  onEvent({ kind: "called", seq, tool: tool.address });
  const decideAgain = (changed: JsonObject): Decision => decide({ ...call, args: changed }, judge?.(changed) ?? tool);
  const onProgress = (progress: CallProgress): void => onEvent({ kind: "progress", seq, tool: tool.address, progress });
  return invokeWithin({ tool, callMs, signal: ended }, (signal) =>
    answer
      ? answer(args, { signal, onSent, decide: decideAgain })
      : invoke(tool, args, { seq, signal, onProgress, onSent }),
  );
}

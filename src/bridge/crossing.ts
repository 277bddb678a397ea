/** What the steps of the bridge share: the options of one execution's bridge, and one call on its way through them. */

import type {
  ApprovalId,
  Attachment,
  CallPlan,
  CallProgress,
  CallRecord,
  CatalogSnapshot,
  Decision,
  Digest,
  ExecutionEvent,
  ExecutionId,
  InputRequest,
  Json,
  JsonObject,
  LabelSource,
  Limits,
  Principal,
  PublicError,
  Reply,
  ResultId,
  Tool,
  ToolAddress,
  ToolCall,
  TraceContext,
} from "../domain/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { openFlows } from "../policy/index.ts";
import { runInSlices } from "../timing/index.ts";
import type { Owner, RunSlice, SlicedWork } from "../timing/index.ts";

import type { Builtin, CallTarget, ParsedCall, SkillPowers } from "./builtin.ts";
import type { OpenCall, TracedCall, createCallTrace } from "./call-trace.ts";
import type { Deadlines } from "./deadlines.ts";
import type { DryRunSession } from "./dry-run.ts";
import type { HostTime } from "./host-time.ts";
import type { createRecorder } from "./recorder.ts";

type SessionFlow = ReturnType<Awaited<ReturnType<typeof openFlows>>["open"]>;

/** A decision that a person has to make. */
export type AskDecision = Extract<Decision, { kind: "ask" }>;

/** Thrown while a call waits for approval and its execution is suspended: the call has no outcome yet. */
export class ExecutionSuspended extends Error {
  override readonly name = "ExecutionSuspended";
}

/** What an upstream answered: one JSON value, and the files beside it. */
export interface CallAnswer {
  readonly value: Json;
  readonly attachments: readonly Attachment[];
}

/** What goes along with one upstream call. */
export interface InvokeOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CallProgress) => void;
  /** Must be called when the upstream may have received the request: a lost answer is an unknown outcome from then on. */
  readonly onSent: () => void;
  readonly trace?: TraceContext;
  /** Runs and counts what the host does with the answer. */
  readonly spend: RunSlice;
  /** Asks the person behind the call for input. */
  readonly askInput?: InputRequest["ask"];
}

export interface BridgeOptions {
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly limits: Limits;
  readonly ledger: Ledger;
  /** Makes the excerpt of arguments or a result that a record holds beside the digest. By default there is none. */
  readonly preview?: (text: string) => string;
  /** Resolves once the opening of the execution is as durable as a read needs; rejects when it could not be written. */
  readonly opened: () => Promise<unknown>;
  readonly snapshot: CatalogSnapshot;
  /** Fires when the program has ended in any way. */
  readonly signal: AbortSignal;
  readonly decide: (call: ToolCall, tool: Tool) => Decision;
  /**
   * Resolves with the approval's id once a person has approved; without it, calls that need approval are refused.
   * Rejects with POLICY_APPROVAL_REJECTED, or with `ExecutionSuspended`.
   */
  readonly approve?: (call: ToolCall, tool: Tool, decision: AskDecision) => Promise<ApprovalId>;
  /** Resolves once the person has answered. Rejects with `ExecutionSuspended`. Without it no upstream can ask. */
  readonly askInput?: (
    call: ToolCall,
    tool: Tool,
    question: InputRequest["question"],
    more: {
      readonly canRepeat: boolean;
      /** Fires when the call has ended without the answer. */ readonly over: AbortSignal;
    },
  ) => Promise<InputRequest["answer"]>;
  /** The approvals that calls of an earlier run waited for, by call number. */
  readonly asked?: ReadonlyMap<number, AskDecision>;
  /**
   * Returns a promise while the program's types are checked: it resolves when they fit, and rejects with PROGRAM_TYPES.
   * Without it they were checked before.
   */
  readonly whenChecked?: () => Promise<void> | undefined;
  /** Makes everything the program has seen survive this process (`write`, unless it does) or a power cut (`flush`). */
  readonly journal?: { write(): Promise<unknown>; isWritten(): boolean; flush(): Promise<unknown> };
  /** Is given the number of calls under way whenever it changes. */
  readonly onCalls?: (open: number) => void;
  /** Records the tokens of secrets that a program passes to a tool, where they are useless. */
  readonly noticeTokens?: (args: string, tool: string) => Promise<void>;
  /** Counts a call against quotas over time, if there are any; rejects with LIMIT_QUOTA when nothing is left. */
  readonly take?: (tool: Tool) => Promise<unknown> | undefined;
  /** The trace context that an upstream call carries. */
  readonly traceOf?: (seq: number) => TraceContext | undefined;
  readonly invoke: (tool: Tool, args: JsonObject, options: InvokeOptions) => Promise<CallAnswer>;
  /** Whether results of this tool are passed on if they do not match its output schema. By default none are. */
  readonly isLenient?: (tool: Tool) => boolean;
  /** Learns the shape of results. Must not throw. */
  readonly learn?: (tool: Tool, args: JsonObject, value: Json) => void;
  /** Keeps a file of a result on the host; rejects when it cannot. */
  readonly keepFile?: (file: AttachedFile, labels: readonly LabelSource[]) => Promise<ResultId>;
  /** What the product itself offers to every program, beside the tools of the snapshot. */
  readonly builtins?: ReadonlyMap<ToolAddress, Builtin>;
  /** Observes the calls. Must not throw. */
  readonly onEvent?: (event: ExecutionEvent) => void;
  /** Milliseconds of the gateway's thread, for `limits.hostMs`. By default its processor time. */
  readonly clock?: () => number;
  /** Keeps the details of an internal fault and returns the incident's id. */
  readonly report: (thrown: unknown) => string;
  /** The calls found in the program's source. When the plan is exact, all others are refused. */
  readonly plan?: CallPlan;
  /** Tracks what the program has read and decides before it can leave. */
  readonly flow?: SessionFlow;
  /** For a dry run: removes known secrets from arguments, because they are shown. Only reads are made then. */
  readonly dryRun?: { readonly hide: (text: string) => string };
  /** What a skill has beyond its tools; without it nothing. */
  readonly openPowers?: (powers: SkillPowers) => ReadonlyMap<ToolAddress, Builtin>;
  /** Runs skills; without it a call of one is refused. */
  readonly callSkill?: CallSkill;
}

/** Runs a skill for one call of it, through a bridge of its own that is a part of the caller's. */
export type CallSkill = (tool: Tool, args: JsonObject, how: SkillCall) => Promise<Json>;

export interface SkillCall {
  /** The number of the call. */
  readonly seq: number;
  /** The number of the call of the program that it belongs to. */
  readonly root: number;
  /** Fires when nothing waits for the call any more. */
  readonly signal: AbortSignal;
  /** What the program sees. */
  readonly snapshot: CatalogSnapshot;
  /** The skills that call this one, outermost first. */
  readonly callers: readonly ToolAddress[];
  /** Resolves when no other skill of the same caller runs: together they have one place. */
  readonly enter: () => Promise<void> | undefined;
  readonly leave: () => void;
  readonly nest: (own: NestedOptions) => NestedBridge;
}

/** What a skill has of its own; all else is its caller's: principal, rules, labels, limits, ledger and counts. */
export type NestedOptions = Pick<BridgeOptions, "snapshot" | "signal"> & {
  readonly plan: CallPlan | undefined;
  /** What it was granted beyond its caller. */
  readonly powers?: SkillPowers | undefined;
  /** The number of the run within the call of the program, if it ran before. */
  readonly frame?: number | undefined;
  /** Numbers below are those of earlier runs. */
  readonly firstFree?: number | undefined;
};

/** The door of a skill. Its calls are calls of the same execution, listed under the call of the skill. */
export interface NestedBridge {
  call(rawAddress: unknown, rawArgs: unknown, seq: number): Promise<Reply>;
  records(): readonly CallRecord[];
  failureOf(seq: number): PublicError | undefined;
  labels(): readonly LabelSource[];
  readonly frame: number;
  /** As in `Bridge`; the number is that of the call within the run. */
  takeJournaled(seq: number): JournaledCall | undefined;
  restore(call: TracedCall, failure?: PublicError): void;
  /** Resolves when every call has ended. */
  settled(): Promise<void>;
}

/** Bytes of a kind that is not JSON. */
export interface AttachedFile {
  readonly mimeType: string;
  readonly body: Uint8Array;
}

/** A call as the journal keeps it beside the delivery of its reply. */
export interface JournaledCall extends TracedCall {
  /** Of the tool's address and the arguments as the program wrote them. */
  readonly request: Digest;
  /** What the session had read once this was delivered. */
  readonly labels?: readonly LabelSource[];
}

/** A result that does not match the output schema of its tool. */
export interface SchemaMismatch {
  readonly tool: ToolAddress;
  /** Where and how, such as `result.items[].price must be a number`. */
  readonly problem: string;
}

/** What all calls of one execution share. */
export interface BridgeState {
  readonly options: BridgeOptions;
  readonly emit: (event: ExecutionEvent) => void;
  readonly trace: ReturnType<typeof createCallTrace>;
  readonly slots: ReturnType<typeof createCallSlots>;
  readonly recorder: ReturnType<typeof createRecorder>;
  readonly hostTime: HostTime;
  readonly deadlines: Deadlines;
  readonly dryRun: DryRunSession | undefined;
  readonly journaled: Map<number, JournaledCall>;
  /** Results that do not match their schema and were passed on, by tool and place. */
  readonly mismatches: Map<string, SchemaMismatch>;
  /** Token notices under way, for `recorded()`. */
  readonly notices: Promise<void>[];
  /** Attempts of the program and of its skills together, and those of them that are open. */
  readonly counted: { calls: number; open: number };
  /** The call of the skill whose calls these are; absent for those of the program. */
  readonly under?: number;
  /** The call of the program that they belong to, and how many runs of skills it has had. */
  readonly root?: { readonly seq: number; frames: number };
  readonly callers: readonly ToolAddress[];
  /** What the program sees, from which each skill sees its own tools. */
  readonly whole: CatalogSnapshot;
  /** Skills of one caller run one after another. */
  readonly skillSlots: ReturnType<typeof createCallSlots>;
  /** Takes a call through all steps. */
  readonly cross: (crossing: Crossing) => Promise<Reply>;
  openCalls: number;
  /** Waits until the opening of the execution is written; `undefined` once it is. */
  readonly opening: () => Promise<unknown> | undefined;
  /** Called when no call is under way any more. */
  readonly idle: (() => void)[];
}

/** Limits how many calls of an execution are under way at once; later calls wait in order. */
export function createCallSlots(most: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    /** Takes a slot, or returns a promise that resolves when it has one. Each needs one `leave`. */
    enter(): Promise<void> | undefined {
      if (taken >= most) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return undefined;
    },
    leave(): void {
      // The slot passes straight to the next call in line, so that a newer call cannot take it in between.
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    },
  };
}

/** A decision, and how to decide again by the rules and labels of a later moment. */
export interface Verdict {
  readonly decision: Decision;
  readonly decideAgain: () => Decision;
  /** Nothing can change by the call, so its intent need not be flushed to disk. */
  readonly isPlainRead: boolean;
}

/**
 * One call from its arrival to its reply. Each step fills in what later steps read; reading something that no earlier
 * step has set throws, because the order of the steps is wrong then.
 */
export class Crossing {
  readonly bridge: BridgeState;
  readonly seq: number;
  readonly rawAddress: unknown;
  readonly rawArgs: unknown;
  request: Digest | undefined;
  arrival: ReturnType<SessionFlow["arrive"]> | undefined;
  trace: TraceContext | undefined;
  hasSlot = false;
  isSkipped = false;
  isSuspended = false;
  /** The detail of the `call.intended` record. */
  intent: JsonObject = {};
  attachments: CallAnswer["attachments"] = [];
  reply: Reply | undefined;
  /** Set when the execution cannot continue: the call rejects instead of replying. */
  fatal: { readonly thrown: unknown } | undefined;
  readonly #replied = Promise.withResolvers<Reply>();
  #entry: OpenCall | undefined;
  #target: CallTarget | undefined;
  #tool: Tool | undefined;
  #call: ParsedCall | undefined;
  #verdict: Verdict | undefined;
  #value: Json | undefined;
  #record: CallRecord | undefined;

  constructor(bridge: BridgeState, seq: number, rawAddress: unknown, rawArgs: unknown) {
    this.bridge = bridge;
    this.seq = seq;
    this.rawAddress = rawAddress;
    this.rawArgs = rawArgs;
  }

  /** The reply for the program; rejects with what ends the execution. */
  get replied(): Promise<Reply> {
    return this.#replied.promise;
  }

  /** All steps were taken. */
  end(): void {
    const overrun = this.bridge.hostTime.overrun();
    if (this.fatal ?? overrun) this.#replied.reject(this.fatal ? this.fatal.thrown : overrun);
    else this.#replied.resolve(ensureSet(this.reply));
  }

  get hasEntry(): boolean {
    return this.#entry !== undefined;
  }
  /** Its line of the trace. */
  get entry(): OpenCall {
    return ensureSet(this.#entry);
  }
  set entry(entry: OpenCall) {
    this.#entry = entry;
  }
  get target(): CallTarget {
    return ensureSet(this.#target);
  }
  set target(target: CallTarget) {
    this.#target = target;
  }
  /** The tool with the effect that this very call has. */
  get tool(): Tool {
    return ensureSet(this.#tool);
  }
  set tool(tool: Tool) {
    this.#tool = tool;
  }
  get call(): ParsedCall {
    return ensureSet(this.#call);
  }
  set call(call: ParsedCall) {
    this.#call = call;
  }
  get verdict(): Verdict {
    return ensureSet(this.#verdict);
  }
  set verdict(verdict: Verdict) {
    this.#verdict = verdict;
  }
  /** How it ended. */
  get record(): CallRecord {
    return ensureSet(this.#record);
  }
  set record(record: CallRecord) {
    this.#record = record;
  }
  /** What the tool answered. */
  get value(): Json {
    return ensureSet(this.#value);
  }
  set value(value: Json) {
    this.#value = value;
  }
}

function ensureSet<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("A step reads what no earlier step has set");
  return value;
}

/**
 * When a step runs: always, until the call has a reply, until then but only for calls that are really made, or once
 * the call has a reply that reaches the program.
 */
export type StepPhase = "always" | "until replied" | "if made" | "once replied";

/** One step of a crossing. It throws to refuse the call, and returns a promise only if it has to wait. */
export interface Step {
  readonly name: string;
  readonly phase: StepPhase;
  /** It may take milliseconds, so it waits for its turn on the gateway's thread. */
  readonly isLong?: true;
  readonly run: (crossing: Crossing) => Promise<unknown> | void;
}

/** Runs the first slice at once, in the turn of the caller: most work ends with it, and returns no promise. */
export function startInSlices<T>(
  work: SlicedWork<T>,
  by: RunSlice | Owner,
  take: (value: T) => void,
): Promise<void> | undefined {
  const first = work.next();
  if (first.done !== true) return runInSlices(work, by).then(take);
  take(first.value);
  return undefined;
}

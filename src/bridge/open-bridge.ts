/**
 * The one door between a running program and the host. Every call takes the steps of `steps/step-list.ts` in their
 * order; nothing else hands a guest's call to an upstream.
 */

import { GloveboxError, defined, toPublicError } from "../domain/index.ts";
import type { CallPlan, CallRecord, DryRun, ErrorCode, LabelSource, PublicError, Reply } from "../domain/index.ts";
import { ownerOf, takeTurn } from "../timing/index.ts";

import { createCallTrace, failCall } from "./call-trace.ts";
import type { TracedCall } from "./call-trace.ts";
import { Crossing, ExecutionSuspended, createCallSlots } from "./crossing.ts";
import type { BridgeOptions, BridgeState, JournaledCall, Step, StepPhase, SchemaMismatch } from "./crossing.ts";
import { createDeadlines } from "./deadlines.ts";
import { createDryRun } from "./dry-run.ts";
import { createHostTime } from "./host-time.ts";
import { createRecorder } from "./recorder.ts";
import { STEPS } from "./steps/step-list.ts";

export interface Bridge {
  /**
   * Carries one call across. A failed or refused call is a `Reply`, so that a program can handle it but never reads an
   * internal fault. Rejects only when the execution must end: too many calls, too much time of the host, or a record
   * that cannot be written.
   */
  call(rawAddress: unknown, rawArgs: unknown, seq?: number): Promise<Reply>;
  /** Adds a call that ended in an earlier run of the program to the trace, without making it. */
  restore(call: TracedCall, failure?: PublicError): void;
  /** A call with a reply, as the journal keeps it. Each can be taken once. */
  takeJournaled(seq: number): JournaledCall | undefined;
  records(): readonly CallRecord[];
  failureOf(seq: number): PublicError | undefined;
  /** Results that do not match their schema and were passed on: one for each tool and place. */
  mismatches(): readonly SchemaMismatch[];
  /** The calls that were not made; `undefined` unless this is a dry run. */
  dryRun(): DryRun | undefined;
  /** The calls found in the program's source; absent when it was not analyzed. */
  readonly plan?: CallPlan;
  /** What the program's session has read by now. */
  labels(): readonly LabelSource[];
  /**
   * Once `signal` has fired: resolves when every call has ended and its records are with the ledger; rejects when one
   * of them was lost. Records that are still being written are durable before any record that is written later.
   */
  recorded(): Promise<void>;
}

export function openBridge(options: BridgeOptions): Bridge {
  const { limits, onEvent: emit = () => undefined } = options;
  const trace = createCallTrace();
  const recorder = createRecorder(options);
  const dryRun = options.dryRun && createDryRun(options.dryRun, emit);
  const slots = createCallSlots(limits.concurrentCalls);
  const hostTime = createHostTime(limits, ownerOf(options.principal), options.clock);
  const deadlines = createDeadlines(options);
  const kept = { journaled: new Map(), mismatches: new Map(), notices: [], openCalls: 0, idle: [] };
  const opening = createOpening(options.opened);
  const skills = {
    counted: { calls: 0, open: 0 },
    callers: [],
    whole: options.snapshot,
    skillSlots: createCallSlots(1),
    cross,
  };
  const shared = { options, emit, trace, slots, recorder, hostTime, deadlines, opening, dryRun };
  const state: BridgeState = { ...shared, ...kept, ...skills };
  let made = 0;
  return {
    call(rawAddress, rawArgs, seq = made + 1) {
      made += 1;
      return cross(new Crossing(state, seq, rawAddress, rawArgs));
    },
    restore(past, failure) {
      skills.counted.calls += 1;
      trace.restore(past, failure);
    },
    takeJournaled(seq) {
      const call = state.journaled.get(seq);
      state.journaled.delete(seq);
      return call;
    },
    ...defined({ plan: options.plan }),
    records: () => trace.records(),
    failureOf: (number) => trace.failureOf(number),
    mismatches: () => [...kept.mismatches.values()],
    dryRun: () => dryRun?.listed(trace.records()),
    labels: () => options.flow?.sources() ?? [],
    async recorded() {
      // Calls under way end with the program and still write their outcome.
      if (state.openCalls > 0) await new Promise<void>((resolve) => state.idle.push(resolve));
      recorder.refuseLost();
      await Promise.all(state.notices);
    },
  };
}

function cross(crossing: Crossing): Promise<Reply> {
  takeSteps(crossing, 0);
  return crossing.replied;
}

/** Only the first calls of an execution have to wait for its opening. */
function createOpening(opened: BridgeOptions["opened"]): BridgeState["opening"] {
  let isOpened = false;
  return () => (isOpened ? undefined : opened().then(() => (isOpened = true)));
}

/**
 * Takes a call through the steps from `first` on, and continues later where a step has to wait. Its time on this thread
 * counts, waiting does not.
 */
function takeSteps(crossing: Crossing, first: number): void {
  const { hostTime } = crossing.bridge;
  hostTime.enter();
  for (let at = first; at < STEPS.length; at += 1) {
    const waits = begin(crossing, at);
    if (!waits) continue;
    hostTime.leave();
    const next = at + 1;
    waits.then(
      () => takeSteps(crossing, next),
      (thrown: unknown) => {
        fail(crossing, thrown);
        takeSteps(crossing, next);
      },
    );
    return;
  }
  hostTime.leave();
  crossing.end();
}

/** Runs one step if it is due. Returns a promise only if the step has to wait. */
function begin(crossing: Crossing, at: number): Promise<unknown> | undefined {
  const step = STEPS[at];
  if (!step || !isDue(step.phase, crossing)) return undefined;
  try {
    const turn = step.isLong ? takeTurn(crossing.bridge.hostTime.owner) : undefined;
    return turn ? turn.then(() => runInTurn(crossing, step)) : (step.run(crossing) ?? undefined);
  } catch (thrown) {
    fail(crossing, thrown);
    return undefined;
  }
}

/** The call waited for its turn, and others of its execution were served meanwhile. */
function runInTurn(crossing: Crossing, { run }: Step): Promise<unknown> | undefined {
  const { hostTime } = crossing.bridge;
  const overrun = crossing.reply ? undefined : hostTime.overrun();
  if (overrun) throw overrun;
  hostTime.enter();
  try {
    return run(crossing) ?? undefined;
  } finally {
    hostTime.leave();
  }
}

function isDue(phase: StepPhase, { reply, fatal, isSkipped, isSuspended }: Crossing): boolean {
  switch (phase) {
    case "always":
      return true;
    case "until replied":
      return !reply && !fatal;
    case "if made":
      return !reply && !fatal && !isSkipped;
    case "once replied":
      return reply !== undefined && !fatal && !isSuspended;
    default:
      return phase satisfies never;
  }
}

/** Never delivered: the program is being suspended. */
const PENDING: PublicError = { code: "POLICY_APPROVAL_PENDING", message: "The call waits for approval", retry: true };

/** A record was lost, or another process writes the records of this execution. */
const FATAL: readonly ErrorCode[] = ["STORE_UNAVAILABLE", "REQUEST_CONFLICT"];

/** A failure is a reply, unless the call or its reply cannot be recorded: then the execution ends. */
function fail(crossing: Crossing, thrown: unknown): void {
  const isFatal = thrown instanceof GloveboxError && FATAL.includes(thrown.code);
  if (isFatal || !crossing.hasEntry || crossing.reply) {
    crossing.fatal ??= { thrown };
  } else if (thrown instanceof ExecutionSuspended) {
    crossing.entry.outcome = "pending";
    crossing.isSuspended = true;
    crossing.reply = { ok: false, error: PENDING };
  } else {
    const error = toPublicError(thrown, crossing.bridge.options.report);
    crossing.reply = { ok: false, error: failCall(crossing.entry, thrown, error) };
  }
}

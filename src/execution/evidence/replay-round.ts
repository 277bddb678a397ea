/**
 * Runs a program again with some of its replies replaced, and records the calls that it makes. Every call is answered
 * from the recording: nothing reaches an upstream, the network, a clock or a person.
 */

import { callsOverrun } from "../../bridge/index.ts";
import { defined } from "../../domain/index.ts";
import type { CallRecord, EngineName } from "../../domain/index.ts";
import type { Delivery, ImprovisedAnswer, SandboxJob, SandboxResult, TapeStart } from "../../sandbox/index.ts";

import type { Replacer } from "./replace-values.ts";

/** What a program has received so far, and the calls that it has made. */
export interface ReplayScript {
  readonly start: TapeStart;
  readonly past: readonly Delivery[];
  /** The engine that runs the program. */
  readonly engine?: EngineName;
  readonly calls: readonly Pick<CallRecord, "seq" | "tool">[];
}

/** A call of a replay: its tool, and its arguments as JSON. */
export interface MadeCall {
  readonly tool: string;
  readonly args: string;
}

/** What a program asked for in a replay, in order, and when. */
export interface MadeRequests {
  readonly calls: readonly MadeCall[];
  readonly callsAtMs: readonly number[];
  readonly timers: readonly { readonly wanted: string; readonly atMs: number }[];
}

type Collected = { readonly [Key in keyof MadeRequests]: MadeRequests[Key][number][] };

export interface RoundOptions {
  readonly script: ReplayScript;
  readonly job: Omit<SandboxJob, "tape" | "host">;
  /** Absent for a replay with the recorded data. */
  readonly change?: {
    /** The calls whose replies are replaced. */
    readonly seqs: ReadonlySet<number>;
    readonly replacer: Replacer;
    /**
     * The replay with the recorded data. From the first call on that differs from it, replies of the same server are
     * replaced, too: it may keep what it was given. Waits that differ from it take their own time.
     */
    readonly usual: MadeRequests;
  };
  readonly run: (job: SandboxJob) => Promise<SandboxResult>;
}

/** After so many calls more than recorded, further ones fail; after twice as many the replay ends. */
const MORE_CALLS = 50;
const REFUSED = JSON.stringify({ code: "REQUEST_CANCELLED", message: "The replay ends here", retry: false });

/** Returns `undefined` if the replay was cancelled or failed to run. */
export async function replayRound(options: RoundOptions): Promise<MadeRequests | undefined> {
  const { script, job, run } = options;
  const made: Collected = { calls: [], callsAtMs: [], timers: [] };
  const answers = createAnswers(options, made);
  const most = script.calls.length + 2 * MORE_CALLS;
  const { ending } = await run({
    ...job,
    host: { call: () => Promise.reject(callsOverrun(job.limits)) },
    tape: {
      start: script.start,
      ...defined({ engine: script.engine }),
      past: [],
      began: () => undefined,
      keep: () => undefined,
      repeat(id, text) {
        if (id > Math.min(job.limits.calls, most)) throw callsOverrun(job.limits);
        const cut = text.indexOf("\n");
        made.calls.push({ tool: text.slice(0, cut), args: text.slice(cut + 1) });
      },
      improvise: (kind, id, wanted, shownMs) => {
        const nowMs = Math.max(shownMs, script.start.atMs);
        if (kind === "call") made.callsAtMs.push(nowMs);
        else made.timers.push({ wanted, atMs: nowMs });
        return kind === "call" ? answers.toCall(id, nowMs) : answers.toTimer(id, wanted, nowMs);
      },
    },
  });
  if (ending.kind === "cancelled") return undefined;
  const isBroken = ending.kind === "failed" && !PROGRAM_LIMITS.has(ending.error.code);
  return isBroken ? undefined : made;
}

/** Failures that another value in the program can cause; others are of the machine. */
const PROGRAM_LIMITS: ReadonlySet<string> = new Set(["LIMIT_CALLS", "LIMIT_SIZE", "LIMIT_MEMORY"]);

function createAnswers({ script, change }: RoundOptions, { calls: made }: Pick<MadeRequests, "calls">) {
  const { past, calls } = script;
  const turns = new Map(past.map((delivery, turn) => [`${delivery.kind === "tick"} ${delivery.id}`, turn]));
  const recorded = Map.groupBy(calls, ({ tool }) => tool);
  const tools = new Map(calls.map(({ seq, tool }) => [seq, tool]));
  const seen = new Map<string, number>();
  const isTouched = createTouched(change?.usual.calls ?? []);

  /** The recorded call in whose place this one is: of the same number, else the one that is as far down the list. */
  const findRecorded = (id: number, tool: string): number | undefined => {
    const before = seen.get(tool) ?? 0;
    seen.set(tool, before + 1);
    return tools.get(id) === tool ? id : recorded.get(tool)?.[before]?.seq;
  };
  const findUsual = (tool: string): Delivery | undefined =>
    past.findLast(({ kind, id }) => kind === "reply" && tools.get(id) === tool);
  /** In its usual place if it comes at the usual time; otherwise as long after its request as in the recording. */
  const giveAfter = (answer: Omit<Delivery, "atMs">, turn: number | undefined, wait: Wait): ImprovisedAnswer => {
    const { nowMs, askedMs = nowMs, otherMs } = wait;
    const usualMs = turn === undefined ? undefined : past[turn]?.atMs;
    const atMs = nowMs + (otherMs ?? Math.max(0, (usualMs ?? askedMs) - askedMs));
    const isUsual = turn !== undefined && (!change || atMs === usualMs);
    return { delivery: { ...answer, atMs }, turn: isUsual ? turn : Infinity };
  };
  return {
    toCall(id: number, nowMs: number): ImprovisedAnswer {
      const call = made[id - 1] ?? { tool: "", args: "" };
      if (id > calls.length + MORE_CALLS)
        return giveAfter({ kind: "failure", id, text: REFUSED }, undefined, { nowMs });
      const seq = findRecorded(id, call.tool);
      const turn = turns.get(`false ${seq}`);
      const found = turn === undefined ? findUsual(call.tool) : past[turn];
      const reply = found ?? { kind: "reply" as const, id, atMs: nowMs, text: "null" };
      const isOther = change && isTouched(call);
      const isReplaced = change && (isOther || seq === undefined || change.seqs.has(seq));
      const { kind, text } = isReplaced ? change.replacer.replace(reply) : reply;
      const askedMs = seq === undefined ? undefined : change?.usual.callsAtMs[seq - 1];
      return giveAfter({ kind, id, text }, turn, { nowMs, ...defined({ askedMs }) });
    },
    toTimer(id: number, wanted: string, nowMs: number): ImprovisedAnswer {
      const turn = turns.get(`true ${id}`);
      const usual = change?.usual.timers[id - 1];
      const isOther = turn === undefined || (change && usual?.wanted !== wanted);
      const otherMs = isOther ? Math.max(0, Number(wanted) || 0) : undefined;
      return giveAfter({ kind: "tick", id, text: "" }, turn, { nowMs, ...defined({ askedMs: usual?.atMs, otherMs }) });
    },
  };
}

/** When an answer was asked for, in this replay and in the usual one, and how long it takes if that is known. */
interface Wait {
  readonly nowMs: number;
  readonly askedMs?: number;
  readonly otherMs?: number;
}

/** Returns a function that is called with each call, and returns true once those of the same server differ. */
function createTouched(usual: readonly MadeCall[]): (call: MadeCall) => boolean {
  const serverOf = ({ tool }: MadeCall): string => tool.slice(0, tool.indexOf("."));
  const expected = Map.groupBy(usual, serverOf);
  const counts = new Map<string, number>();
  const touched = new Set<string>();
  return (call) => {
    const server = serverOf(call);
    const count = counts.get(server) ?? 0;
    counts.set(server, count + 1);
    const same = expected.get(server)?.[count];
    if (same?.tool !== call.tool || same.args !== call.args) touched.add(server);
    return touched.has(server);
  };
}

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

export interface RoundOptions {
  readonly script: ReplayScript;
  readonly job: Omit<SandboxJob, "tape" | "host">;
  /** Absent for a replay with the recorded data. */
  readonly change?: {
    /** The calls whose replies are replaced. */
    readonly seqs: ReadonlySet<number>;
    readonly replacer: Replacer;
    /** The calls of the replay with the recorded data: the reply to a call with other arguments is replaced, too. */
    readonly usual: readonly MadeCall[];
  };
  readonly run: (job: SandboxJob) => Promise<SandboxResult>;
}

/** After so many calls more than recorded, further ones fail; after twice as many the replay ends. */
const MORE_CALLS = 50;
const REFUSED = JSON.stringify({ code: "REQUEST_CANCELLED", message: "The replay ends here", retry: false });

/** The calls in order; `undefined` if the replay was cancelled or failed to run. */
export async function replayRound(options: RoundOptions): Promise<readonly MadeCall[] | undefined> {
  const { script, job, run } = options;
  const made: MadeCall[] = [];
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
        made.push({ tool: text.slice(0, cut), args: text.slice(cut + 1) });
      },
      improvise: (kind, id, wanted) => (kind === "call" ? answers.toCall(id) : answers.toTimer(id, wanted)),
    },
  });
  if (ending.kind === "cancelled") return undefined;
  const isBroken = ending.kind === "failed" && !PROGRAM_LIMITS.has(ending.error.code);
  return isBroken ? undefined : made;
}

/** Failures that another value in the program can cause; others are of the machine. */
const PROGRAM_LIMITS: ReadonlySet<string> = new Set(["LIMIT_CALLS", "LIMIT_SIZE", "LIMIT_MEMORY"]);

function createAnswers({ script, change }: RoundOptions, made: readonly MadeCall[]) {
  const { start, past, calls } = script;
  const turns = new Map(past.map((delivery, turn) => [`${delivery.kind === "tick"} ${delivery.id}`, turn]));
  const recorded = Map.groupBy(calls, ({ tool }) => tool);
  const tools = new Map(calls.map(({ seq, tool }) => [seq, tool]));
  const seen = new Map<string, number>();
  let atMs = start.atMs;

  /** The recorded call in whose place this one is: of the same number, else the one that is as far down the list. */
  const findRecorded = (id: number, tool: string): number | undefined => {
    const before = seen.get(tool) ?? 0;
    seen.set(tool, before + 1);
    return tools.get(id) === tool ? id : recorded.get(tool)?.[before]?.seq;
  };
  const findUsual = (tool: string): Delivery | undefined =>
    past.findLast(({ kind, id }) => kind === "reply" && tools.get(id) === tool);
  const give = (delivery: Omit<Delivery, "atMs">, turn: number, at = atMs): ImprovisedAnswer => {
    atMs = Math.max(atMs, at);
    return { delivery: { ...delivery, atMs }, turn };
  };
  return {
    toCall(id: number): ImprovisedAnswer {
      const call = made[id - 1] ?? { tool: "", args: "" };
      if (id > calls.length + MORE_CALLS) return give({ kind: "failure", id, text: REFUSED }, Infinity);
      const seq = findRecorded(id, call.tool);
      const turn = turns.get(`false ${seq}`);
      const found = turn === undefined ? findUsual(call.tool) : past[turn];
      const reply = found ?? { kind: "reply" as const, id, atMs, text: "null" };
      const isOther = change && seq !== undefined && change.usual[seq - 1]?.args !== call.args;
      const isReplaced = change && (isOther || seq === undefined || change.seqs.has(seq));
      const { kind, text, atMs: at } = isReplaced ? change.replacer.replace(reply) : reply;
      return give({ kind, id, text }, turn ?? Infinity, at);
    },
    toTimer(id: number, wanted: string): ImprovisedAnswer {
      const turn = turns.get(`true ${id}`);
      const at = turn === undefined ? atMs + Math.max(0, Number(wanted) || 0) : past[turn]?.atMs;
      return give({ kind: "tick", id, text: "" }, turn ?? Infinity, at);
    },
  };
}

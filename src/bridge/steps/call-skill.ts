/**
 * A call of a skill: its program gets a bridge that is a part of the caller's. Every call of it takes the same steps, in
 * the name of the same principal, and counts as a call of the same execution.
 */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Reply } from "../../domain/index.ts";

import { Crossing, createCallSlots } from "../crossing.ts";
import type { BridgeOptions, BridgeState, CallAnswer, NestedBridge, NestedOptions } from "../crossing.ts";
import { createDeadlines } from "../deadlines.ts";
import type { WaitingCall } from "../deadlines.ts";
import { countOpen } from "./count.ts";

/**
 * Calls of a skill have numbers that depend on the call of the program that started it, so that a resumed program uses
 * none twice: the number of that call, of the run within it, and of the call within the run.
 */
const ROOT = 10_000_000_000;
const FRAME = 100_000;

const MOST_LEVELS = 4;

/** The number of the call of the program that a call belongs to; its own for a call of the program itself. */
export function rootOf(seq: number): number {
  return seq < ROOT ? seq : Math.floor(seq / ROOT);
}

/** The time of the program limits it, and not `callMs`: it is many calls. */
export async function callSkill(crossing: Crossing, waiting: WaitingCall): Promise<CallAnswer> {
  const { bridge, seq, call, tool } = crossing;
  const { options, callers, skillSlots, deadlines } = bridge;
  const { callSkill: run } = options;
  if (!run) throw new GloveboxError("SKILL_NOT_APPROVED", `${tool.address} cannot be called here`);
  if (callers.includes(tool.address)) throw refuse(`${tool.address} calls itself`, "Leave one of the calls out");
  if (callers.length >= MOST_LEVELS)
    throw refuse(`Skills call each other more than ${MOST_LEVELS} levels deep`, "Call fewer skills in skills");
  deadlines.hold(waiting);
  const value = await run(tool, call.args, {
    seq,
    root: bridge.root?.seq ?? seq,
    signal: AbortSignal.any([options.signal, waiting.abort.signal]),
    snapshot: bridge.whole,
    callers,
    enter: () => enter(bridge),
    leave: () => skillSlots.leave(),
    nest: (own) => nest(bridge, { ...own, seq, callers: [...callers, tool.address] }),
  });
  return { value, attachments: [] };
}

function refuse(message: string, hint: string): GloveboxError {
  return new GloveboxError("PROGRAM_FORBIDDEN", message, { hint });
}

type NestedFrame = NestedOptions & Pick<BridgeState, "callers"> & { readonly seq: number };

/** A person who approves a call sees which skill makes it. */
function nameCaller(
  approve: NonNullable<BridgeOptions["approve"]>,
  skill: string | undefined,
): NonNullable<BridgeOptions["approve"]> {
  const suffix = ` (called by ${skill})`;
  return (call, tool, decision) => {
    const { reason } = decision;
    return approve(call, tool, { ...decision, reason: reason.endsWith(suffix) ? reason : `${reason}${suffix}` });
  };
}

/** A call that waits for its turn has not begun: it holds up no suspension. */
function enter(bridge: BridgeState): Promise<void> | undefined {
  const turn = bridge.skillSlots.enter();
  if (!turn) return undefined;
  countOpen(bridge, -1);
  return turn.then(() => countOpen(bridge, 1));
}

function nest(
  parent: BridgeState,
  { seq, callers, plan, signal, snapshot, powers, frame, firstFree }: NestedFrame,
): NestedBridge {
  const { plan: _, approve, ...rest } = parent.options;
  const own = defined({ plan, approve: approve && nameCaller(approve, callers.at(-1)) });
  const builtins = (powers && rest.openPowers?.(powers)) ?? new Map();
  const options: BridgeOptions = { ...rest, ...own, signal, snapshot, builtins };
  const root = parent.root ?? { seq, frames: 0 };
  root.frames = Math.max(root.frames, firstFree ?? 0);
  const number = frame ?? root.frames;
  if (number === root.frames) root.frames += 1;
  const first = root.seq * ROOT + number * FRAME;
  const idle: (() => void)[] = [];
  const kept = {
    journaled: new Map(),
    openCalls: 0,
    idle,
    under: seq,
    root,
    callers,
    deadlines: createDeadlines(options),
  };
  const slots = { slots: createCallSlots(options.limits.concurrentCalls), skillSlots: createCallSlots(1) };
  const state: BridgeState = { ...parent, ...kept, ...slots, options };
  return {
    call: (rawAddress, rawArgs, seq): Promise<Reply> =>
      parent.cross(new Crossing(state, first + seq, rawAddress, rawArgs)),
    records: () => parent.trace.records().filter((record) => record.seq > first && record.seq <= first + FRAME),
    failureOf: (seq) => parent.trace.failureOf(first + seq),
    labels: () => options.flow?.sources() ?? [],
    frame: number,
    takeJournaled(seq) {
      const call = state.journaled.get(first + seq);
      state.journaled.delete(first + seq);
      return call;
    },
    restore(past, failure) {
      state.counted.calls += 1;
      parent.trace.restore(past, failure);
    },
    async settled() {
      if (state.openCalls > 0) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}

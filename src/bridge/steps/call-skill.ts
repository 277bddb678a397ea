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

/**
 * Calls of a skill have numbers that depend on the call of the program that started it, so that a resumed program uses
 * none twice: the number of that call, of the run within it, and of the call within the run.
 */
const ROOT = 10_000_000_000;
const FRAME = 100_000;

const MOST_LEVELS = 4;

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
    signal: AbortSignal.any([options.signal, waiting.abort.signal]),
    snapshot: bridge.whole,
    callers,
    enter: () => skillSlots.enter(),
    leave: () => skillSlots.leave(),
    nest: (own) => nest(bridge, { ...own, seq, callers: [...callers, tool.address] }),
  });
  return { value, attachments: [] };
}

function refuse(message: string, hint: string): GloveboxError {
  return new GloveboxError("PROGRAM_FORBIDDEN", message, { hint });
}

type NestedFrame = NestedOptions & Pick<BridgeState, "callers"> & { readonly seq: number };

function nest(parent: BridgeState, { seq, callers, plan, signal, snapshot }: NestedFrame): NestedBridge {
  const { approve: _, askInput: __, asked: ___, onCalls: ____, journal: _____, plan: ______, ...rest } = parent.options;
  const options: BridgeOptions = {
    ...rest,
    ...defined({ plan }),
    signal,
    snapshot,
    builtins: new Map(),
    approve: refuseToAsk,
  };
  const root = parent.root ?? { seq, frames: 0 };
  const first = root.seq * ROOT + root.frames * FRAME;
  root.frames += 1;
  const idle: (() => void)[] = [];
  const own = {
    journaled: new Map(),
    openCalls: 0,
    idle,
    under: seq,
    root,
    callers,
    deadlines: createDeadlines(options),
  };
  const slots = { slots: createCallSlots(options.limits.concurrentCalls), skillSlots: createCallSlots(1) };
  const state: BridgeState = { ...parent, ...own, ...slots, options };
  return {
    call: (rawAddress, rawArgs, number): Promise<Reply> =>
      parent.cross(new Crossing(state, first + number, rawAddress, rawArgs)),
    records: () => parent.trace.records().filter((record) => record.seq > first && record.seq <= first + FRAME),
    failureOf: (number) => parent.trace.failureOf(first + number),
    labels: () => options.flow?.sources() ?? [],
    async settled() {
      if (state.openCalls > 0) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}

/** A program is suspended as a whole, and a skill keeps no journal of its own yet. */
async function refuseToAsk(...[call, , { reason }]: Parameters<NonNullable<BridgeOptions["approve"]>>): Promise<never> {
  throw new GloveboxError(
    "POLICY_DENIED",
    `${call.address} needs approval, and a skill cannot wait for it: ${reason}`,
    {
      hint: `Call ${call.address} in the program itself, where a person can approve it`,
    },
  );
}

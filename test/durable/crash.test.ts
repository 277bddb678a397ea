/**
 * Generated programs in whole gateways. Their store is copied at any moment, as a kill would leave it, and another
 * gateway goes on from each copy: what comes to its end is the same, and nothing that changes something happens twice.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { GloveboxError } from "../../src/domain/index.ts";
import type { ExecutionId, ExecutionView, Json } from "../../src/domain/index.ts";
import type { Approvals } from "../../src/policy/index.ts";
import type { Gateway } from "../../src/surfaces/index.ts";
import { makeProgram, numbersFrom } from "./programs.ts";
import { AGENT, OPERATOR, openWorld, until } from "./world.ts";
import type { World } from "./world.ts";

/** `DURABLE_CRASHES=100` for a longer look. */
const CRASHES = Number(process.env["DURABLE_CRASHES"] ?? 6);
const PROGRAMS = CRASHES * 10;
const AT_ONCE = 6;
/** Between two crashes, so many calls reach the shop at most; a program makes about so many. */
const CALLS = 40;
/** So many go on at a time. */
const GATEWAYS = 3;
/** So many numbers belong to one program. */
const APART = 10_000_000;

/** Says yes to everything that is asked, until it is told to stop. */
async function approveAll(approvals: Approvals, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    for (const { id } of await approvals.list({ isPending: true, limit: 200 }))
      await approvals.decide(id, { verdict: "approve" }, OPERATOR).catch(() => undefined);
    await wait(30);
  }
}

interface Begun {
  readonly seed: number;
  readonly execution: ExecutionId;
}

/** Runs them all to their end, some at a time. `hear` is told of each as soon as it has a name. */
async function runAll(gateway: Gateway, seeds: number[], hear: (begun: Begun) => void): Promise<void> {
  const work = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const own = seed;
      const result = await gateway.execute({
        principal: AGENT,
        code: makeProgram(numbersFrom(1_000 + own), { base: own * APART }),
        onEvent: (event) => void (event.kind === "opened" && hear({ seed: own, execution: event.execution })),
      });
      await until(gateway, result.execution, "completed", "failed");
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

interface Copy {
  readonly world: World;
  readonly begun: readonly Begun[];
  /** What had reached the shop by then. */
  readonly made: readonly string[];
}

/** Copies the world at moments that nobody has chosen, until there are enough of them. */
async function copyAtTimes(world: World, begun: readonly Begun[], ended: AbortSignal): Promise<readonly Copy[]> {
  const copies: Copy[] = [];
  let due = 0;
  while (copies.length < CRASHES && !ended.aborted) {
    due += Math.ceil(Math.random() * CALLS);
    while (world.shop.made.length < due && !ended.aborted) await wait(1);
    copies.push({ world: world.fork(), begun: [...begun], made: [...world.shop.made] });
  }
  return copies;
}

interface Returned {
  readonly seed: number;
  readonly view: ExecutionView;
  /** False when the program had not run at all: then time and chance begin anew. */
  readonly hadBegun: boolean;
}

/** Everything that the copy has comes to its end in another gateway. */
async function bringBack({ world, begun }: Copy): Promise<readonly Returned[]> {
  const stop = new AbortController();
  const journals = await world.journals();
  const known = await Promise.all(begun.map(({ execution }) => journals.read(execution)));
  const gateway = await world.open();
  const approving = approveAll(await world.approvals(), stop.signal);
  const returned: Returned[] = [];
  try {
    for (const [at, { execution, seed }] of begun.entries()) {
      const view = await until(gateway, execution, "completed", "failed").catch(ignoreUnknown);
      if (view) returned.push({ seed, view, hadBegun: known[at]?.begun !== undefined });
    }
    return returned;
  } finally {
    stop.abort();
    await approving;
  }
}

/** It may never have been written. */
function ignoreUnknown(thrown: unknown): undefined {
  if (!(thrown instanceof GloveboxError) || thrown.code !== "REQUEST_NOT_FOUND") throw thrown;
}

/** Reads, and what may be repeated, are no harm. */
function isOnce(request: string): boolean {
  return /^(put|pay|fail) /.test(request);
}

test(`${PROGRAMS} programs come to the same after ${CRASHES} crashes, and change nothing twice`, async () => {
  await using world = await openWorld({ config: { approvals: { graceMs: 20 }, sandbox: { queue: 100 } } });
  const [gateway, approvals] = [await world.open(), await world.approvals()];
  const begun: Begun[] = [];
  const stop = new AbortController();
  const approving = approveAll(approvals, stop.signal);
  const seeds = Array.from({ length: PROGRAMS }, (_, seed) => seed);
  const running = runAll(gateway, seeds, (one) => void begun.push(one)).finally(() => stop.abort());
  const copies = await copyAtTimes(world, begun, stop.signal);
  await running;
  await approving;
  const ends = new Map<string, number>();
  const judge = async (copy: Copy): Promise<readonly string[]> => {
    await using _closing = copy.world;
    const returned = await bringBack(copy);
    const wrong: string[] = [];
    for (const one of returned) {
      const end = one.view.error?.code ?? one.view.state;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      wrong.push(...compare(one, await until(gateway, one.view.execution, "completed", "failed")));
    }
    return [...wrong, ...findTwice(copy)];
  };
  const wrong: string[] = [];
  for (let at = 0; at < copies.length; at += GATEWAYS)
    wrong.push(...(await Promise.all(copies.slice(at, at + GATEWAYS).map(judge))).flat());
  assert.deepEqual(wrong, [], JSON.stringify([...ends]));
  assert.deepEqual([...ends.keys()].toSorted(), ["SANDBOX_CRASHED", "completed"].slice(2 - ends.size));
});

function findTwice({ world, made }: Copy): readonly string[] {
  const all = [...made, ...world.shop.made].filter(isOnce);
  return all.filter((request, place) => all.indexOf(request) !== place).map((request) => `${request} is made twice`);
}

/** One that could not go on names calls that were under way; any other comes to the same as if undisturbed. */
function compare({ seed, view, hadBegun }: Returned, whole: ExecutionView): readonly string[] {
  const said = (value: Json | undefined): string => JSON.stringify(value ?? null);
  if (view.state === "completed" && !hadBegun) return [];
  if (view.state === "completed") {
    const isSame = said(view.value) === said(whole.value);
    return isSame ? [] : [`program ${seed}: ${said(view.value)} instead of ${said(whole.value)}`];
  }
  const isNamed = view.error?.code === "SANDBOX_CRASHED" && /call \d+\)|accounted for/.test(view.error.message);
  return isNamed ? [] : [`program ${seed}: ${view.error?.code} ${view.error?.message}`];
}

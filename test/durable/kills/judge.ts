/** What programs came to after all the kills, against what they come to undisturbed. */

import type { ExecutionResult } from "../../../src/domain/index.ts";
import { findKept } from "../../../src/execution/replay/kept.ts";
import { replay } from "../../../src/execution/replay/replay.ts";
import type { KeptExecution } from "../../../src/execution/index.ts";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { openKept, readLedger, readProgress, readRows } from "./kept.ts";
import type { Kept, Row } from "./kept.ts";
import { digestOfRequest, foresee, isOrdered } from "./kill-programs.ts";
import type { KillWorld } from "./kill-world.ts";
import { isOnce } from "./mcp-shop.ts";

const NEVER = new AbortController().signal;
/** A result names as many of the calls whose outcome is not known. */
const NAMED = 10;

/** Everything that is wrong; empty when nothing is. `seeds` are the programs that were asked for. */
export async function judge(world: KillWorld, seeds: readonly number[], sandbox: Sandbox): Promise<readonly string[]> {
  const rows = readRows(world.settings);
  await using kept = await openKept(world.settings);
  const wrong = [...findLost(world, rows, seeds), ...findTwice(world.shop.made)];
  const said = readLedger(world.settings);
  for (const row of rows) {
    const found = [...judgeRecords(said.get(row.id) ?? []), ...(await judgeOne(row, { world, kept, sandbox }))];
    wrong.push(...found.map((what) => `program ${row.seed} (${row.id}): ${what}`));
  }
  return wrong;
}

function findLost({ told }: KillWorld, rows: readonly Row[], seeds: readonly number[]): readonly string[] {
  const count = (seed: number): number => rows.filter((row) => row.seed === seed).length;
  const ids = new Set<string>(rows.map(({ seed, id }) => `${seed} ${id}`));
  const promised = [...told].flatMap(([seed, executions]) => [...executions].map((id) => `${seed} ${id}`));
  return [
    ...seeds.filter((seed) => count(seed) !== 1).map((seed) => `program ${seed} has ${count(seed)} executions`),
    ...promised.filter((one) => !ids.has(one)).map((one) => `a client was told of ${one}, which is lost`),
  ];
}

function findTwice(made: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const twice = made.filter((request) => isOnce(request) && seen.size === seen.add(request).size);
  return twice.map((request) => `${request} is made twice`);
}

/** The ledger tells of every execution from its beginning to its end. */
function judgeRecords(said: readonly string[]): readonly string[] {
  const count = (action: string): number => said.filter((one) => one === action).length;
  const isOnce = count("opened") === 1 && count("closed") === 1;
  const isWhole = isOnce && said[0] === "opened" && said.at(-1) === "closed";
  return isWhole ? [] : [`the ledger says ${said.join(", ")}`];
}

interface Means {
  readonly world: KillWorld;
  readonly kept: Kept;
  readonly sandbox: Sandbox;
}

async function judgeOne(row: Row, means: Means): Promise<readonly string[]> {
  const { result } = row;
  if (result?.state === "completed") return judgeCompleted(row, result, means);
  if (result?.error?.code === "SANDBOX_CRASHED") return judgeCrashed(row, result, means);
  return [`${row.state} ${result?.error?.code} ${result?.error?.message}`];
}

async function judgeCompleted(row: Row, result: ExecutionResult, { world, kept, sandbox }: Means) {
  const found = await findKept(row.id, kept);
  const { difference } = await replay(found, { signal: NEVER }, replayRooms(sandbox));
  const wrong = difference === undefined ? [] : [`shown again, ${difference}`];
  wrong.push(...compareCalls(row, result, world.shop.made));
  return isOrdered(row.seed) ? wrong : [...wrong, ...(await compareForeseen(row, result, found))];
}

/** What the result has as done came, and what came is in the result; one that was given up at the end may have come. */
function compareCalls({ seed }: Row, { calls }: ExecutionResult, made: readonly string[]): readonly string[] {
  const came = made.flatMap((request) => {
    const [operation = "", program] = request.split(" ");
    return program === String(seed) && isOnce(request) ? [operation] : [];
  });
  const wrong: string[] = [];
  for (const operation of new Set(["put", "pay", "fail"])) {
    const own = calls.filter(({ tool }) => tool === `shop.${operation}`);
    const done = own.filter(({ outcome }) => outcome === "ok").length;
    const count = came.filter((one) => one === operation).length;
    if (count < done || count > own.length) wrong.push(`${count} calls of ${operation} came: ${JSON.stringify(own)}`);
  }
  return wrong;
}

async function compareForeseen({ seed }: Row, { value }: ExecutionResult, { recording }: KeptExecution) {
  const foreseen = JSON.stringify(await foresee(seed, recording.started.start));
  return JSON.stringify(value) === foreseen ? [] : [`it came to ${JSON.stringify(value)} instead of ${foreseen}`];
}

function replayRooms(sandbox: Sandbox) {
  const { engine, isolation } = sandbox;
  return { engine, isolation, report: String, hide: (text: string) => text, run: sandbox.run.bind(sandbox) };
}

/** It was met by a kill, and names every call that may have changed something without an answer. */
async function judgeCrashed(row: Row, { calls, error }: ExecutionResult, { world, kept }: Means) {
  const unknown = calls.filter(({ outcome }) => outcome === "unknown");
  const names = unknown.slice(0, NAMED).map(({ tool, seq }) => `${tool} (call ${seq})`);
  const answered = (await readProgress(row.id, kept))?.answered ?? new Set();
  const made = world.shop.made.filter((request) => request.split(" ")[1] === String(row.seed) && isOnce(request));
  const open = made.filter((request) => !answered.has(digestOfRequest(request)));
  const unnamed = open.filter((request) => !unknown.some(({ tool }) => `shop.${request}`.startsWith(`${tool} `)));
  return [
    ...(world.met.has(row.id) ? [] : ["no kill met it"]),
    ...(unknown.some(({ tool }) => isOnce(tool.replace("shop.", "").concat(" ")))
      ? []
      : [`it ended: ${error?.message}`]),
    ...names.filter((name) => !error?.message.includes(name)).map((name) => `${name} is not named`),
    ...(open.length > unknown.length ? [`${open.length} calls came, ${unknown.length} are named`] : []),
    ...unnamed.map((request) => `${request} came and is not named`),
  ];
}

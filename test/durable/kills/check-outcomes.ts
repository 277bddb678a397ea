/** Compares the outcomes of programs after all kills with those of undisturbed runs. */

import assert from "node:assert/strict";

import type { ExecutionResult } from "../../../src/domain/index.ts";
import { findKept } from "../../../src/execution/replay/kept.ts";
import { replay } from "../../../src/execution/replay/replay.ts";
import type { KeptExecution } from "../../../src/execution/index.ts";
import type { Sandbox } from "../../../src/sandbox/index.ts";
import { openStoreRecords, readLedger, readProgress, readResult, readRows } from "./read-records.ts";
import type { OpenRecords, ExecutionRow } from "./read-records.ts";
import { digestOfRequest, computeExpectedValue, isOrdered } from "./kill-programs.ts";
import type { KilledGateways } from "./killed-gateways.ts";
import { isUnrepeatable } from "./mcp-shop-server.ts";

const NEVER = new AbortController().signal;
/** A result names at most this many calls with an unknown outcome. */
const NAMED = 10;

/** Returns all problems; empty if there are none. `seeds` are the submitted programs. */
export async function checkOutcomes(
  killed: KilledGateways,
  seeds: readonly number[],
  sandbox: Sandbox,
): Promise<readonly string[]> {
  const rows = readRows(killed.settings);
  await using kept = await openStoreRecords(killed.settings);
  const wrong = [...findLost(killed, rows, seeds), ...findTwice(killed.shop.received)];
  const said = readLedger(killed.settings);
  for (const row of rows) {
    const found = [
      ...checkLedgerActions(said.get(row.id) ?? []),
      ...(await checkExecution(row, { killed, kept, sandbox })),
    ];
    wrong.push(...found.map((what) => `program ${row.seed} (${row.id}): ${what}`));
  }
  return wrong;
}

function findLost(
  { returnedIds: told }: KilledGateways,
  rows: readonly ExecutionRow[],
  seeds: readonly number[],
): readonly string[] {
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
  const twice = made.filter((request) => isUnrepeatable(request) && seen.size === seen.add(request).size);
  return twice.map((request) => `${request} is made twice`);
}

/** Checks that the ledger has every execution from its start to its end. */
function checkLedgerActions(said: readonly string[]): readonly string[] {
  const count = (action: string): number => said.filter((one) => one === action).length;
  const isOnce = count("opened") === 1 && count("closed") === 1;
  const isWhole = isOnce && said[0] === "opened" && said.at(-1) === "closed";
  return isWhole ? [] : [`the ledger says ${said.join(", ")}`];
}

interface CheckInput {
  readonly killed: KilledGateways;
  readonly kept: OpenRecords;
  readonly sandbox: Sandbox;
}

async function checkExecution(row: ExecutionRow, means: CheckInput): Promise<readonly string[]> {
  const result = await readResult(row.id, means.kept);
  if (result?.state === "completed") return checkCompleted(row, result, means);
  if (result?.error?.code === "SANDBOX_CRASHED") return checkCrashed(row, result, means);
  return [`${row.state} ${result?.error?.code} ${result?.error?.message}`];
}

async function checkCompleted(row: ExecutionRow, result: ExecutionResult, { killed, kept, sandbox }: CheckInput) {
  const found = await findKept(row.id, kept);
  const { difference } = await replay(found, { signal: NEVER }, replayRooms(sandbox));
  const wrong = difference === undefined ? [] : [`shown again, ${difference}`];
  wrong.push(...compareCalls(row, result, killed.shop.received));
  return isOrdered(row.seed) ? wrong : [...wrong, ...(await compareWithExpected(row, result, found))];
}

/**
 * Calls with outcome `ok` must have arrived, and calls that arrived must be in the result; a call that was abandoned at
 * the end may have arrived.
 */
function compareCalls({ seed }: ExecutionRow, { calls }: ExecutionResult, made: readonly string[]): readonly string[] {
  const came = made.flatMap((request) => {
    const [operation = "", program] = request.split(" ");
    return program === String(seed) && isUnrepeatable(request) ? [operation] : [];
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

async function compareWithExpected({ seed }: ExecutionRow, { value }: ExecutionResult, { recording }: KeptExecution) {
  const foreseen = JSON.stringify(await computeExpectedValue(seed, recording.started.start));
  return JSON.stringify(value) === foreseen ? [] : [`it came to ${JSON.stringify(value)} instead of ${foreseen}`];
}

function replayRooms(sandbox: Sandbox) {
  const analyze = (): never => assert.fail("the recorded program is not analyzed again");
  const { engine, isolation } = sandbox;
  return { engine, isolation, report: String, hide: (text: string) => text, run: sandbox.run.bind(sandbox), analyze };
}

/**
 * Checks that a kill interrupted it, and that it names every call that may have changed something without a response. A
 * kill between the end of a call in the ledger and its response in the journal leaves a call with a known outcome, which
 * the program cannot be given again: it is listed with that outcome.
 */
async function checkCrashed(row: ExecutionRow, { calls, error }: ExecutionResult, { killed, kept }: CheckInput) {
  const unknown = calls.filter(({ outcome }) => outcome === "unknown");
  const names = unknown.slice(0, NAMED).map(({ tool, seq }) => `${tool} (call ${seq})`);
  const answered = (await readProgress(row.id, kept))?.answered ?? new Set();
  const made = killed.shop.received.filter(
    (request) => request.split(" ")[1] === String(row.seed) && isUnrepeatable(request),
  );
  const lost = made.filter((request) => !answered.has(digestOfRequest(request)));
  const isKnown = (request: string): boolean => {
    const isOfTool = (one: string): boolean => one.split(" ")[0] === request.split(" ")[0];
    const known = calls.filter(({ tool, outcome }) => isOfTool(tool.replace("shop.", "")) && outcome === "ok");
    return known.length === made.filter(isOfTool).length;
  };
  const open = lost.filter((request) => !isKnown(request));
  const unnamed = open.filter((request) => !unknown.some(({ tool }) => `shop.${request}`.startsWith(`${tool} `)));
  return [
    ...(killed.interrupted.has(row.id) ? [] : ["no kill met it"]),
    ...(open.length < lost.length || unknown.some(({ tool }) => isUnrepeatable(tool.replace("shop.", "").concat(" ")))
      ? []
      : [`it ended: ${error?.message}`]),
    ...names.filter((name) => !error?.message.includes(name)).map((name) => `${name} is not named`),
    ...(open.length > unknown.length ? [`${open.length} calls came, ${unknown.length} are named`] : []),
    ...unnamed.map((request) => `${request} came and is not named`),
  ];
}

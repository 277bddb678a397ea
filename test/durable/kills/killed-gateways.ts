/**
 * Gateways that run the same programs on the same store one after the other, each killed at some moment, until every
 * program has ended. The shop and the approver outlive them.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import type { Client } from "@modelcontextprotocol/client";

import { parseSettings } from "../../../src/config/index.ts";
import type { Settings } from "../../../src/config/index.ts";
import { openQueue } from "../../../src/open-records.ts";
import { OPERATOR } from "../../fixtures/durable-gateway.ts";
import { startGateway } from "./gateway-process.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import { createStepLog } from "./program-steps.ts";
import type { StepLog } from "./program-steps.ts";
import { countStates, isOver, openStoreRecords, readResult, readRows } from "./read-records.ts";
import type { ExecutionRow } from "./read-records.ts";
import { makeKillProgram } from "./kill-programs.ts";
import { openMcpShopServer } from "./mcp-shop-server.ts";
import type { McpShopServer } from "./mcp-shop-server.ts";

/** What a kill is counted by: it happens at the n-th of these since the start of the gateway. */
export const MOMENTS = [
  "before commit",
  "after commit",
  "request",
  "answer",
  "asked",
  "decided",
  "millisecond",
] as const;

export interface Kill {
  readonly moment: (typeof MOMENTS)[number];
  readonly at: number;
}

export interface GatewayRun {
  /** False if every program had ended before the moment came. */
  readonly wasKilled: boolean;
  readonly wrong: readonly string[];
}

const PATIENCE_MS = 200_000;
/** A busy machine ends no program. */
const PATIENT_LIMITS = { wallMs: 600_000, cpuMs: 300_000, callMs: 600_000 };
/** The polling interval. */
const LOOK_MS = 50;

export interface KilledGateways extends AsyncDisposable, Pick<StepLog, "interrupted" | "steps"> {
  readonly settings: Settings;
  readonly shop: McpShopServer;
  /** The execution ids that clients received, by program. */
  readonly returnedIds: ReadonlyMap<number, ReadonlySet<string>>;
  /**
   * Runs one gateway that receives these programs and recovers all earlier ones, until it is killed, or has ended all
   * of them and is killed then.
   */
  runGateway(fresh: readonly number[], kill?: Kill): Promise<GatewayRun>;
}

export async function openKilledGateways(): Promise<KilledGateways> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-kills-"));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const counts = createCounts();
  const ears = { onRequest: () => counts.add("request"), onAnswer: () => counts.add("answer") };
  const shop = stack.use(await openMcpShopServer(ears));
  const config = {
    mcpServers: { shop: { url: shop.url } },
    analysis: { types: "off" },
    approvals: { graceMs: 20 },
    clients: { patienceMs: 200 },
    policy: { flows: "allow", rules: [{ id: "people", decision: "ask", tools: ["shop.pay", "shop.peek"] }] },
    quotas: { executionsPerMinute: 0, executionMsPerHour: 0 },
    sandbox: { concurrency: 6, queue: 1_000, limits: PATIENT_LIMITS },
    store: { url: "sqlite:ledger.db" },
  };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  const settings = parseSettings(config, { folder }, {});
  const place = { seeds: [] as number[], folder, settings, shop, counts, told: new Map<number, Set<string>>() };
  const history = createStepLog(place);
  return {
    settings,
    shop,
    returnedIds: place.told,
    interrupted: history.interrupted,
    steps: history.steps,
    async runGateway(fresh, kill) {
      place.seeds.push(...fresh);
      const { wasKilled: isCut, wrong } = await runUntilKilled(place, kill);
      return { wasKilled: isCut, wrong: [...wrong, ...(await history.check())] };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface RunState {
  readonly seeds: readonly number[];
  readonly folder: string;
  readonly settings: Settings;
  readonly shop: McpShopServer;
  readonly counts: ReturnType<typeof createCounts>;
  readonly told: Map<number, Set<string>>;
}

/** Counts events during one gateway, and calls `act` at the n-th. */
function createCounts() {
  let due: { readonly moment: string; left: number; readonly act: () => void } | undefined;
  return {
    await: (moment: string, at: number, act: () => void): void => void (due = { moment, left: at, act }),
    add(moment: string): void {
      if (due?.moment !== moment) return;
      due.left -= 1;
      if (due.left === 0) due.act();
    },
    forget: (): void => void (due = undefined),
  };
}

function isAllOver({ seeds, settings }: RunState): boolean {
  const states = countStates(settings);
  return (states.get("completed") ?? 0) + (states.get("failed") ?? 0) >= seeds.length;
}

/** Every program is stored, and those that have not ended wait for approval. */
function isAllWaiting({ seeds, settings }: RunState): boolean {
  const states = countStates(settings);
  const count = [...states.values()].reduce((sum, one) => sum + one, 0);
  return count >= seeds.length && !states.has("running");
}

async function runUntilKilled(place: RunState, kill: Kill | undefined): Promise<GatewayRun> {
  const { counts, folder } = place;
  const [side, unit] = kill?.moment.split(" ") ?? [];
  const gateway = startGateway(folder, unit === "commit" ? { DIE_AT: `${side} ${kill?.at}` } : {});
  if (kill) counts.await(kill.moment, kill.at, gateway.kill);
  const stop = new AbortController();
  const isSilent = kill?.moment === "asked";
  const answering = approveAll(place, { isSilent, stop: stop.signal });
  try {
    const client = await gateway.ready;
    if (kill?.moment === "millisecond") setTimeout(gateway.kill, kill.at);
    if (client) submitAll(place, client);
    const isCut = await untilOver(place, gateway, isSilent ? isAllWaiting : isAllOver);
    const wrong = client && !isCut ? await findWrongResults(place, client) : [];
    void client?.close().catch(() => undefined);
    return { wasKilled: isCut, wrong };
  } finally {
    counts.forget();
    stop.abort();
    gateway.kill();
    await Promise.all([gateway.died, answering]);
  }
}

async function untilOver(
  place: RunState,
  gateway: GatewayProcess,
  isEnough: (place: RunState) => boolean,
): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  while (gateway.isAlive() && !isEnough(place)) {
    if (performance.now() > deadline) throw new Error(`Programs do not end: ${describe(readRows(place.settings))}`);
    await Promise.race([wait(LOOK_MS), gateway.died]);
  }
  return !gateway.isAlive();
}

function describe(rows: readonly ExecutionRow[]): string {
  const left = rows.filter((row) => !isOver(row));
  return left.map(({ seed, id, state, errorCode }) => `${seed} ${id} ${state} ${errorCode ?? ""}`).join("\n");
}

/** Programs with a key are sent again if they have no result; others only if they are not in the store. */
function submitAll({ seeds, settings, told }: RunState, client: Client): void {
  const rows = new Map(readRows(settings).map((row) => [row.seed, row]));
  for (const seed of seeds) {
    const row = rows.get(seed);
    const isKeyed = seed % 8 < 4;
    if (row && (!isKeyed || isOver(row))) continue;
    const args = { code: makeKillProgram(seed), ...(isKeyed && { idempotencyKey: `program ${seed}` }) };
    void client.callTool({ name: "execute", arguments: args }).then(
      ({ structuredContent }) => {
        const { execution } = structuredContent as { readonly execution: string };
        told.set(seed, (told.get(seed) ?? new Set()).add(execution));
      },
      () => undefined, // its gateway was killed
    );
  }
}

/** Checks that any later gateway returns the result of every execution whose id a client received. */
async function findWrongResults({ settings, told }: RunState, client: Client): Promise<readonly string[]> {
  const rows = new Map(readRows(settings).map((row) => [row.id as string, row]));
  await using kept = await openStoreRecords(settings);
  const look = async (id: string): Promise<readonly string[]> => {
    const { structuredContent } = await client.callTool({ name: "resume", arguments: { execution: id } });
    const { state, value } = structuredContent as { readonly state: string; readonly value?: unknown };
    const row = rows.get(id);
    const stored = row && (await readResult(row.id, kept));
    const isSame = state === row?.state && JSON.stringify(value) === JSON.stringify(stored?.value);
    return isSame ? [] : [`a client hears ${state} of ${id}, which is ${row?.state}`];
  };
  return (await Promise.all([...told.values()].flatMap((ids) => [...ids]).map(look))).flat();
}

interface ApproverOptions {
  /** True if nothing is approved during this gateway. */
  readonly isSilent: boolean;
  readonly stop: AbortSignal;
}

/** Approves everything from another process until it is stopped. */
async function approveAll({ settings, counts }: RunState, { isSilent, stop }: ApproverOptions): Promise<void> {
  await using kept = await openStoreRecords(settings);
  await using approvals = await openQueue(settings, kept);
  const seen = new Set<string>();
  while (!stop.aborted) {
    for (const { id } of await approvals.list({ isPending: true, limit: 200 })) {
      if (seen.size < seen.add(id).size) counts.add("asked");
      if (isSilent) continue;
      await approvals.decide(id, { verdict: "approve" }, OPERATOR).catch(() => undefined);
      counts.add("decided");
    }
    await wait(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

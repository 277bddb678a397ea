/**
 * Executions of every kind, recorded in a whole gateway on each engine and replayed on all of them: they return the
 * same bytes, or differ for the reason that is stated beside the program. `npm run replay:scenarios` does the same with
 * all executions of the scenario tests.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";

import type { EngineName, ExecutionView } from "../../src/domain/index.ts";
import { ENGINES } from "../../src/sandbox/fixtures/engines.ts";
import type { Gateway } from "../../src/surfaces/index.ts";
import { AGENT, OPERATOR, openDurableGateways, waitForState } from "../fixtures/durable-gateway.ts";
import type { DurableGateways } from "../fixtures/durable-gateway.ts";
import { STARTS_FILE, STORES_FOLDER } from "../fixtures/passing-store.ts";
import { SAMPLES } from "./sample-programs.ts";
import type { Sample } from "./sample-programs.ts";
import { readStore } from "./read-stores.ts";
import type { StoredExecution } from "./read-stores.ts";
import { openReplayer } from "./replay-recordings.ts";

const replayer = openReplayer();
after(() => replayer[Symbol.asyncDispose]());

/** Runs a sample to its end, including approvals. Returns the id of the execution. */
async function record(durable: DurableGateways, gateway: Gateway, sample: Sample): Promise<string> {
  const abort = new AbortController();
  const { code, input, limits, dryRun, isRejected = false, isCancelled = false, ending } = sample;
  const started = await gateway.execute({
    principal: AGENT,
    source: code,
    ...(input !== undefined && { input }),
    ...(limits && { limits }),
    ...(dryRun !== undefined && { dryRun }),
    signal: abort.signal,
    onEvent: ({ kind }) => void (isCancelled && kind === "called" && abort.abort()),
  });
  let view: ExecutionView = started;
  while (view.state === "paused") {
    const approvals = await durable.openApprovals();
    for (const { id } of await approvals.list({ isPending: true }))
      await approvals.decide(id, { verdict: isRejected ? "reject" : "approve" }, OPERATOR);
    view = await waitForState(gateway, started.execution, "completed", "failed");
  }
  assert.equal(view.error?.code ?? view.state, ending, `${code}: ${view.error?.message}`);
  return started.execution;
}

/** Records all samples in one store, which is read after its gateway has ended. */
async function recordAll(engine: EngineName): Promise<ReadonlyMap<string, StoredExecution>> {
  const config = { approvals: { graceMs: 10 }, analysis: { types: "off" }, sandbox: { engine } };
  await using durable = await openDurableGateways({ config });
  const gateway = await durable.open();
  const ids = new Map<string, string>();
  for (const [name, sample] of Object.entries(SAMPLES)) ids.set(name, await record(durable, gateway, sample));
  await gateway.close();
  const found = await readStore(durable.settings.store.path, durable.folder);
  const find = (id: string): StoredExecution =>
    found.find((one) => one.id === id) ?? assert.fail(`${id} is not in the store`);
  return new Map([...ids].map(([name, id]) => [name, find(id)]));
}

async function outcomeOn(engine: EngineName, found: StoredExecution): Promise<string> {
  if (found.kind === "unkept") return found.reason;
  if (found.kind === "broken") return found.what;
  const shown = await replayer.replay(found, engine);
  if (shown.kind === "same") return "the same";
  return shown.kind === "explained" ? shown.reason : shown.what;
}

for (const recordedOn of ENGINES) {
  test(`an execution recorded on ${recordedOn} replays the same on every engine, or differs for its stated reason`, async () => {
    const all = await recordAll(recordedOn);
    const compare = async (shownOn: EngineName): Promise<void> => {
      const outcomes = new Map<string, string>();
      for (const [name, found] of all) outcomes.set(name, await outcomeOn(shownOn, found));
      const expected = Object.entries(SAMPLES).map(
        ([name, { reason }]) => [name, reason?.(recordedOn, shownOn) ?? "the same"] as const,
      );
      assert.deepEqual(Object.fromEntries(outcomes), Object.fromEntries(expected), `shown on ${shownOn}`);
    };
    await Promise.all(ENGINES.map(compare));
  });
}

/**
 * Like a test: makes a folder and removes it, starts a gateway with a variable, and has a store that it does not
 * inspect.
 */
const TEST = `
  import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { recordStart, passingStore } from ${JSON.stringify(resolve("test/fixtures/passing-store.ts"))};
  const folder = mkdtempSync(join(tmpdir(), "glovebox-"));
  writeFileSync(join(folder, "glovebox.db"), "");
  writeFileSync(join(folder, "other"), "");
  rmSync(join(folder, "other"), { recursive: true });
  recordStart(folder, { KEY: "value" });
  rmSync(folder, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  console.log(JSON.stringify([folder, passingStore().url]));`;

async function runTest(environment: Readonly<Record<string, string>>): Promise<readonly [string, string]> {
  const preload = `--import=${resolve("test/replays/keep-stores.ts")}`;
  const args = [preload, "--input-type=module", "--eval", TEST];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...environment } });
  return JSON.parse(stdout) as [string, string];
}

test("folders that a test removes are kept only if the variable for kept stores is set", async (context) => {
  const kept = mkdtempSync(join(tmpdir(), "glovebox-kept-"));
  context.after(() => rmSync(kept, { recursive: true, force: true, maxRetries: 10 }));
  const [gone, inMemory] = await runTest({});
  assert.deepEqual([existsSync(gone), inMemory, readdirSync(kept)], [false, "sqlite::memory:", []]);
  const [moved, url] = await runTest({ [STORES_FOLDER]: kept });
  const name = moved.slice(tmpdir().length + 1);
  assert.equal(existsSync(moved), false);
  assert.deepEqual(
    readdirSync(kept, { recursive: true }).filter((path) => /glovebox\.db$|other$/.test(String(path))).length,
    1,
  );
  assert.ok(url.startsWith(`sqlite:${kept}/`), url);
  const [start] = readFileSync(join(kept, STARTS_FILE), "utf8").trim().split("\n");
  assert.deepEqual(JSON.parse(start ?? ""), { folder: name, environment: { KEY: "value" } });
});

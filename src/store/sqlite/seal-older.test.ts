/** Stores of older versions, with results in clear, are sealed step by step and keep no former value in any file. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { parsePrincipalId, parseResultId } from "../../domain/index.ts";
import { sampleOpening } from "../fixtures/sample-opening.ts";
import { SAMPLE_SEAL, openUnlockedStore } from "../fixtures/sample-seal.ts";
import type { Store } from "../store.ts";

import { openStore } from "./open-store.ts";

const now = (): number => 1_000;
const ANY_BYTES = Number.MAX_SAFE_INTEGER;
const OLD_STORE = "test/fixtures/old-store/store/glovebox.db";
/** In every result that the earlier version stored, and in nothing else. */
const OLD_RESULT = "peakMemoryBytes";
const OLD_KEPT = 'of a result that is too large"},{';

function makePath(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-seal-"));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return join(folder, "glovebox.db");
}

/** How often the files of a store contain a text. */
function countText(path: string, text: string): number {
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  return files.reduce((sum, file) => sum + readFileSync(file, "latin1").split(text).length - 1, 0);
}

/** Stores executions as an older version did: in clear. */
async function writeClear(path: string, count: number, value: (n: number) => string): Promise<void> {
  await using store = await openUnlockedStore({ path, now });
  for (let n = 1; n <= count; n++) {
    await store.executions.open(sampleOpening(n));
    await store.executions.close(sampleOpening(n).id, { endedAt: n, state: "completed", result: "" });
  }
  using database = new DatabaseSync(path);
  const update = database.prepare("UPDATE executions SET result = ?, sealed_result = NULL WHERE id = ?");
  database.exec("BEGIN");
  for (let n = 1; n <= count; n++) update.run(value(n), sampleOpening(n).id);
  database.exec("COMMIT");
}

function countClear(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  return Number(database.prepare("SELECT count(*) AS clear FROM executions WHERE result IS NOT NULL").get()?.["clear"]);
}

async function sealAll(store: Store): Promise<number> {
  for (let steps = 1; ; steps++) if ((await store.sealOlder(ANY_BYTES)) === "nothing") return steps;
}

describe("a store of an earlier version", () => {
  test("contains no value in clear after it was sealed, and returns every value as before", async (context) => {
    const path = makePath(context);
    copyFileSync(OLD_STORE, path);
    assert.ok(countText(path, OLD_RESULT) > 0 && countText(path, OLD_KEPT) > 0);
    await using store = await openUnlockedStore({ path, now });
    const executions = await store.executions.list({ limit: 100 });
    const readAll = () => Promise.all(executions.map(({ id }) => store.executions.find(id)));
    const view = { principal: parsePrincipalId("local") ?? assert.fail(), now: 0 };
    const handle = parseResultId("rs_76cf1697b5781e14423ec345") ?? assert.fail();
    const [before, kept] = [await readAll(), await store.results.find(handle, view)];
    assert.ok(kept && kept.shape !== "");
    await sealAll(store);
    assert.deepEqual([countText(path, OLD_RESULT), countText(path, OLD_KEPT), countText(path, kept.shape)], [0, 0, 0]);
    assert.deepEqual(await readAll(), before);
    const after = await store.results.find(handle, view);
    assert.deepEqual({ ...after, body: Buffer.from(after?.body ?? []) }, { ...kept, body: Buffer.from(kept.body) });
    assert.equal((await store.results.findSummary(handle, view))?.shape, kept.shape);
  });

  test("loses values that were deleted before and remain in unused space of the file", async (context) => {
    const path = makePath(context);
    await writeClear(path, 60, (n) => `deleted-value-${n} `.repeat(30));
    await using store = await openUnlockedStore({ path, now });
    await store.executions.drop({ endedBefore: 60, totalBytes: ANY_BYTES });
    assert.ok(countText(path, "deleted-value-7 ") > 0, "SQLite does not overwrite what is deleted");
    await sealAll(store);
    assert.equal(countText(path, "deleted-value-"), 0);
    assert.match((await store.executions.find(sampleOpening(60).id))?.ending?.result ?? "", /^deleted-value-60 /);
  });
});

describe("sealing step by step", () => {
  test("a step seals 64 small results and no more", async (context) => {
    const path = makePath(context);
    await writeClear(path, 130, (n) => `value ${n}`);
    await using store = await openUnlockedStore({ path, now });
    const left: number[] = [];
    while ((await store.sealOlder(ANY_BYTES)) === "results") left.push(countClear(path));
    assert.deepEqual(left, [66, 2, 0]);
  });

  test("a step ends with the result that reaches 128 KiB", async (context) => {
    const path = makePath(context);
    const sizes = [64 * 1024, 64 * 1024 - 1, 1, 128 * 1024, 200 * 1024, 5];
    await writeClear(path, sizes.length, (n) => "x".repeat(sizes[n - 1] ?? 0));
    await using store = await openUnlockedStore({ path, now });
    const left: number[] = [];
    while ((await store.sealOlder(ANY_BYTES)) === "results") left.push(countClear(path));
    assert.deepEqual(left, [3, 2, 1, 0]);
  });

  test("another process continues after a kill at any step, and the file is clean then, too", async (context) => {
    const path = makePath(context);
    await writeClear(path, 130, (n) => `killed-value-${n}`);
    await using store = await openUnlockedStore({ path, now });
    for (let step = 0, left = ""; left !== "nothing"; step++) {
      // The files at this moment are what a killed process leaves.
      const copy = makePath(context);
      for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${copy}${end}`);
      await using next = await openUnlockedStore({ path: copy, now });
      await sealAll(next);
      assert.equal(countText(copy, "killed-value"), 0, `after ${step} steps`);
      const found = await next.executions.find(sampleOpening(99).id);
      assert.equal(found?.ending?.result, "killed-value-99");
      left = await store.sealOlder(ANY_BYTES);
    }
  });

  test("a process that is killed during its second step leaves the first, and the next one continues", async (context) => {
    const path = makePath(context);
    await writeClear(path, 130, (n) => `ended-value-${n}`);
    const code = `
      import { SAMPLE_SEAL, openUnlockedStore } from "./src/store/fixtures/sample-seal.ts";
      const store = await openUnlockedStore({ path: ${JSON.stringify(path)}, now: () => 1000 });
      await store.sealOlder(0);
      let sealed = 0;
      const close = (...args) => (sealed++ === 9 ? process.kill(process.pid, "SIGKILL") : SAMPLE_SEAL.close(...args));
      store.unlock({ ...SAMPLE_SEAL, close });
      await store.sealOlder(0);`;
    const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    assert.equal(signal, "SIGKILL", stderr);
    assert.equal(countClear(path), 66);
    await using store = await openUnlockedStore({ path, now });
    await sealAll(store);
    assert.equal(countText(path, "ended-value"), 0);
    assert.equal((await store.executions.find(sampleOpening(70).id))?.ending?.result, "ended-value-70");
  });

  test("two processes seal a store together, and each result once", async (context) => {
    const path = makePath(context);
    await writeClear(path, 300, (n) => `shared-value-${n}`);
    await using first = await openUnlockedStore({ path, now });
    await using second = await openUnlockedStore({ path, now });
    await Promise.all([sealAll(first), sealAll(second)]);
    assert.equal(countText(path, "shared-value"), 0);
    assert.equal((await second.executions.find(sampleOpening(300).id))?.ending?.result, "shared-value-300");
  });

  test("a file above the limit is sealed and not rebuilt until a larger limit is given", async (context) => {
    const path = makePath(context);
    await writeClear(path, 3, (n) => `large-file-${n}`);
    await using store = await openUnlockedStore({ path, now });
    assert.equal(await store.sealOlder(0), "results");
    using database = new DatabaseSync(path, { readOnly: true });
    const size = Number(database.prepare("PRAGMA page_count").get()?.["page_count"]) * 4096;
    assert.equal(await store.sealOlder(size - 1), "file");
    assert.equal(await store.sealOlder(size), "nothing");
    assert.equal(await store.sealOlder(0), "nothing", "it is done once");
  });
});

describe("the seal of a store", () => {
  test("a new store has nothing to seal and its results are in no file in clear", async (context) => {
    const path = makePath(context);
    await using store = await openUnlockedStore({ path, now });
    await store.executions.open(sampleOpening(1));
    const ending = { endedAt: 1, state: "completed", result: "new-value" } as const;
    await store.executions.close(sampleOpening(1).id, ending);
    assert.equal(await store.sealOlder(ANY_BYTES), "nothing");
    assert.ok(countText(path, sampleOpening(1).id) > 0);
    assert.equal(countText(path, "new-value"), 0);
    assert.deepEqual((await store.executions.find(sampleOpening(1).id))?.ending, ending);
  });

  test("a locked store refuses to read and write results, and returns the rest", async (context) => {
    const path = makePath(context);
    await using store = await openStore({ path, now });
    const { id } = sampleOpening(1);
    await store.executions.open(sampleOpening(1));
    const ending = { endedAt: 1, state: "completed", result: "{}" } as const;
    await assert.rejects(store.executions.close(id, ending), { code: "STORE_UNAVAILABLE" });
    store.unlock(SAMPLE_SEAL);
    await store.executions.close(id, ending);
    await using locked = await openStore({ path, now });
    await assert.rejects(locked.executions.find(id), { code: "STORE_UNAVAILABLE" });
    const { result: _, ...outcome } = ending;
    assert.deepEqual(await locked.executions.findHead(id), { ...sampleOpening(1), ending: outcome });
  });

  test("a sealed result does not open in the row of another execution", async (context) => {
    const path = makePath(context);
    await using store = await openUnlockedStore({ path, now });
    for (const n of [1, 2]) {
      await store.executions.open(sampleOpening(n));
      await store.executions.close(sampleOpening(n).id, { endedAt: 1, state: "completed", result: `result ${n}` });
    }
    using database = new DatabaseSync(path);
    database.exec("UPDATE executions SET sealed_result = (SELECT sealed_result FROM executions ORDER BY id LIMIT 1)");
    assert.equal((await store.executions.find(sampleOpening(1).id))?.ending?.result, "result 1");
    await assert.rejects(store.executions.find(sampleOpening(2).id));
  });
});

/** Results that are stored in parts: what a kill, a full disk and a change of the file leave of them. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { parseExecutionId, parsePrincipalId, parseResultId } from "../../../domain/index.ts";
import { openUnlockedStore } from "../../fixtures/sample-seal.ts";
import type { StoredResult } from "../../store.ts";

const now = (): number => 1_000;
const ADA = parsePrincipalId("ada") ?? assert.fail();
const VIEW = { principal: ADA, now: 5 };
const TOTAL = 10_000_000;
/** Three parts. */
const BYTES = 600_000;

function sample(n: number, bytes = BYTES): StoredResult {
  return {
    id: parseResultId(`rs_${n.toString(16).padStart(24, "0")}`) ?? assert.fail(),
    principal: ADA,
    execution: parseExecutionId(`ex_${"0".repeat(24)}`) ?? assert.fail(),
    mimeType: "application/json",
    bytes,
    shape: "string",
    labels: [],
    body: Buffer.alloc(bytes, `value ${n} `),
    createdAt: n,
    expiresAt: 1_000 + n,
  };
}

async function openBoth(context: TestContext, maxPages?: number) {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-results-"));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const path = join(folder, "glovebox.db");
  const store = await openUnlockedStore({ path, now, ...(maxPages !== undefined && { maxPages }) });
  const database = new DatabaseSync(path);
  context.after(() => {
    database.close();
    return store[Symbol.asyncDispose]();
  });
  const count = (table: string): number => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  return { results: store.results, database, count };
}

test("the parts of a result go with it: when it expires, and when newer ones need its space", async (context) => {
  const { results, count } = await openBoth(context);
  await results.put(sample(1), TOTAL);
  await results.put(sample(2, 10), TOTAL);
  assert.deepEqual([count("results"), count("result_parts")], [2, 3]);
  await results.put(sample(3), BYTES + 10);
  assert.deepEqual([count("results"), count("result_parts")], [2, 3]);
  assert.equal(await results.find(sample(1).id, VIEW), undefined);
  await results.expire(2_000);
  assert.deepEqual([count("results"), count("result_parts")], [0, 0]);
});

test("a result whose last part was not written is not found, and the others are", async (context) => {
  const { results, database } = await openBoth(context);
  await results.put(sample(1), TOTAL);
  await results.put(sample(2), TOTAL);
  database.exec(`DELETE FROM result_parts WHERE result = '${sample(1).id}' AND part = 2`);
  assert.equal(await results.find(sample(1).id, VIEW), undefined);
  assert.equal((await results.find(sample(2).id, VIEW))?.bytes, BYTES);
});

test("a part that was moved to another place does not open", async (context) => {
  const { results, database } = await openBoth(context);
  await results.put(sample(1), TOTAL);
  database.exec("UPDATE result_parts SET part = 9 WHERE part = 0");
  database.exec("UPDATE result_parts SET part = 0 WHERE part = 1");
  await assert.rejects(results.find(sample(1).id, VIEW));
});

test("a result that does not fit on the disk leaves nothing, and a smaller one is stored", async (context) => {
  const { results, count } = await openBoth(context, 400);
  await assert.rejects(results.put(sample(1, 3_000_000), TOTAL), { code: "STORE_UNAVAILABLE" });
  assert.deepEqual([count("results"), count("result_parts")], [0, 0]);
  await results.put(sample(2), TOTAL);
  assert.equal((await results.find(sample(2).id, VIEW))?.bytes, BYTES);
});

/** The ledger in the whole product: an unavailable store stops everything, and what upstreams do is recorded. */

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { createSigner, openReader } from "../../../src/ledger/index.ts";
import type { LedgerReader } from "../../../src/ledger/index.ts";
import { createGlovebox } from "../../../src/main.ts";
import type { Glovebox } from "../../../src/main.ts";
import { openStore } from "../../../src/store/index.ts";
import { probeWith } from "../../fixtures/observe-settings.ts";

interface Place {
  readonly path: string;
  readonly changes: () => number;
  open(): Promise<Glovebox>;
  read<Value>(look: (reader: LedgerReader) => Promise<Value>): Promise<Value>;
}

function makePlace(context: TestContext, ...flags: readonly string[]): Place {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-"));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const [path, log] = [join(folder, "ledger.db"), join(folder, "changes.log")];
  const mcpServers = { probe: probeWith("--log", log, ...flags) };
  return {
    path,
    changes: () => (existsSync(log) ? readFileSync(log, "utf8").length / "changed\n".length : 0),
    open: () => createGlovebox({ mcpServers, analysis: { types: "off" }, store: { url: `sqlite:${path}` } }),
    async read(look) {
      await using store = await openStore({ path, now: Date.now });
      const seed = Buffer.from(readFileSync(join(folder, "ledger.key"), "utf8").trim(), "hex");
      return await look(openReader({ store, signer: createSigner(seed), headFile: `${path}.head`, now: Date.now }));
    },
  };
}

const CHANGE = { code: "await probe.change({}); return 1" };
const UNAVAILABLE = { code: "STORE_UNAVAILABLE" };

test("while the store is unavailable nothing is executed, and work continues automatically when it is back", async (context) => {
  const place = makePlace(context);
  {
    await using glovebox = await place.open();
    assert.equal((await glovebox.execute(CHANGE)).value, 1);
    renameSync(place.path, `${place.path}.away`);
    for (let turn = 0; turn < 3; turn += 1) await assert.rejects(glovebox.execute(CHANGE), UNAVAILABLE);
    assert.equal(place.changes(), 1);
    renameSync(`${place.path}.away`, place.path);
    assert.equal((await glovebox.execute(CHANGE)).value, 1);
    assert.equal(place.changes(), 2);
  }
  assert.equal((await place.read((reader) => reader.verify())).ok, true);
});

test("while another process locks the store a change waits, and is made once the lock is released", async (context) => {
  const place = makePlace(context);
  {
    await using glovebox = await place.open();
    await glovebox.execute(CHANGE);
    const other = new DatabaseSync(place.path);
    other.exec("BEGIN IMMEDIATE");
    const waiting = glovebox.execute(CHANGE);
    await wait(300);
    assert.equal(place.changes(), 1);
    other.close();
    assert.equal((await waiting).value, 1);
    assert.equal(place.changes(), 2);
  }
  assert.equal((await place.read((reader) => reader.verify())).ok, true);
});

test("deleting the store of a running gateway stops everything, and the next start reports missing records", async (context) => {
  const place = makePlace(context);
  {
    await using glovebox = await place.open();
    await glovebox.execute(CHANGE);
    for (let isSigned = false; !isSigned; await wait(50)) {
      const verdict = await place.read((reader) => reader.verify());
      isSigned = verdict.ok && verdict.signed === verdict.records;
    }
    for (const file of ["", "-wal", "-shm"]) rmSync(place.path + file, { force: true });
    await assert.rejects(glovebox.execute(CHANGE), UNAVAILABLE);
    assert.equal(place.changes(), 1);
  }
  await using glovebox = await place.open();
  assert.equal((await glovebox.execute(CHANGE)).value, 1);
  const verdict = await place.read((reader) => reader.verify());
  assert.deepEqual([verdict.ok, verdict.ok ? "" : verdict.problem.split(":")[0]], [false, "noted by the gateway"]);
});

test("the ledger records an upstream that becomes ready and one that crashes, with the cause", async (context) => {
  for (const [flags, expected] of [
    [[], ["upstream.connected", undefined]],
    [["--crash"], ["upstream.failed", /exit|code 3|cannot find the database/]],
  ] as const) {
    const place = makePlace(context, ...flags);
    {
      await using glovebox = await place.open();
      await glovebox.search({});
    }
    const [found] = await place.read((reader) => reader.search({ limit: 1, action: expected[0] }));
    assert.deepEqual([found?.["actor"], found?.["subject"]], ["gateway", "probe"]);
    if (expected[1]) assert.match(JSON.stringify(found?.["detail"]), expected[1]);
  }
});

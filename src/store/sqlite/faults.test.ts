/** Faults of the SQLite store: a full disk, a lock, a deleted file, two writers, a killed writer. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { after, describe, test } from "node:test";

import { GloveboxError, parseSecretName } from "../../domain/index.ts";
import { sampleRecord } from "../store.conformance.ts";
import type { SecretRow } from "../store.ts";

import { openStore } from "./open-store.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-faults-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);
const now = (): number => 7;
const PAGE_BYTES = 4096;
/** Enough pages for two large secrets, but not for three. */
const ROOM_PAGES = 21;
const UNAVAILABLE = { code: "STORE_UNAVAILABLE" };

function bigSecret(name: string): SecretRow {
  const parsed = parseSecretName(name);
  assert.ok(parsed);
  const none = new Uint8Array();
  return {
    name: parsed,
    version: 1,
    wrappedKey: none,
    nonce: none,
    ciphertext: new Uint8Array(40_000),
    createdAt: 1,
  };
}

/** Holds the write lock of a file until it is released. */
function lock(path: string): () => void {
  const database = new DatabaseSync(path);
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

/** A process that appends records and prints each number once the write has resolved. */
function startWriter(path: string, count: number): ChildProcessByStdio<null, Readable, null> {
  const script = `
    import { openStore } from ${JSON.stringify(new URL("open-store.ts", import.meta.url).href)};
    const store = await openStore({ path: ${JSON.stringify(path)}, now: Date.now });
    for (let done = 0; done < ${count}; ) {
      const seq = ((await store.ledger.last())?.seq ?? 0) + 1;
      const record = { seq, at: 1, actor: String(process.pid), action: "a", subject: "s", detail: "{}", previous: "", digest: "" };
      if ((await store.ledger.append([record])) === "taken") continue;
      process.stdout.write(seq + "\\n");
      done += 1;
    }
    await store.close();
  `;
  const args = ["--input-type=module", "--eval", script];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

async function acknowledged(
  writer: ChildProcessByStdio<null, Readable, null>,
  killAfter = Infinity,
): Promise<number[]> {
  const numbers: number[] = [];
  for await (const line of createInterface({ input: writer.stdout })) {
    numbers.push(Number(line));
    if (numbers.length === killAfter) writer.kill("SIGKILL");
  }
  return numbers;
}

describe("the store on a full disk", () => {
  test("rejects the write with a remedy, keeps the rest, and works again once there is space", async () => {
    const path = newPath();
    await (await openStore({ path, now })).close();
    await using store = await openStore({ path, now, maxPages: statSync(path).size / PAGE_BYTES + ROOM_PAGES });
    await store.secrets.claimKey("k");
    await store.secrets.put(bigSecret("A"), "k");
    await store.secrets.put(bigSecret("B"), "k");
    const full: unknown = await store.secrets.put(bigSecret("C"), "k").catch((error: unknown) => error);
    assert.ok(full instanceof GloveboxError);
    assert.deepEqual(
      [full.code, full.message, full.details.hint],
      ["STORE_UNAVAILABLE", `The disk is full: ${path} cannot grow`, "Free some space; no restart is needed"],
    );
    await assert.rejects(store.ledger.append([{ ...sampleRecord(1), detail: "x".repeat(90_000) }]), UNAVAILABLE);
    assert.deepEqual(await store.secrets.list(), [bigSecret("A"), bigSecret("B")]);
    assert.equal(await store.ledger.last(), undefined);
    await store.secrets.remove(bigSecret("A").name);
    await store.secrets.put(bigSecret("C"), "k");
    assert.equal(await store.ledger.append([sampleRecord(1)]), "appended");
  });
});

describe("check of the store", () => {
  test("rejects while the file cannot grow or is gone, resolves otherwise, and leaves nothing", async () => {
    const path = newPath();
    await (await openStore({ path, now })).close();
    await using store = await openStore({ path, now, maxPages: statSync(path).size / PAGE_BYTES + ROOM_PAGES });
    await store.secrets.claimKey("k");
    await store.check();
    assert.equal(await store.meta.get("check"), undefined);
    for (const name of ["A", "B"]) await store.secrets.put(bigSecret(name), "k");
    const fill = (page: number): Promise<void> =>
      store.meta.set(`page${page}`, "x".repeat(PAGE_BYTES)).then(() => fill(page + 1));
    await assert.rejects(fill(1), UNAVAILABLE);
    await assert.rejects(store.check(), { ...UNAVAILABLE, message: /^The disk is full/ });
    await store.secrets.remove(bigSecret("A").name);
    await store.check();
    rmSync(path);
    await assert.rejects(store.check(), { ...UNAVAILABLE, message: /^The store was deleted or replaced/ });
  });
});

describe("the store with a lock of another process", () => {
  test("rejects after busyMs and works again once the lock is gone", async () => {
    const path = newPath();
    await using store = await openStore({ path, now, busyMs: 60 });
    const release = lock(path);
    await assert.rejects(store.meta.set("a", "1"), { ...UNAVAILABLE, message: /^The store is locked/ });
    assert.equal(await store.meta.get("a"), undefined);
    release();
    await store.meta.set("a", "1");
    assert.equal(await store.meta.get("a"), "1");
  });

  test("waits for the lock without blocking the event loop", async () => {
    const path = newPath();
    await using store = await openStore({ path, now, busyMs: 5_000 });
    const release = lock(path);
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
      if (ticks === 5) release();
    }, 5);
    await store.meta.set("a", "1").finally(() => clearInterval(ticking));
    assert.ok(ticks >= 5);
  });

  test("rejects opening with a clear message", async () => {
    const path = newPath();
    await (await openStore({ path, now })).close();
    const release = lock(path);
    await assert.rejects(openStore({ path, now, busyMs: 30 }), { ...UNAVAILABLE, message: /^The store is locked/ });
    release();
    await (await openStore({ path, now, busyMs: 30 })).close();
  });
});

describe("the store with a deleted file", () => {
  test("rejects writes until the file is back", async () => {
    const path = newPath();
    await using store = await openStore({ path, now });
    await store.meta.set("a", "1");
    renameSync(path, `${path}.away`);
    await assert.rejects(store.meta.set("a", "2"), { ...UNAVAILABLE, message: /deleted or replaced while open/ });
    copyFileSync(`${path}.away`, path);
    await assert.rejects(store.meta.set("a", "2"), UNAVAILABLE);
    renameSync(`${path}.away`, path);
    await store.meta.set("a", "3");
    assert.equal(await store.meta.get("a"), "3");
  });

  test("rejects writes if only the log was deleted", async () => {
    const path = newPath();
    await using store = await openStore({ path, now });
    await store.meta.set("a", "1");
    renameSync(`${path}-wal`, `${path}-away`);
    await assert.rejects(store.meta.set("a", "2"), { ...UNAVAILABLE, message: /-wal$/ });
    renameSync(`${path}-away`, `${path}-wal`);
    await store.meta.set("a", "3");
  });
});

describe("the store with several processes", () => {
  test("the store with several processes loses no record when two processes write to the same new file", async () => {
    const path = newPath();
    const [one, two] = await Promise.all([acknowledged(startWriter(path, 60)), acknowledged(startWriter(path, 60))]);
    await using store = await openStore({ path, now });
    const stored = await store.ledger.read({ from: 1, limit: 1_000 });
    const expected = Array.from({ length: 120 }, (_, index) => index + 1);
    assert.deepEqual(
      stored.map(({ seq }) => seq),
      expected,
    );
    assert.deepEqual(
      [...one, ...two].toSorted((a, b) => a - b),
      expected,
    );
  });

  test("the store with several processes loses no acknowledged record of a killed process", async () => {
    const path = newPath();
    for (const killAfter of [1, 17, 40]) {
      const numbers = await acknowledged(startWriter(path, 100_000), killAfter);
      assert.ok(numbers.length >= killAfter);
      await using store = await openStore({ path, now });
      const [first = 0] = numbers;
      const stored = await store.ledger.read({ from: first, limit: numbers.length });
      assert.deepEqual(
        stored.map(({ seq }) => seq),
        numbers,
      );
    }
  });
});

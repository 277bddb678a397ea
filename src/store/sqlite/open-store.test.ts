/** The SQLite store on real files: what it creates, what it refuses, and that refused files are unchanged. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, test } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import { describeSearch, describeStatements, describeTimes } from "../ledger.conformance.ts";
import { sampleOpening } from "../fixtures/sample-opening.ts";
import { describeStore, sampleRecord } from "../store.conformance.ts";
import { openUnlockedStore } from "../fixtures/sample-seal.ts";

import { APPLICATION_ID, MIGRATIONS } from "./migrations.ts";
import { openStore } from "./open-store.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-store-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}`, "glovebox.db");
const now = (): number => 7;

async function refusal(path: string): Promise<{ readonly message: string; readonly hint: string | undefined }> {
  const thrown: unknown = await openStore({ path, now }).catch((error: unknown) => error);
  assert.ok(thrown instanceof GloveboxError, `refuses ${path}`);
  assert.equal(thrown.code, "STORE_UNAVAILABLE");
  return { message: thrown.message, hint: thrown.details.hint };
}

/** Creates a file without the store and returns its bytes. */
function makeFile(path: string, sql: string): Buffer {
  mkdirSync(join(path, ".."), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return readFileSync(path);
}

function shape(script: string): readonly unknown[] {
  const database = new DatabaseSync(":memory:");
  database.exec(script);
  const rows = database.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name").all();
  return rows.map(({ type, name, sql }) => ({ type, name, sql: JSON.stringify(sql).replaceAll(/\\n|\s+/g, "") }));
}

const VERSION_1 = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE schema_history (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
  CREATE TABLE executions (
    id TEXT PRIMARY KEY, principal TEXT NOT NULL, source TEXT NOT NULL, source_text TEXT NOT NULL,
    started_at INTEGER NOT NULL, ended_at INTEGER, state TEXT, error_code TEXT, result TEXT
  ) STRICT;
  CREATE INDEX executions_by_start ON executions (started_at, id);
  CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
    detail TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL
  ) STRICT;
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY, version INTEGER NOT NULL, wrapped_key BLOB NOT NULL, nonce BLOB NOT NULL,
    ciphertext BLOB NOT NULL, created_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  INSERT INTO schema_history VALUES (1, 3);
  INSERT INTO ledger VALUES (1, 1001, 'local', 'call.intended', 'files.read', '{"n":1}', 'p1', 'd1');
  INSERT INTO meta VALUES ('kept', 'yes');
  PRAGMA application_id = 1196180056;
  PRAGMA user_version = 1;
`;

describeStore("sqlite in memory", () => openUnlockedStore({ path: ":memory:", now }));
describeSearch(() => openStore({ path: ":memory:", now }));
describeTimes(() => openStore({ path: ":memory:", now }));
describeStatements(() => openStore({ path: ":memory:", now }));
describeStore("sqlite in a file", () => openUnlockedStore({ path: newPath(), now }));

describe("openStore for a new store", () => {
  test("creates its folder and files for this user only", async () => {
    const path = newPath();
    await using store = await openStore({ path, now });
    await store.meta.set("a", "1");
    assert.equal(statSync(join(path, "..")).mode & 0o777, 0o700);
    const modes = readdirSync(join(path, "..")).map((name) => [name, statSync(join(path, "..", name)).mode & 0o777]);
    assert.deepEqual(Object.fromEntries(modes), {
      "glovebox.db": 0o600,
      "glovebox.db-shm": 0o600,
      "glovebox.db-wal": 0o600,
    });
  });

  test("sets a write-ahead log and the application id", async () => {
    const path = newPath();
    await using store = await openStore({ path, now });
    await store.ledger.append([sampleRecord(1)]);
    const other = new DatabaseSync(path, { readOnly: true });
    const pragma = (name: string): unknown => Object.values(other.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    assert.deepEqual(
      [pragma("journal_mode"), pragma("application_id"), pragma("user_version")],
      ["wal", APPLICATION_ID, MIGRATIONS.length],
    );
    assert.deepEqual(
      other
        .prepare("SELECT version, applied_at AS at FROM schema_history")
        .all()
        .map((row) => ({ ...row })),
      MIGRATIONS.map((_, index) => ({ version: index + 1, at: 7 })),
    );
    other.close();
  });

  test("accepts an empty file, as a killed first start leaves it", async () => {
    const path = newPath();
    makeFile(path, "PRAGMA journal_mode = WAL");
    await using store = await openStore({ path, now });
    assert.equal(await store.meta.claim("a", "1"), "1");
  });
});

describe("openStore for an existing store", () => {
  test("migrates version 1 and keeps its records", async () => {
    const path = newPath();
    makeFile(path, VERSION_1);
    {
      await using store = await openStore({ path, now });
      assert.deepEqual(await store.ledger.last(), sampleRecord(1));
      assert.equal(await store.meta.get("kept"), "yes");
      await store.executions.open(sampleOpening(1));
      assert.equal((await store.executions.listUnfinished()).length, 1);
    }
    const plain = new DatabaseSync(path);
    assert.throws(() => plain.exec("UPDATE ledger SET actor = 'x'"), /the ledger is append-only/);
    assert.throws(() => plain.exec("DELETE FROM ledger"), /the ledger is append-only/);
    plain.close();
  });

  test("compares the fixture of version 1 with the first migration", () => {
    assert.deepEqual(shape(VERSION_1), shape(MIGRATIONS[0] ?? ""));
  });

  test("opens the latest version with its content", async () => {
    const path = newPath();
    await (await openStore({ path, now })).close();
    await using store = await openStore({ path, now });
    await store.meta.set("a", "1");
    assert.equal(await store.meta.get("a"), "1");
  });

  test("refuses a newer version, names both versions and leaves the file unchanged", async () => {
    const path = newPath();
    const before = makeFile(path, `${VERSION_1} PRAGMA user_version = 99;`);
    const { message, hint } = await refusal(path);
    assert.equal(
      message,
      `The store ${path} has version 99, but this Glovebox supports versions up to ${MIGRATIONS.length}`,
    );
    assert.match(hint ?? "", /Upgrade Glovebox, or set another file/);
    assert.deepEqual(readFileSync(path), before);
  });
});

describe("openStore for another file", () => {
  test("refuses a database of another program and leaves it unchanged", async () => {
    for (const sql of ["CREATE TABLE t (a)", "PRAGMA application_id = 5", "PRAGMA user_version = 1"]) {
      const path = newPath();
      const before = makeFile(path, sql);
      assert.match((await refusal(path)).message, /belongs to another program/);
      assert.deepEqual(readFileSync(path), before);
    }
  });

  test("refuses a file that is not a database, however short, and leaves it unchanged", async () => {
    for (const text of ["x", "y".repeat(511), "z".repeat(512), "# notes\n".repeat(1000)]) {
      const path = newPath();
      mkdirSync(join(path, ".."));
      writeFileSync(path, text);
      const { message, hint } = await refusal(path);
      assert.equal(message, `This is not a Glovebox store: ${path}`);
      assert.match(hint ?? "", /Nothing was changed/);
      assert.equal(readFileSync(path, "utf8"), text);
    }
  });

  test("refuses a store with a damaged page and leaves it unchanged", async () => {
    const path = newPath();
    {
      await using store = await openStore({ path, now });
      await store.ledger.append(Array.from({ length: 2_000 }, (_, index) => sampleRecord(index + 1)));
    }
    const bytes = readFileSync(path);
    bytes.fill(0xff, bytes.length - 3 * 4096);
    writeFileSync(path, bytes);
    assert.match((await refusal(path)).message, /The store is damaged/);
    assert.deepEqual(readFileSync(path), bytes);
  });
});

describe("openStore at an invalid path", () => {
  test("names a path below a file and a path that is a folder", async () => {
    const path = newPath();
    mkdirSync(path, { recursive: true });
    assert.equal((await refusal(path)).message, `Cannot create the store at ${path}: it is a folder`);
    const file = join(path, "file");
    writeFileSync(file, "");
    const below = await refusal(join(file, "deeper", "glovebox.db"));
    assert.match(below.message, /a part of the path is a file$/);
    assert.match(below.hint ?? "", /store\.url/);
  });

  test("names a path in a folder that cannot be written", async () => {
    // Root can write anywhere except in /proc.
    const { message } = await refusal("/proc/self/glovebox.db");
    assert.match(message, /^Cannot create the store at \/proc\/self\/glovebox\.db: /);
  });
});

/** The store of an earlier version moves once, with its keys, and nothing is lost on the way. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import { openStore, openStoreToRead } from "../index.ts";
import type { MoveOptions } from "./move-former.ts";

const now = (): number => 1;

/** A project with a store of an earlier version that holds a value, its keys and a file of the operator. */
async function plan(t: TestContext, root = tmpdir()) {
  const [project, state] = [tmpdir(), root].map((folder) => mkdtempSync(join(folder, "glovebox-move-")));
  assert.ok(project !== undefined && state !== undefined);
  t.after(() => [project, state].forEach((folder) => rmSync(folder, { recursive: true, force: true })));
  const former = join(project, ".glovebox/glovebox.db");
  const path = join(state, "glovebox/project-0123456789ab/glovebox.db");
  {
    await using store = await openStore({ path: former, now });
    await store.meta.set("kept", "value");
  }
  for (const name of ["glovebox.key", "ledger.key", "glovebox.db.head"])
    writeFileSync(join(dirname(former), name), name, { mode: 0o600 });
  const announced: string[] = [];
  const announce = (text: string): void => void announced.push(text);
  const open = async (more: Partial<MoveOptions> = {}): Promise<string | undefined> => {
    await using store = await openStore({ path, former, now, announce, busyMs: 50, ...more });
    return await store.meta.get("kept");
  };
  return { former, path, announced, open, from: dirname(former), to: dirname(path) };
}

const FILES = ["glovebox.db", "glovebox.db.head", "glovebox.key", "ledger.key"];
const isSide = (name: string): boolean => /-(?:wal|shm)$/.test(name);
const list = (folder: string): readonly string[] => readdirSync(folder).filter((name) => !isSide(name));

test("a former store moves with its keys into a private folder, and the move is announced once", async (t) => {
  const { open, announced, from, to } = await plan(t);
  assert.equal(await open(), "value");
  assert.deepEqual([existsSync(from), list(to)], [false, FILES]);
  assert.equal(readFileSync(join(to, "glovebox.key"), "utf8"), "glovebox.key");
  assert.deepEqual(
    [to, ...FILES.map((name) => join(to, name))].map((path) => (statSync(path).mode & 0o777).toString(8)),
    ["700", "600", "600", "600", "600"],
  );
  assert.equal(await open(), "value");
  assert.deepEqual(announced, [`The store and its keys were moved from ${from} to ${to}, out of the project`]);
});

test("nothing moves without a former store, and a command that only reads moves one too", async (t) => {
  const { open, announced, former, path, from, to } = await plan(t);
  {
    await using store = await openStoreToRead({ path, former, now });
    assert.equal(await store.meta.get("kept"), "value");
  }
  assert.deepEqual([existsSync(from), list(to)], [false, FILES]);
  await open();
  assert.deepEqual(announced, []);
});

test("files of the operator stay where they are", async (t) => {
  const { open, from } = await plan(t);
  writeFileSync(join(from, "rules.json"), "{}");
  assert.equal(await open(), "value");
  assert.deepEqual(readdirSync(from), ["rules.json"]);
});

test("a store with a change that was not completed moves without that change", async (t) => {
  const { open, former, from } = await plan(t);
  {
    using database = new DatabaseSync(former);
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN IMMEDIATE");
    database.exec("UPDATE meta SET value = 'changed'; CREATE TABLE filler (value BLOB)");
    for (let row = 0; row < 20; row += 1) database.exec("INSERT INTO filler VALUES (zeroblob(4000))");
    // As a kill leaves them: the pages before the change in the journal, pages of the change in the store.
    for (const file of [former, `${former}-journal`]) copyFileSync(file, `${file}.killed`);
  }
  for (const file of [former, `${former}-journal`]) renameSync(`${file}.killed`, file);
  assert.equal(await open(), "value");
  assert.equal(existsSync(from), false);
});

test("records that are only in the write-ahead log move with the store", async (t) => {
  const { open, former, from } = await plan(t);
  const script = `
    const { DatabaseSync } = require("node:sqlite");
    const database = new DatabaseSync(${JSON.stringify(former)});
    database.exec("PRAGMA wal_autocheckpoint = 0; UPDATE meta SET value = 'logged' WHERE key = 'kept'");
    process.kill(process.pid, "SIGKILL");`;
  await once(spawn(process.execPath, ["-e", script]), "close");
  assert.ok(statSync(`${former}-wal`).size > 0);
  assert.equal(await open(), "logged");
  assert.equal(existsSync(from), false);
});

test("a store that another process has open does not move, and moves once it is closed", async (t) => {
  const { open, former, path, from } = await plan(t);
  const script = `
    const { DatabaseSync } = require("node:sqlite");
    const database = new DatabaseSync(${JSON.stringify(former)});
    database.prepare("SELECT * FROM meta").all();
    console.log("open");
    process.stdin.once("end", () => { database.exec("UPDATE meta SET value = 'later'"); process.exit(); }).resume();`;
  const holder = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => holder.kill());
  await once(holder.stdout, "data");
  await assert.rejects(open(), (error: unknown) => {
    assert.ok(error instanceof GloveboxError && error.code === "STORE_UNAVAILABLE");
    assert.equal(error.message, `Cannot move the store from ${former} to ${path}: another process has it open`);
    assert.match(error.details.hint ?? "", /^End the gateway that uses it, .* set `store\.url` to its path/);
    return true;
  });
  assert.deepEqual([list(from), existsSync(path)], [FILES, false]);
  holder.stdin.end();
  await once(holder, "close");
  assert.equal(await open(), "later");
});

test("an existing store is used, and a former one beside it stays and is named", async (t) => {
  const { open, announced, former, path } = await plan(t);
  {
    await using store = await openStore({ path, now });
    await store.meta.set("kept", "new");
  }
  assert.equal(await open(), "new");
  assert.equal(existsSync(former), true);
  assert.deepEqual(announced, [
    `${former} is not used, because ${path} exists. Remove it, or set store.url to its path`,
  ]);
});

test("a move that stops after any file continues at the next start", async (t) => {
  for (let stop = 0; stop < FILES.length; stop += 1) {
    const { open, former, from, to } = await plan(t);
    let moved = 0;
    const rename: typeof renameSync = (one, other) => {
      if (moved === stop) throw new Error("killed");
      moved += 1;
      renameSync(one, other);
    };
    await assert.rejects(open({ rename }), /killed/);
    assert.deepEqual([existsSync(former), list(from).length], [true, FILES.length - stop]);
    assert.equal(await open(), "value");
    assert.deepEqual([existsSync(from), list(to)], [false, FILES]);
  }
});

/** As on another file system. */
const refuseRename: typeof renameSync = () => {
  throw Object.assign(new Error("rename"), { code: "EXDEV" });
};

test("a move to another file system copies, and continues after a crash in any state", async (t) => {
  const whole = await plan(t);
  assert.equal(await whole.open({ rename: refuseRename }), "value");
  assert.deepEqual([existsSync(whole.from), list(whole.to)], [false, FILES]);
  assert.equal(statSync(join(whole.to, "glovebox.key")).mode & 0o777, 0o600);

  const states: readonly ((from: string, to: string) => void)[] = [
    // an unfinished copy
    (_, to) => writeFileSync(join(to, "glovebox.db.moving"), "half"),
    // a complete copy whose original has lost its name
    (from, to) => {
      writeFileSync(join(to, "glovebox.db.moving"), readFileSync(join(from, "glovebox.db")));
      renameSync(join(from, "glovebox.db"), join(from, "glovebox.db.moved"));
    },
    // a complete copy with its name, and the original
    (from, to) => {
      writeFileSync(join(to, "glovebox.db"), readFileSync(join(from, "glovebox.db")));
      renameSync(join(from, "glovebox.db"), join(from, "glovebox.db.moved"));
    },
  ];
  for (const [index, crash] of states.entries()) {
    const { open, from, to } = await plan(t);
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const others = FILES.slice(1);
    if (index > 0) for (const name of others) renameSync(join(from, name), join(to, name));
    crash(from, to);
    assert.equal(await open({ rename: refuseRename }), "value", String(index));
    assert.deepEqual([existsSync(from), list(to)], [false, FILES], String(index));
  }
});

test("a store moves to a real other file system", async (t) => {
  const other = "/dev/shm";
  const hasOther = existsSync(other) && statSync(other).dev !== statSync(tmpdir()).dev;
  if (!hasOther) return t.skip("needs a second file system");
  const { open, from, to } = await plan(t, other);
  assert.equal(await open(), "value");
  assert.deepEqual([existsSync(from), list(to)], [false, FILES]);
});

test("a key that exists in the new folder is not overwritten", async (t) => {
  const { open, from, to } = await plan(t);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, "ledger.key"), "other");
  await assert.rejects(open(), { code: "STORE_UNAVAILABLE", message: /ledger\.key exists$/ });
  assert.equal(readFileSync(join(from, "ledger.key"), "utf8"), "ledger.key");
  assert.equal(readFileSync(join(to, "ledger.key"), "utf8"), "other");
  rmSync(join(to, "ledger.key"));
  assert.equal(await open(), "value");
});

test("two processes that start at once move the store once", async (t) => {
  const { open, announced } = await plan(t);
  assert.deepEqual(await Promise.all([open({ busyMs: 5_000 }), open({ busyMs: 5_000 })]), ["value", "value"]);
  assert.equal(announced.length, 1);
});

test("a link, a foreign file and a read-only folder are refused with the remedy and left alone", async (t) => {
  const linked = await plan(t);
  renameSync(linked.from, `${linked.from}-elsewhere`);
  symlinkSync(`${linked.from}-elsewhere`, linked.from);
  await assert.rejects(linked.open(), { code: "STORE_UNAVAILABLE", message: /\.glovebox is a link$/ });
  assert.deepEqual(list(`${linked.from}-elsewhere`), FILES);

  const foreign = await plan(t);
  for (const content of ["short", "x".repeat(2_000)]) {
    writeFileSync(foreign.former, content);
    await assert.rejects(foreign.open(), { message: `This is not a Glovebox store: ${foreign.former}` });
    assert.equal(readFileSync(foreign.former, "utf8"), content);
  }

  const closed = await plan(t);
  if (process.getuid?.() === 0) return; // root can write everywhere
  chmodSync(closed.from, 0o500);
  await assert.rejects(closed.open(), { code: "STORE_UNAVAILABLE" });
  chmodSync(closed.from, 0o700);
  assert.equal(await closed.open(), "value");
});

test("the store that was moved can be written and has a write-ahead log again", async (t) => {
  const { open, path } = await plan(t);
  await open();
  await using store = await openStore({ path, now });
  await store.meta.set("kept", "changed");
  using database = new DatabaseSync(path, { readOnly: true });
  assert.deepEqual({ ...database.prepare("PRAGMA journal_mode").get() }, { journal_mode: "wal" });
});

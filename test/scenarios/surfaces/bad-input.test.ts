/** Mistakes of people and programs, seen from outside: one clear message, the right exit code, nothing started. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { mountMemory } from "../../fixtures/mount.ts";
import { passingStore } from "../../fixtures/passing-store.ts";
import { findStore, makeFolder, parseJsonLines, runGlovebox, startFor, untilEnded } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

const CONFIG_HINT = "hint: Correct the configuration and start again. glovebox.schema.json describes every key\n";

/** A folder whose upstream creates a file as soon as it is started. */
function makeMarkedFolder(context: TestContext, text: (mark: string) => string): string {
  const folder = makeFolder(context);
  writeFileSync(join(folder, "glovebox.config.json"), text(JSON.stringify(join(folder, "mark"))));
  return folder;
}

const runOne = (folder: string): Promise<CommandResult> => runGlovebox(["run", "-"], { folder, input: "return 1" });

describe("a malformed configuration", { concurrency: 2 }, () => {
  const WRONG: readonly { name: string; text: (mark: string) => string; says: RegExp }[] = [
    {
      name: "a syntax error is named with line and column",
      text: (mark) => `{\n  "mcpServers": { "m": { "command": "touch", "args": [${mark}] } },\n  "store" { }\n}`,
      says: /glovebox\.config\.json:3:11\b.*\[CONFIG_INVALID\]/,
    },
    {
      name: "an unknown key is named with the nearest known one",
      text: (mark) =>
        `{\n  "mcpServers": { "m": { "command": "touch", "args": [${mark}] } },\n  "policy": { "profil": "open" }\n}`,
      says: /glovebox\.config\.json:3:15 policy\.profil: unknown key; did you mean "profile"\?/,
    },
    {
      name: "a wrong type is named with what was expected",
      text: (mark) =>
        `{\n  "mcpServers": { "m": { "command": "touch", "args": [${mark}] } },\n  "sandbox": { "queue": "long" }\n}`,
      says: /glovebox\.config\.json:3:25 sandbox\.queue: expected an integer from 0 to 10000; found "long"/,
    },
  ];
  for (const { name, text, says } of WRONG) {
    test(`a configuration with ${name} is refused, and nothing is started`, async (context) => {
      const folder = makeMarkedFolder(context, text);
      const { code, stdout, stderr } = await runOne(folder);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, says);
      assert.deepEqual(readdirSync(folder), ["glovebox.config.json"]);
    });
  }

  test("the corrected configuration starts the upstream and creates the store", async (context) => {
    const folder = makeMarkedFolder(
      context,
      (mark) => `{ "mcpServers": { "m": { "command": "touch", "args": [${mark}] } } }`,
    );
    const { code, stdout } = await runOne(folder);
    assert.deepEqual([code, stdout], [0, "1\n"]);
    assert.deepEqual(readdirSync(folder).toSorted(), ["glovebox.config.json", "mark"]);
    assert.equal(existsSync(findStore(folder)), true);
  });

  test("a configuration file that does not exist is an error, not a default", async (context) => {
    const folder = makeFolder(context);
    const { code, stderr } = await runGlovebox(["tools", "--config", "other.json"], { folder });
    assert.equal(code, 2);
    assert.match(stderr, /other\.json: file not found .*\[CONFIG_INVALID\]|other\.json: file not found/);
    assert.match(stderr, /^hint: /m);
  });

  test("several mistakes of a configuration are reported at once", async (context) => {
    const folder = makeFolder(context, { sandbox: { limits: { wallMs: 0 } }, server: { port: -1 }, policy: 3 });
    const { code, stderr } = await runOne(folder);
    assert.equal(code, 2);
    for (const key of ["sandbox.limits.wallMs", "server.port", "policy"])
      assert.ok(stderr.includes(` ${key}: expected`), key);
    assert.ok(stderr.endsWith(CONFIG_HINT), stderr);
  });
});

/** Ends with 1 and one clear line with a remedy, without a stack. */
function assertStoreError({ code, stdout, stderr }: CommandResult, says: RegExp): void {
  assert.deepEqual([code, stdout], [1, ""], stderr);
  assert.match(stderr, says);
  assert.match(stderr, /^hint: \S/m);
  assert.doesNotMatch(stderr, /^ +at /m);
}

describe("a store that cannot be used", { concurrency: 2 }, () => {
  test("a store folder that cannot be created is refused", async (context) => {
    const folder = makeFolder(context, { mcpServers: {}, store: { url: "sqlite:./taken/glovebox.db" } });
    writeFileSync(join(folder, "taken"), "a file where the folder should be");
    assertStoreError(await runOne(folder), /^error: Cannot create the store at \S+: a part of the path is a file/m);
  });

  test("a store folder in a kernel file system is refused quickly", async (context) => {
    const folder = makeFolder(context, { mcpServers: {}, store: { url: "sqlite:/proc/none/glovebox.db" } });
    const child = startFor(context, ["run", "-"], folder);
    child.stdin.end("return 1");
    const ended = untilEnded(child);
    assert.equal(await Promise.race([ended, wait(8_000, "still running")]), 1);
  });

  test("a read-only store folder is refused", async (context) => {
    const folder = makeFolder(context, { mcpServers: {}, store: { url: "sqlite:./locked/glovebox.db" } });
    const locked = join(folder, "locked");
    mkdirSync(locked);
    // The superuser may write anywhere except on a file system that is mounted read-only.
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) chmodSync(locked, 0o500);
    using mounted = isRoot ? mountMemory(locked, "ro,size=64k") : undefined;
    if (isRoot && !mounted) return context.skip("mounting is not possible here");
    assertStoreError(
      await runOne(folder),
      /^error: Cannot create the store at \S+: (the file system is read-only|permission denied)/m,
    );
  });

  test("a store of a newer version is refused and unchanged", async (context) => {
    const folder = makeFolder(context, { mcpServers: {} });
    assert.equal((await runOne(folder)).code, 0);
    const file = findStore(folder);
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 9999");
    database.close();
    const before = readFileSync(file);
    assertStoreError(
      await runOne(folder),
      /^error: The store \S+ has version 9999, but this Glovebox supports versions up to \d+ \[STORE_UNAVAILABLE\]$/m,
    );
    assert.deepEqual(readFileSync(file), before);
  });

  for (const [name, bytes] of [
    ["a text file", Buffer.from("this is not a database\n".repeat(100))],
    ["a short text file", Buffer.from("short")],
    ["a damaged database", Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(8_000, 7)])],
  ] as const) {
    test(`${name} in place of the store is refused and unchanged`, async (context) => {
      const folder = makeFolder(context, { mcpServers: {}, store: { url: "sqlite:./glovebox.db" } });
      const file = join(folder, "glovebox.db");
      writeFileSync(file, bytes);
      assertStoreError(
        await runOne(folder),
        /^error: (This is not a Glovebox store|The store is damaged)[\s\S]*\[STORE_UNAVAILABLE\]$/m,
      );
      assert.deepEqual(readFileSync(file), bytes);
    });
  }

  test("a full disk stops what cannot be recorded", async (context) => {
    const folder = makeFolder(context, {
      mcpServers: {},
      store: { url: "sqlite:./disk/glovebox.db", minFreeBytes: 0 },
    });
    const disk = join(folder, "disk");
    mkdirSync(disk);
    using mounted = mountMemory(disk, "size=512k");
    if (!mounted) return context.skip("mounting is not possible here");
    const input = `return ${JSON.stringify("x".repeat(200_000))}.length`;
    const full = await runGlovebox(["run", "-"], { folder, input });
    assertStoreError(full, /full.*\[STORE_UNAVAILABLE\]$/m);
  });
});

const SIZE = 256 * 1024;
const HOSTILE: readonly [name: string, code: string][] = [
  ["round brackets", "(".repeat(SIZE)],
  ["square brackets", "[".repeat(SIZE / 2) + "]".repeat(SIZE / 2)],
  ["braces", "{".repeat(SIZE)],
  ["templates", "`${".repeat(SIZE / 3)],
  ["minus signs", `return ${"- ".repeat(SIZE / 2 - 8)}1`],
  ["type arguments", `let a: ${"A<".repeat(SIZE / 3)}`],
  ["arrows", "a=>".repeat(SIZE / 3)],
  ["additions", `return ${"1+".repeat(SIZE / 2 - 8)}1`],
  ["members", `return a${".a".repeat(SIZE / 2 - 8)}`],
  ["awaits", `${"await ".repeat(SIZE / 6 - 2)}1`],
  ["a regular expression", `return /${"(".repeat(SIZE - 20)}/`],
  ["NUL characters", "\0".repeat(SIZE)],
  ["half a surrogate pair", `return "${"\ud800".repeat(1000)}".length`],
  ["too much", " ".repeat(SIZE + 1)],
];

test(
  "hostile sources are answered one by one and the next program still completes",
  { timeout: 60_000 },
  async (context) => {
    const folder = makeFolder(context, { mcpServers: {}, store: passingStore() });
    const lines = HOSTILE.flatMap(([id, code]) => [
      { id, code, limits: { wallMs: 5_000 } },
      { id: `after ${id}`, code: "return 1" },
    ]);
    writeFileSync(join(folder, "hostile.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
    const { code, stdout, stderr } = await runGlovebox(["run", "--batch", "hostile.jsonl"], { folder });
    assert.deepEqual([code, stderr], [0, ""]);
    const results = parseJsonLines(stdout);
    assert.deepEqual(
      results.map(({ id }) => id),
      lines.map(({ id }) => id),
    );
    const after = results.filter(({ id }) => String(id).startsWith("after "));
    assert.deepEqual(
      after.map(({ state, value }) => [state, value]),
      after.map(() => ["completed", 1]),
    );
    const crashed = results.filter(({ error }) =>
      ["INTERNAL_BUG", "SANDBOX_CRASHED"].includes(String((error as { code?: string } | undefined)?.code)),
    );
    assert.deepEqual(crashed, []);
    assert.equal(existsSync(findStore(folder)), false);
  },
);

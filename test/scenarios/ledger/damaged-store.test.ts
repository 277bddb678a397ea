/** `audit verify` and other commands on a store that cannot be used: a typed error with its remedy, and no stack trace. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { makeUntypedFolder, runGlovebox } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

const HEADER_BYTES = 100;

interface Damage {
  readonly name: string;
  /** Damages the store at this path. */
  readonly damage: (path: string) => void;
}

const DAMAGES: readonly Damage[] = [
  { name: "random bytes", damage: (path) => writeFileSync(path, scramble(Buffer.alloc(20_000), 0)) },
  { name: "a text", damage: (path) => writeFileSync(path, "This is not a database.\n".repeat(200)) },
  { name: "its first half only", damage: (path) => truncateSync(path, readFileSync(path).length / 2) },
  { name: "its header only", damage: (path) => truncateSync(path, HEADER_BYTES) },
  { name: "random bytes after its header", damage: (path) => writeFileSync(path, scramble(readFileSync(path), 100)) },
  { name: "another table in the place of its ledger", damage: (path) => writeFileSync(path, renameLedger(path)) },
  {
    name: "a folder in its place",
    damage: (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  },
];

/** The same bytes at every run, without a pattern. */
function scramble(bytes: Buffer, from: number): Buffer {
  let state = 1;
  for (let at = from; at < bytes.length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

function renameLedger(path: string): Buffer {
  return Buffer.from(readFileSync(path, "latin1").replaceAll("ledger", "lebger"), "latin1");
}

/** A folder with a store that has records; everything is in the one file. */
async function makeStore(context: TestContext): Promise<{ readonly folder: string; readonly path: string }> {
  const folder = makeUntypedFolder(context, { mcpServers: {}, store: { url: "sqlite:./store/glovebox.db" } });
  const { code, stderr } = await runGlovebox(["run", "-"], { folder, input: "return 1" });
  assert.equal(code, 0, stderr);
  const path = join(folder, "store/glovebox.db");
  for (const side of ["-wal", "-shm"]) rmSync(`${path}${side}`, { force: true });
  return { folder, path };
}

function assertTyped({ stdout, stderr }: CommandResult): void {
  assert.equal(stdout, "");
  assert.match(stderr, /^error: .* \[STORE_UNAVAILABLE\]\nhint: .+\n$/);
}

describe("a damaged store", () => {
  test("audit verify accepts the store before it is damaged", async (context) => {
    const { folder } = await makeStore(context);
    const { code, stdout } = await runGlovebox(["audit", "verify"], { folder });
    assert.equal(code, 0);
    assert.match(stdout, /records, all intact/);
  });

  for (const { name, damage } of DAMAGES) {
    test(`a store with ${name} is a typed error for audit verify and run, which change nothing`, async (context) => {
      const { folder, path } = await makeStore(context);
      damage(path);
      const before = name === "a folder in its place" ? undefined : readFileSync(path);
      const verified = await runGlovebox(["audit", "verify"], { folder });
      assertTyped(verified);
      assert.equal(verified.code, 2);
      const run = await runGlovebox(["run", "-"], { folder, input: "return 1" });
      assertTyped(run);
      assert.equal(run.code, 1);
      if (before) assert.ok(before.equals(readFileSync(path)));
    });
  }
});

/** Changes of the master key on a real store, while others set and lend, and what is left of the former key. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { KEY, OTHER_KEY, history, name, newPath, setUp } from "../fixtures/set-up.ts";
import type { Fixture } from "../fixtures/set-up.ts";
import type { Vault } from "../vault.ts";
import { Secret } from "../secret.ts";

const WRONG = { code: "CONFIG_INVALID", message: "The secrets in this store are sealed with another key" };

const rotation = { actor: "ada", handOverMs: 0 } as const;
const next = { ...rotation, key: new Secret(OTHER_KEY) };

async function read(vault: Vault, ...names: readonly string[]): Promise<readonly string[]> {
  return Promise.all(names.map(async (text) => (await vault.lend(name(text), "test")).reveal()));
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let left = 5000; !(await isTrue()); left -= 1) {
    assert.ok(left > 0, `It did not become true: ${isTrue.toString()}`);
    await wait(1);
  }
}

/** Two connections to one file, as of two processes. */
async function setUpTwice(): Promise<readonly [Fixture, Fixture]> {
  const keyFile = newPath();
  mkdirSync(dirname(keyFile));
  const path = join(dirname(keyFile), "glovebox.db");
  return [await setUp(path, keyFile), await setUp(path, keyFile)];
}

describe("a rotation of the key file", () => {
  test("a rotation of the key file changes the key, keeps every value, and is recorded", async () => {
    await using fixture = await setUp();
    const { vault, keyFile, store, ledger, reopen } = fixture;
    for (const text of ["A", "B"]) await vault.set(name(text), new Secret(text), "ada");
    const [before, key, from] = [
      await store.secrets.list(),
      readFileSync(keyFile, "utf8"),
      await store.secrets.keyCheck(),
    ];
    assert.deepEqual(await vault.rotate(rotation), { secrets: 2, damaged: [] });
    assert.notEqual(readFileSync(keyFile, "utf8"), key);
    assert.deepEqual(readdirSync(dirname(keyFile)), ["vault.key"]);
    const after = await store.secrets.list();
    for (const [index, row] of after.entries()) assert.notDeepEqual(row.wrappedKey, before[index]?.wrappedKey);
    assert.deepEqual(
      after.map(({ wrappedKey: _, ...rest }) => rest),
      before.map(({ wrappedKey: _, ...rest }) => rest),
    );
    const to = await store.secrets.keyCheck();
    assert.deepEqual((await history(ledger)).at(-1), ["ada", "key.rotated", "vault", { from, to }]);
    assert.deepEqual(await read(vault, "A", "B"), ["A", "B"]);
    assert.deepEqual(await read(reopen({}), "A", "B"), ["A", "B"]);
    await assert.rejects(reopen({ environmentKey: key.trim() }).ready(), WRONG);
  });

  test("a rotation names records that no key opens, and rotates the others", async () => {
    await using fixture = await setUp();
    const { vault, store, forge } = fixture;
    for (const text of ["A", "B"]) await vault.set(name(text), new Secret(text), "ada");
    const [a] = await store.secrets.list();
    assert.ok(a);
    await forge({ ...a, version: 7 });
    assert.deepEqual(await vault.rotate(rotation), { secrets: 1, damaged: ["A"] });
    assert.deepEqual(await read(vault, "B"), ["B"]);
    await assert.rejects(vault.lend(name("A"), "test"), { code: "VAULT_SECRET_MISSING" });
  });

  test("another process takes over a rotated key at its next use, also while it sets and lends all the time", async () => {
    const [mine, other] = await setUpTwice();
    await using _mine = mine;
    await using _other = other;
    await mine.vault.set(name("A"), new Secret("0"), "ada");
    let last = 0;
    const over = new AbortController();
    const busy = async (vault: Vault): Promise<void> => {
      while (!over.signal.aborted) {
        last += 1;
        await vault.set(name(`S${last}`), new Secret(`${last}`), "ada");
        assert.deepEqual(await read(vault, "A"), ["0"]);
      }
    };
    const working = busy(other.vault);
    for (let n = 0; n < 10; n += 1) await mine.vault.rotate(rotation);
    over.abort();
    await working;
    const names = Array.from({ length: last }, (_, index) => `S${index + 1}`);
    assert.deepEqual(
      await read(mine.vault, ...names),
      names.map((text) => text.slice(1)),
    );
  });

  test("two rotations at once are done once or twice, and both processes continue", async () => {
    for (const extra of [0, 0, 0, 0, 1, 2, 3, 4]) {
      const [mine, other] = await setUpTwice();
      await using _mine = mine;
      await using _other = other;
      await mine.vault.set(name("A"), new Secret("a"), "ada");
      const vaults = [mine.vault, other.vault, ...Array.from({ length: extra }, () => other.reopen({}))];
      await Promise.all(vaults.map((vault) => vault.rotate(rotation)));
      for (const vault of [...vaults, other.reopen({})]) assert.deepEqual(await read(vault, "A"), ["a"]);
      const files = readdirSync(dirname(mine.keyFile)).filter((file) => file.startsWith("vault.key"));
      assert.deepEqual(files, ["vault.key"]);
    }
  });

  test("a rotation leaves nothing in the store file that the former key opens", async () => {
    const [mine, other] = await setUpTwice();
    await using _mine = mine;
    await other[Symbol.asyncDispose]();
    for (const text of ["A", "B", "C"]) await mine.vault.set(name(text), new Secret(text), "ada");
    const former = (await mine.store.secrets.list()).map(({ wrappedKey }) => Buffer.from(wrappedKey));
    const place = dirname(mine.keyFile);
    const count = (): number => {
      const bytes = readdirSync(place).map((file) => readFileSync(join(place, file)));
      return former.filter((key) => bytes.some((content) => content.includes(key))).length;
    };
    assert.equal(count(), 3);
    await mine.vault.rotate(rotation);
    assert.equal(count(), 0);
  });
});

describe("a rotation of the key of the environment", () => {
  test("a rotation of the environment's key uses the given key, from a variable or by hand", async () => {
    await using fixture = await setUp();
    const { reopen, store } = fixture;
    const vault = reopen({ environmentKey: KEY });
    await vault.set(name("A"), new Secret("a"), "ada");
    assert.deepEqual([vault.needsNewKey, vault.isKeyOfEnvironment], [true, true]);
    assert.deepEqual(await vault.rotate(next), { secrets: 1, damaged: [] });
    assert.deepEqual(await read(vault, "A"), ["a"]);
    assert.deepEqual(await read(reopen({ environmentKey: OTHER_KEY }), "A"), ["a"]);
    await assert.rejects(reopen({ environmentKey: KEY }).ready(), WRONG);
    const back = reopen({ environmentKey: OTHER_KEY, nextEnvironmentKey: KEY });
    assert.equal(back.needsNewKey, false);
    await back.rotate(rotation);
    assert.deepEqual(await read(reopen({ environmentKey: KEY }), "A"), ["a"]);
    assert.equal(await store.meta.get("vault.handover"), undefined);
  });

  test("a rotation refuses the same key, a weak key and no key, and changes nothing", async () => {
    await using fixture = await setUp();
    const { reopen, store } = fixture;
    const vault = reopen({ environmentKey: KEY });
    await vault.set(name("A"), new Secret("a"), "ada");
    const before = await store.secrets.list();
    await assert.rejects(vault.rotate({ ...rotation, key: new Secret(KEY.toUpperCase()) }), {
      code: "REQUEST_INVALID",
    });
    await assert.rejects(vault.rotate({ ...rotation, key: new Secret("00".repeat(32)) }), { code: "CONFIG_INVALID" });
    await assert.rejects(vault.rotate(rotation), { code: "CONFIG_INVALID" });
    assert.deepEqual(await store.secrets.list(), before);
    await vault.rotate(next);
  });

  test("a rotation hands the new key to processes with the former key, for a while and to no other", async () => {
    await using fixture = await setUp();
    const { reopen, store } = fixture;
    const running = reopen({ environmentKey: KEY });
    await running.set(name("A"), new Secret("a"), "ada");
    const asleep = reopen({ environmentKey: KEY });
    await asleep.ready();
    const former = await store.secrets.keyCheck();
    const rotating = reopen({ environmentKey: KEY }).rotate({ ...next, handOverMs: 300 });
    const offered = async (): Promise<boolean> => ((await store.meta.get("vault.handover")) ?? "") !== "";
    await until(async () => (await store.secrets.keyCheck()) !== former);
    assert.equal(await offered(), true);
    await running.refresh();
    await assert.rejects(reopen({ environmentKey: KEY.replace("8f", "7f") }).ready(), WRONG);
    await rotating;
    assert.equal(await offered(), false);
    assert.deepEqual(await read(running, "A"), ["a"]);
    await running.set(name("B"), new Secret("b"), "ada");
    assert.deepEqual(await read(reopen({ environmentKey: OTHER_KEY }), "A", "B"), ["a", "b"]);
    await assert.rejects(asleep.refresh(), WRONG);
    await assert.rejects(asleep.lend(name("A"), "test"), WRONG);
  });

  test("an interrupted rotation is finished by the same command, and an expired offer is erased", async () => {
    const [fixture, other] = await setUpTwice();
    await using _fixture = fixture;
    await other[Symbol.asyncDispose]();
    const { reopen, store } = fixture;
    const place = dirname(fixture.keyFile);
    const holds = (text: string): boolean =>
      readdirSync(place).some((file) => readFileSync(join(place, file)).includes(text));
    const vault = reopen({ environmentKey: KEY });
    await vault.set(name("A"), new Secret("a"), "ada");
    const rotating = vault.rotate({ ...next, handOverMs: 100 });
    const offered = async (): Promise<string> => (await store.meta.get("vault.handover")) ?? "";
    await until(async () => (await offered()) !== "");
    const left = await offered();
    assert.equal(holds(left), true);
    await rotating;
    assert.equal(holds(left), false);
    const leave = (): Promise<void> => store.meta.set("vault.handover", left);
    await leave();
    assert.deepEqual(await reopen({ environmentKey: KEY }).rotate(next), { secrets: 1, damaged: [] });
    assert.equal(await store.meta.get("vault.handover"), undefined);
    await leave();
    await reopen({ environmentKey: OTHER_KEY, now: () => 1_334 }).refresh();
    assert.equal(await store.meta.get("vault.handover"), left);
    await reopen({ environmentKey: OTHER_KEY, now: () => 1_335 }).refresh();
    assert.equal(await store.meta.get("vault.handover"), undefined);
  });
});

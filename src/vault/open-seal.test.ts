/** Sealed records on a real store: what opens them, what does not, and who may touch their key. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Seal } from "../domain/index.ts";
import { KEY, OTHER_KEY, name, newPath, setUp } from "./fixtures/set-up.ts";
import type { Fixture } from "./fixtures/set-up.ts";
import { unlockToRead } from "./open-seal.ts";
import { Secret } from "./secret.ts";

describe("a seal", () => {
  test("a seal opens what it closed in the same context, also from another process", async () => {
    await using fixture = await setUp();
    const [first, second] = await Promise.all([fixture.vault.openSeal(), fixture.reopen({}).openSeal()]);
    const sealed = first.close("result 🧤", "ex_1:0");
    assert.equal(second.open(sealed, "ex_1:0"), "result 🧤");
    assert.equal(Buffer.from(sealed).includes("result"), false);
    assert.notDeepEqual(first.close("result 🧤", "ex_1:0"), sealed);
  });

  test("a seal does not open what was moved to another context or changed in one bit", async () => {
    await using fixture = await setUp();
    const seal = await fixture.vault.openSeal();
    const sealed = seal.close("result", "ex_1:0");
    const changed = Uint8Array.from(sealed);
    changed[20] = (changed[20] ?? 0) ^ 1;
    for (const [bytes, context] of [
      [sealed, "ex_1:1"],
      [changed, "ex_1:0"],
      [sealed.subarray(0, 10), "ex_1:0"],
    ] as const) {
      assert.throws(() => seal.open(bytes, context), { code: "STORE_UNAVAILABLE" });
    }
    assert.equal(seal.open(sealed, "ex_1:0"), "result");
  });

  test("a seal derives one stable key per purpose", async () => {
    await using fixture = await setUp();
    const seal = await fixture.vault.openSeal();
    const key = seal.derive("one use");
    await fixture.vault.rotate({ actor: "ada", handOverMs: 0 });
    assert.deepEqual((await fixture.reopen({}).openSeal()).derive("one use"), key);
    assert.notDeepEqual(seal.derive("another use"), key);
    assert.equal(key.length, 32);
  });

  test("a seal still opens after the master key was changed", async () => {
    await using fixture = await setUp();
    const sealed = (await fixture.vault.openSeal()).close("result", "c");
    assert.deepEqual(await fixture.vault.rotate({ actor: "ada", handOverMs: 0 }), { secrets: 0, damaged: [] });
    const seal = await fixture.reopen({}).openSeal();
    assert.equal(seal.open(sealed, "c"), "result");
  });

  test("the key of the seal cannot be set, lent, listed, masked or removed; any other name can", async () => {
    await using fixture = await setUp();
    const { vault } = fixture;
    const seal = await vault.openSeal();
    const own = name("glovebox_records");
    await assert.rejects(vault.set(own, new Secret("x"), "ada"), { code: "REQUEST_INVALID" });
    await assert.rejects(vault.remove(own, "ada"), { code: "REQUEST_INVALID" });
    await assert.rejects(vault.lend(own, "test"), { code: "VAULT_SECRET_MISSING" });
    assert.deepEqual([await vault.list(), await vault.known()], [[], []]);
    await vault.set(name("gloveboxes"), new Secret("x"), "ada");
    assert.equal((await vault.lend(name("gloveboxes"), "test")).reveal(), "x");
    assert.equal(seal.open(seal.close("still", "c"), "c"), "still");
  });
});

describe("a store that is unlocked to be read", () => {
  /** What the store gets; nothing is written meanwhile. */
  const find = async (fixture: Fixture, key: { keyFile?: string; environmentKey?: string } = {}): Promise<OpenSeal> => {
    const { store, keyFile } = fixture;
    const refuse = async (): Promise<never> => assert.fail("It writes");
    const secrets = {
      ...store.secrets,
      claimKey: refuse,
      put: refuse,
      claim: refuse,
      rewrap: refuse,
      whileKey: refuse,
    };
    let found: OpenSeal | undefined;
    const readOnly = { meta: store.meta, secrets, unlock: (seal: OpenSeal) => void (found = seal) };
    await unlockToRead({ store: readOnly, keyFile, random: () => assert.fail("It draws"), now: () => 0, ...key });
    return found ?? assert.fail("It does not unlock");
  };
  type OpenSeal = Pick<Seal, "close" | "open" | "openBytes">;

  test("opens with the key file, also after the key was changed", async () => {
    await using fixture = await setUp();
    const sealed = (await fixture.vault.openSeal()).close("result", "c");
    assert.equal((await find(fixture)).open(sealed, "c"), "result");
    await fixture.vault.rotate({ actor: "ada", handOverMs: 0 });
    assert.equal((await find(fixture)).open(sealed, "c"), "result");
  });

  test("opens bytes that are not text", async () => {
    await using fixture = await setUp();
    const bytes = Uint8Array.of(0xff, 0, 0xd8, 0x80);
    const sealed = (await fixture.vault.openSeal()).close(bytes, "c");
    assert.deepEqual(Uint8Array.from((await find(fixture)).openBytes(sealed, "c")), bytes);
  });

  test("does not open without the key file or with another key, and names the remedy when it is used", async () => {
    await using fixture = await setUp();
    const sealed = (await fixture.reopen({ environmentKey: KEY }).openSeal()).close("result", "c");
    assert.equal((await find(fixture, { environmentKey: KEY })).open(sealed, "c"), "result");
    for (const key of [{ keyFile: newPath() }, { environmentKey: OTHER_KEY }, { environmentKey: "short" }]) {
      const seal = await find(fixture, key);
      assert.throws(() => seal.open(sealed, "c"), { code: "CONFIG_INVALID" });
      assert.throws(() => seal.openBytes(sealed, "c"), { code: "CONFIG_INVALID" });
    }
  });
});

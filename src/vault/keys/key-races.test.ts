/** Rotations that come at the worst moment of something else: right before each single step of it. */

import assert from "node:assert/strict";
import fs, { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { describe, test } from "node:test";

import type { Store } from "../../store/index.ts";

import { KEY, OTHER_KEY, name, setUp } from "../fixtures/set-up.ts";
import type { Fixture } from "../fixtures/set-up.ts";
import type { VaultOptions } from "../open-vault.ts";
import type { Vault } from "../vault.ts";
import { Secret } from "../secret.ts";

const rotation = { actor: "ada", handOverMs: 0 } as const;

/** The store of the fixture, on which something happens right before the nth use of the secrets. */
function interrupt({ store }: Fixture, at: number, happen: () => Promise<unknown>): VaultOptions["store"] {
  const { secrets, meta } = store;
  let uses = 0;
  const before = async (): Promise<void> => {
    uses += 1;
    if (uses === at) await happen();
  };
  const interrupted: Store["secrets"] = {
    keyCheck: () => before().then(() => secrets.keyCheck()),
    claimKey: (check) => before().then(() => secrets.claimKey(check)),
    put: (row, check) => before().then(() => secrets.put(row, check)),
    claim: (row, check) => before().then(() => secrets.claim(row, check)),
    find: (secret) => before().then(() => secrets.find(secret)),
    list: () => before().then(() => secrets.list()),
    remove: (secret) => before().then(() => secrets.remove(secret)),
    rewrap: (keys, wrap) => before().then(() => secrets.rewrap(keys, wrap)),
    whileKey: (check, work) => before().then(() => secrets.whileKey(check, work)),
  };
  return { meta, secrets: interrupted, unlock: (seal) => store.unlock(seal) };
}

/** More than any of these takes. */
const STEPS = Array.from({ length: 12 }, (_, index) => index + 1);

async function read(vault: Vault, secret: string): Promise<string> {
  return (await vault.lend(name(secret), "test")).reveal();
}

describe("a rotation right before any step", () => {
  test("a rotation before any step of setting a secret leaves it readable with the new key", async () => {
    for (const at of STEPS) {
      await using fixture = await setUp();
      const { vault, reopen } = fixture;
      await vault.ready();
      await reopen({ store: interrupt(fixture, at, () => vault.rotate(rotation)) }).set(
        name("A"),
        new Secret("a"),
        "b",
      );
      assert.equal(await read(reopen({}), "A"), "a", `step ${at}`);
    }
  });

  test("a rotation before any step of lending a secret still lends it", async () => {
    for (const at of STEPS) {
      await using fixture = await setUp();
      const { vault, reopen } = fixture;
      await vault.set(name("A"), new Secret("a"), "ada");
      const lender = reopen({ store: interrupt(fixture, at, () => vault.rotate(rotation)) });
      assert.equal(await read(lender, "A"), "a", `step ${at}`);
      assert.equal(await read(lender, "A"), "a", `after step ${at}`);
    }
  });

  test("a rotation before any step of another rotation or of a start leaves one key that opens everything", async () => {
    for (const at of STEPS) {
      await using fixture = await setUp();
      const { vault, reopen, keyFile } = fixture;
      await vault.set(name("A"), new Secret("a"), "ada");
      await reopen({ store: interrupt(fixture, at, () => vault.rotate(rotation)) }).rotate(rotation);
      await reopen({ store: interrupt(fixture, at, () => vault.rotate(rotation)) }).ready();
      assert.equal(await read(reopen({}), "A"), "a", `step ${at}`);
      assert.equal(existsSync(`${keyFile}.next`), false);
    }
  });
});

test("a secret that is set while another key is tried on an empty store is not lost", async () => {
  for (const at of STEPS) {
    await using fixture = await setUp();
    const owner = fixture.reopen({ environmentKey: KEY });
    await owner.ready();
    const set = (): Promise<void> => owner.set(name("A"), new Secret("a"), "ada");
    const stranger = fixture.reopen({ environmentKey: OTHER_KEY, store: interrupt(fixture, at, set) });
    const isRefused = await stranger.ready().then(
      () => false,
      () => true,
    );
    const right = isRefused ? KEY : OTHER_KEY;
    if (await fixture.store.secrets.find(name("A"))) {
      assert.equal(await read(fixture.reopen({ environmentKey: right }), "A"), "a", `step ${at}`);
    }
  }
});

test("a key file that is promoted between two reads is found", async () => {
  await using fixture = await setUp();
  const { vault, keyFile, reopen } = fixture;
  await vault.set(name("A"), new Secret("a"), "ada");
  const former = readFileSync(keyFile);
  await vault.rotate(rotation);
  // As it is when the store has changed and the file has not.
  renameSync(keyFile, `${keyFile}.next`);
  writeFileSync(keyFile, former, { mode: 0o600 });
  const { openSync } = fs;
  fs.openSync = (path, ...rest) => {
    if (path === `${keyFile}.next` && existsSync(path)) renameSync(path, keyFile);
    return openSync(path, ...rest);
  };
  syncBuiltinESMExports();
  try {
    assert.equal(await read(reopen({}), "A"), "a");
  } finally {
    fs.openSync = openSync;
    syncBuiltinESMExports();
  }
});

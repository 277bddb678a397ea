/** The conformance suite of `Store["secrets"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSecretName } from "../domain/index.ts";

import type { SecretRow, Store } from "./store.ts";

function sampleSecret(text: string, version = 1): SecretRow {
  const name = parseSecretName(text);
  assert.ok(name);
  return {
    name,
    version,
    wrappedKey: Uint8Array.of(1, 2, version),
    nonce: Uint8Array.of(0, 255),
    ciphertext: Uint8Array.of(),
    createdAt: 5,
  };
}

export function describeSecrets(open: () => Promise<Store>): void {
  describeClaims(open);

  void test("secrets are put, replaced, listed by name and removed", async () => {
    await using store = await open();
    await store.secrets.claimKey("k");
    for (const row of [sampleSecret("B"), sampleSecret("A"), sampleSecret("B", 2)]) await store.secrets.put(row, "k");
    assert.deepEqual(await store.secrets.find(sampleSecret("B").name), sampleSecret("B", 2));
    assert.deepEqual(await store.secrets.list(), [sampleSecret("A"), sampleSecret("B", 2)]);
    assert.equal(await store.secrets.remove(sampleSecret("B").name), true);
    assert.equal(await store.secrets.remove(sampleSecret("B").name), false);
    assert.equal(await store.secrets.find(sampleSecret("B").name), undefined);
  });

  void test("claimKey keeps the first key, and put accepts rows only for that key", async () => {
    await using store = await open();
    const { secrets } = store;
    assert.equal(await secrets.keyCheck(), undefined);
    assert.equal(await secrets.put(sampleSecret("A"), "k"), false);
    assert.deepEqual([await secrets.claimKey("k"), await secrets.claimKey("other")], ["k", "k"]);
    assert.equal(await secrets.put(sampleSecret("A"), "other"), false);
    assert.deepEqual(await secrets.list(), []);
    assert.equal(await secrets.put(sampleSecret("A"), "k"), true);
    assert.deepEqual(await secrets.list(), [sampleSecret("A")]);
  });

  void test("rewrap changes all wrapped keys and the key atomically", async () => {
    await using store = await open();
    const { secrets } = store;
    await secrets.claimKey("k");
    const rows = [sampleSecret("A"), sampleSecret("B")];
    for (const row of rows) await secrets.put(row, "k");
    const wrap = ({ name }: SecretRow): Uint8Array => Uint8Array.from(Buffer.from(`wrapped ${name}`));
    const fail = ({ name }: SecretRow): Uint8Array => (name === "B" ? assert.fail("no") : wrap(sampleSecret("A")));
    assert.equal(await secrets.rewrap({ from: "other", to: "l" }, wrap), false);
    await assert.rejects(secrets.rewrap({ from: "k", to: "l" }, fail), { message: "no" });
    assert.deepEqual([await secrets.keyCheck(), await secrets.list()], ["k", rows]);
    assert.equal(await secrets.rewrap({ from: "k", to: "l" }, wrap), true);
    const rewrapped = rows.map((row) => ({ ...row, wrappedKey: wrap(row) }));
    assert.deepEqual([await secrets.keyCheck(), await secrets.list()], ["l", rewrapped]);
    assert.deepEqual(
      [await secrets.put(sampleSecret("C"), "k"), await secrets.put(sampleSecret("C"), "l")],
      [false, true],
    );
  });

  void test("whileKey runs the work only with the named key", async () => {
    await using store = await open();
    await store.secrets.claimKey("k");
    assert.equal(await store.secrets.whileKey("other", () => assert.fail("it ran")), undefined);
    assert.equal(await store.secrets.whileKey("k", () => "done"), "done");
    await assert.rejects(
      store.secrets.whileKey("k", () => assert.fail("no")),
      { message: "no" },
    );
  });
}

function describeClaims(open: () => Promise<Store>): void {
  void test("claim keeps the first row of a name, and only with the named key", async () => {
    await using store = await open();
    const { secrets } = store;
    await secrets.claimKey("k");
    assert.equal(await secrets.claim(sampleSecret("A"), "other"), undefined);
    assert.deepEqual(await secrets.list(), []);
    assert.deepEqual(await secrets.claim(sampleSecret("A"), "k"), sampleSecret("A"));
    assert.deepEqual(await secrets.claim(sampleSecret("A", 2), "k"), sampleSecret("A"));
    assert.deepEqual(await secrets.list(), [sampleSecret("A")]);
  });
}

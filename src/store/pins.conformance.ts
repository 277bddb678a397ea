/** The conformance suite of `Store["pins"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId, parseDigest } from "../domain/index.ts";

import type { HeldRow, PinRow, Store } from "./store.ts";

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

function sampleHeld(server: string, remoteName: string, digit = "a"): HeldRow {
  const digest = certain(parseDigest(`sha256:${digit.repeat(64)}`));
  const connector = certain(parseConnectorId(server));
  return { connector, remoteName, digest, definition: `{"name":"${digit}"}`, seenAt: 7 };
}

function samplePin(server: string, remoteName: string, digit = "a"): PinRow {
  const { seenAt: pinnedAt, ...rest } = sampleHeld(server, remoteName, digit);
  return { ...rest, pinnedAt, pinnedBy: "gateway" };
}

export function describePins(open: () => Promise<Store>): void {
  void test("claim keeps the first definition, per server", async () => {
    await using store = await open();
    await store.pins.claim([samplePin("a", "x"), samplePin("a", "__proto__")]);
    await store.pins.claim([samplePin("a", "x", "b"), samplePin("b", "x", "b")]);
    assert.deepEqual(await store.pins.find(samplePin("a", "x").connector, "x"), samplePin("a", "x"));
    assert.deepEqual(
      (await store.pins.list(samplePin("a", "x").connector)).map(({ remoteName, digest }) => [remoteName, digest]),
      ["__proto__", "x"].map((name) => [name, samplePin("a", name).digest]),
    );
    assert.equal(await store.pins.find(samplePin("c", "x").connector, "x"), undefined);
  });

  void test("a pin keeps its name, and no other tool of the server gets it", async () => {
    await using store = await open();
    const named = (remoteName: string, name: string): PinRow => ({ ...samplePin("a", remoteName), name });
    await store.pins.claim([named("x", "one"), named("y", "ONE"), { ...samplePin("b", "x"), name: "one" }]);
    await store.pins.claim([samplePin("a", "z")]);
    await store.pins.name([named("x", "two"), named("z", "three")]);
    await store.pins.approve([{ ...samplePin("a", "x", "b"), name: "four" }]);
    assert.deepEqual(
      (await store.pins.list()).map(({ connector, remoteName, name }) => [connector, remoteName, name]),
      [
        ["a", "x", "one"],
        ["a", "z", "three"],
        ["b", "x", "one"],
      ],
    );
    await store.pins.approve([named("y", "One"), named("v", "five")]);
    const { connector } = samplePin("a", "x");
    const found = await Promise.all(["x", "y", "v"].map((tool) => store.pins.find(connector, tool)));
    assert.deepEqual(
      found.map((pin) => pin?.name),
      ["one", undefined, "five"],
    );
  });

  void test("replaceHeld replaces the definitions of one server only", async () => {
    await using store = await open();
    const [a, b] = [sampleHeld("a", "x"), sampleHeld("b", "x")];
    await store.pins.replaceHeld(a.connector, [a, sampleHeld("a", "y")]);
    await store.pins.replaceHeld(b.connector, [b]);
    await store.pins.replaceHeld(a.connector, [sampleHeld("a", "z")]);
    assert.deepEqual(await store.pins.held(), [sampleHeld("a", "z"), b]);
    assert.deepEqual(await store.pins.held(b.connector), [b]);
  });

  void test("approve replaces a pin and removes only the held-back definition with the same digest", async () => {
    await using store = await open();
    const { connector } = sampleHeld("a", "x");
    await store.pins.claim([samplePin("a", "x")]);
    await store.pins.replaceHeld(connector, [sampleHeld("a", "x", "b"), sampleHeld("a", "y", "c")]);
    await store.pins.approve([samplePin("a", "x", "b"), samplePin("a", "y", "d")]);
    assert.deepEqual(await store.pins.find(connector, "x"), samplePin("a", "x", "b"));
    assert.deepEqual(await store.pins.held(connector), [sampleHeld("a", "y", "c")]);
  });
}

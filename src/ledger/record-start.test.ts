/** What the ledger records about the start of a gateway. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openStore } from "../store/index.ts";
import { openLedger } from "./open-ledger.ts";
import type { LedgerEntry } from "./record.ts";
import { recordLife } from "./record-start.ts";

type Sections = Readonly<Record<string, unknown>>;

/** Starts once for each of the given settings on one store, and returns what was recorded. */
async function start(
  all: readonly Sections[],
  seed: Uint8Array = Buffer.alloc(32, 1),
): Promise<readonly LedgerEntry[]> {
  await using store = await openStore({ path: ":memory:", now: () => 0 });
  await using ledger = await openLedger({ store, now: () => 0 });
  const entries: LedgerEntry[] = [];
  const write: typeof ledger.write = (entry, durability) => {
    entries.push(entry);
    return ledger.write(entry, durability);
  };
  for (const sections of all)
    await recordLife({ store, ledger: { write }, version: "1.2.3", source: "file", sections, seed, process: "p" });
  return entries;
}

const changesOf = (entries: readonly LedgerEntry[]): unknown[] =>
  entries.filter(({ action }) => action === "configuration.changed").map(({ detail }) => detail);

test("records a start with the version, the source and a keyed digest of all settings", async () => {
  const [entry, ...rest] = await start([{ sandbox: { queue: 1 } }]);
  assert.deepEqual(rest, []);
  assert.deepEqual([entry?.actor, entry?.action, entry?.subject], ["gateway", "gateway.opened", "1.2.3"]);
  const { settings, ...detail } = { ...Object(entry?.detail) };
  assert.deepEqual(detail, { source: "file", process: "p" });
  assert.match(String(settings), /^hmac-sha256:[0-9a-f]{64}$/);
});

test("names the sections that changed since the last start, also those that came or went", async () => {
  const entries = await start([
    { sandbox: { queue: 1 }, store: { path: "a" }, old: 1 },
    { sandbox: { queue: 2 }, store: { path: "a" }, new: 1 },
  ]);
  assert.deepEqual(changesOf(entries), [{ changed: ["new", "old", "sandbox"] }]);
});

test("records no change when the settings are equal, whatever the order of their keys", async () => {
  const entries = await start([{ a: { x: 1, y: new Map([["k", 2]]) } }, { a: { y: new Map([["k", 2]]), x: 1 } }]);
  assert.deepEqual(changesOf(entries), []);
});

test("a digest depends on the key, so that values cannot be guessed from it", async () => {
  const digestWith = async (seed: Buffer): Promise<unknown> => {
    const [entry] = await start([{ secret: "guessable" }], seed);
    return Object(entry?.detail).settings;
  };
  assert.notEqual(await digestWith(Buffer.alloc(32, 1)), await digestWith(Buffer.alloc(32, 2)));
});

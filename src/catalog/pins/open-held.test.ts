/** Finding the withheld change of an accepted definition. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId, parseDigest, parseToolAddress } from "../../domain/index.ts";
import type { Digest } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import type { HeldRow, PinRow } from "../../store/index.ts";
import { findChange } from "./open-held.ts";
import { nameNamespaces } from "../name-tools.ts";

const certain = <Value>(value: Value | undefined): Value => value ?? assert.fail();
const digest = (digit: string): Digest => certain(parseDigest(`sha256:${digit.repeat(64)}`));

function held(server: string, remoteName: string, digit: string): HeldRow {
  const connector = certain(parseConnectorId(server));
  return { connector, remoteName, digest: digest(digit), definition: "{}", seenAt: 7 };
}

function pinned(server: string, remoteName: string, digit: string): PinRow {
  const { seenAt: pinnedAt, ...row } = held(server, remoteName, digit);
  return { ...row, pinnedAt, pinnedBy: "gateway" };
}

const openMemory = () => openStore({ path: ":memory:", now: () => 0 });
const askedAbout = (tool: string) => ({ tool: certain(parseToolAddress(tool)), definition: digest("a") });

test("findChange returns the withheld change of a definition, and nothing for others", async () => {
  await using store = await openMemory();
  const row = held("shop", "pay", "b");
  await store.pins.claim([pinned("shop", "pay", "a"), pinned("shop", "list", "c")]);
  assert.equal(await findChange(store.pins, askedAbout("shop.pay")), undefined);
  await store.pins.replaceHeld(row.connector, [held("shop", "list", "d"), held("shop", "new", "e")]);
  assert.equal(await findChange(store.pins, askedAbout("shop.pay")), undefined);
  await store.pins.replaceHeld(row.connector, [held("shop", "list", "d"), row]);
  const change = { server: row.connector, definition: row.digest, seenAt: 7 };
  assert.deepEqual(await findChange(store.pins, askedAbout("shop.pay")), change);
  await store.pins.approve([pinned("shop", "pay", "b")]);
  assert.equal(await findChange(store.pins, askedAbout("shop.pay")), undefined);
});

test("findChange uses the address to choose between servers with equal definitions and similar names", async () => {
  await using store = await openMemory();
  const servers = ["My Shop", "my-shop", "other"];
  const namespaces = nameNamespaces(servers);
  await store.pins.claim(servers.map((server) => pinned(server, "pay", "a")));
  const row = held("my-shop", "pay", "b");
  await store.pins.replaceHeld(row.connector, [row]);
  const found = await Promise.all(
    servers.map((server) => findChange(store.pins, askedAbout(`${namespaces.get(server)}.pay`))),
  );
  assert.deepEqual(
    found.map((change) => change?.server),
    [undefined, "my-shop", undefined],
  );
});

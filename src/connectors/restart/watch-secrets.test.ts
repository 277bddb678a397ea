/** Upstreams are restarted when a lent secret changes: real servers, a real vault, and no other upstream restarted. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { name, setUp } from "../../vault/fixtures/set-up.ts";
import { Secret } from "../../vault/index.ts";
import type { Vault } from "../../vault/index.ts";

import { child, connect } from "../mcp/fixtures/connect.ts";
import { createLoanBook, watchSecrets } from "./watch-secrets.ts";
import type { BorrowingUpstream } from "./watch-secrets.ts";

const SERVER = fileURLToPath(new URL("../mcp/fixtures/hostile-server.mjs", import.meta.url));
const EVERY_MS = 10;

interface Rig extends BorrowingUpstream {
  /** The values that it was started with, one for each start. */
  readonly started: readonly string[];
}

/** A server that is lent one secret when it starts; `hold` delays the start after that. */
function borrow(vault: Vault, secret: string, hold: () => Promise<void> = async () => undefined): Rig {
  const loans = createLoanBook(vault);
  const started: string[] = [];
  const resolveEnv = async (): Promise<Record<string, string>> => {
    started.push((await loans.lend(name(secret), "test")).reveal());
    await hold();
    return {};
  };
  const onState = (state: string): void => void (state === "connecting" && loans.clear());
  return { connector: connect({ ...child(SERVER, "plain"), resolveEnv }, { onState }), loans, started };
}

function watch(vault: Vault, ...borrowers: readonly BorrowingUpstream[]): AsyncDisposable {
  return watchSecrets({ borrowers, list: () => vault.list(), everyMs: EVERY_MS });
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let left = 1000; !isTrue(); left -= 1) {
    assert.ok(left > 0, `It did not become true: ${isTrue.toString()}`);
    await wait(EVERY_MS);
  }
}

const looks = (): Promise<void> => wait(10 * EVERY_MS);

test("an upstream is restarted once when its secret changes, and one with other secrets is not", async () => {
  await using fixture = await setUp();
  const { vault } = fixture;
  for (const secret of ["A", "B"]) await vault.set(name(secret), new Secret(`${secret}1`), "ada");
  const [a, b] = [borrow(vault, "A"), borrow(vault, "B")];
  await using _a = a.connector;
  await using _b = b.connector;
  await Promise.all([a.connector.tools(), b.connector.tools()]);
  await using _watch = watch(vault, a, b);
  await looks();
  assert.deepEqual([a.connector.status().state, b.connector.status().state], ["ready", "ready"]);
  let notices = 0;
  a.connector.onToolsChanged(() => (notices += 1));
  await vault.set(name("A"), new Secret("A2"), "ada");
  await until(() => a.connector.status().state === "idle");
  await looks();
  assert.equal(notices, 1);
  await a.connector.tools();
  await looks();
  assert.deepEqual([a.started, b.started], [["A1", "A2"], ["B1"]]);
  assert.deepEqual([a.connector.status().state, b.connector.status().state], ["ready", "ready"]);
});

test("an upstream loses a removed secret, and one that lacked it starts when it is set", async () => {
  await using fixture = await setUp();
  const { vault } = fixture;
  await vault.set(name("A"), new Secret("1"), "ada");
  const a = borrow(vault, "A");
  await using _a = a.connector;
  await a.connector.tools();
  await using _watch = watch(vault, a);
  await vault.remove(name("A"), "ada");
  await until(() => a.connector.status().state === "idle");
  await assert.rejects(a.connector.tools(), { code: "VAULT_SECRET_MISSING" });
  assert.equal(a.connector.status().state, "failed");
  await looks();
  assert.equal(a.connector.status().state, "failed");
  await vault.set(name("A"), new Secret("2"), "ada");
  await until(() => a.connector.status().state === "idle");
  await a.connector.tools();
  assert.deepEqual(a.started, ["1", "2"]);
});

test("a change while an upstream is starting restarts it afterwards", async () => {
  await using fixture = await setUp();
  const { vault } = fixture;
  await vault.set(name("A"), new Secret("1"), "ada");
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  const a = borrow(vault, "A", () => gate);
  await using _a = a.connector;
  await using _watch = watch(vault, a);
  const starting = a.connector.tools();
  await until(() => a.started.length === 1);
  await vault.set(name("A"), new Secret("2"), "ada");
  await looks();
  assert.equal(a.connector.status().state, "connecting");
  go();
  await starting;
  await until(() => a.connector.status().state === "idle");
  await a.connector.tools();
  assert.deepEqual(a.started, ["1", "2"]);
});

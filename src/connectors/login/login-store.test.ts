/** Logins in a real vault, and the lease that one process at a time holds. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";
import { setUp } from "../../vault/fixtures/set-up.ts";
import type { Fixture } from "../../vault/fixtures/set-up.ts";
import { createLease } from "./hold-lease.ts";
import type { Lease, LeasePlaces } from "./hold-lease.ts";
import { createLoginStore } from "./login-store.ts";
import type { Login, LoginStore } from "./login-store.ts";

const upstream = parseConnectorId("notes");
assert.ok(upstream);

const LOGIN: Login = {
  upstream,
  issuer: "https://issuer.example",
  resource: "https://notes.example/mcp",
  client: { id: "client-id", secret: new Secret("client-secret") },
  tokenEndpoint: { url: "https://issuer.example/token", authMethods: undefined },
  access: new Secret("access-token"),
  refresh: new Secret("refresh-token"),
};

let holders = 0;
const leaseOf = (places: LeasePlaces, now: () => number = Date.now): Lease =>
  createLease({ places, now, createHolder: () => `holder-${(holders += 1)}` });

function open({ store, vault }: Fixture, onToken: (token: Secret) => void = () => undefined): LoginStore {
  return createLoginStore({ values: store.meta, vault, holdLease: leaseOf(store.quotas), onToken });
}

test("a stored login is found again, by another process too", async () => {
  await using fixture = await setUp();
  await open(fixture).keep(LOGIN, "operator");
  const found = await open(fixture).find(upstream);
  assert.equal(found?.access.reveal(), "access-token");
  assert.equal(found?.refresh?.reveal(), "refresh-token");
  assert.equal(found?.issuer, LOGIN.issuer);
});

test("every token that is stored or read is reported for masking", async () => {
  await using fixture = await setUp();
  const stored: string[] = [];
  await open(fixture, (token) => stored.push(token.reveal())).keep(LOGIN, "operator");
  assert.deepEqual(stored, ["access-token", "refresh-token", "client-secret"]);
  const read: string[] = [];
  await open(fixture, (token) => read.push(token.reveal())).find(upstream);
  assert.deepEqual(read, stored);
});

test("an upstream without a login has none to find or drop", async () => {
  await using fixture = await setUp();
  const logins = open(fixture);
  assert.equal(await logins.find(upstream), undefined);
  assert.equal(await logins.drop(upstream, "operator"), false);
});

test("a dropped login is gone from the vault and from the values beside it", async () => {
  await using fixture = await setUp();
  const logins = open(fixture);
  await logins.keep(LOGIN, "operator");
  assert.equal(await logins.drop(upstream, "operator"), true);
  assert.equal(await logins.find(upstream), undefined);
  assert.deepEqual(await fixture.vault.list(), []);
  assert.equal(await fixture.store.meta.get("login:notes"), undefined);
});

test("a login whose secret was removed counts as missing", async () => {
  await using fixture = await setUp();
  const logins = open(fixture);
  await logins.keep(LOGIN, "operator");
  const [secret] = await fixture.vault.list();
  assert.ok(secret);
  await fixture.vault.remove(secret.name, "operator");
  assert.equal(await logins.find(upstream), undefined);
});

test("a login that is filed under another issuer does not open", async () => {
  await using fixture = await setUp();
  const logins = open(fixture);
  await logins.keep(LOGIN, "operator");
  const key = { issuer: "https://other.example", resource: LOGIN.resource };
  await fixture.store.meta.set("login:notes", JSON.stringify(key));
  assert.equal(await logins.find(upstream), undefined);
});

test("two processes never work on one login at once, and each gets its turn", async () => {
  await using fixture = await setUp();
  const [first, second] = [open(fixture), open(fixture)];
  const steps: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    steps.push(`${name} begins`);
    await new Promise((done) => setTimeout(done, 20));
    steps.push(`${name} ends`);
  };
  await Promise.all([first.alone(upstream, work("first")), second.alone(upstream, work("second"))]);
  assert.deepEqual(steps, ["first begins", "first ends", "second begins", "second ends"]);
});

test("the lease is given back when the work fails", async () => {
  await using fixture = await setUp();
  const logins = open(fixture);
  await assert.rejects(
    logins.alone(upstream, () => Promise.reject(new TypeError("no"))),
    /no/,
  );
  assert.equal(await logins.alone(upstream, async () => "again"), "again");
});

test("a lease that is never free ends with LIMIT_BUSY", async () => {
  let now = 0;
  const places: LeasePlaces = {
    take: async () => {
      now += 40_000;
      return { kind: "full" };
    },
    giveBack: async () => assert.fail("nothing was taken"),
  };
  const hold = leaseOf(places, () => now);
  await assert.rejects(
    hold("login:notes", async () => undefined),
    { code: "LIMIT_BUSY" },
  );
});

/** The conformance suite of `Store["identity"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId, parseDigest, parsePrincipalId } from "../domain/index.ts";
import type { PrincipalId } from "../domain/index.ts";
import type { CodeRow, PersonRow, SessionRow, TokenRow } from "./identity.ts";
import type { OpenStore } from "./store.conformance.ts";
import { sampleOpening } from "./fixtures/sample-opening.ts";

const ADA = known(parsePrincipalId("person:ada"));
const OPERATOR = known(parsePrincipalId("operator"));
const BOB = known(parsePrincipalId("person:bob"));
const SHAPE = {
  connector: known(parseConnectorId("files")),
  remoteName: "list",
  definition: known(parseDigest(`sha256:${"b".repeat(64)}`)),
  shape: "{}",
  samples: 1,
  changedAt: 1,
};
const ENDING = { at: 9, by: "operator" };

function person(name: string, ...roles: readonly string[]): PersonRow {
  return { name, roles, createdAt: 1, createdBy: "operator" };
}

function token(id: string, name: string, more: Partial<TokenRow> = {}): TokenRow {
  const digest = new Uint8Array(Buffer.from(id));
  const who = { kind: "agent", person: ADA, createdAt: 1, createdBy: "operator" } as const;
  return { id, name, digest, ...who, scopes: ["execute", "search"], ...more };
}

function session(id: string, principal: PrincipalId, expiresAt: number): SessionRow {
  const digest = new Uint8Array(Buffer.from(id));
  return { id, digest, principal, createdAt: 1, authenticatedAt: 1, expiresAt, origin: "127.0.0.1" };
}

export function describeIdentity(open: OpenStore): void {
  describePeople(open);
  describeProviderLogins(open);
  describePasskeys(open);
  describeTokens(open);
  describeSessions(open);
  describeOauth(open);
}

function describePeople(open: OpenStore): void {
  test("people are added once, listed by name, and the last operator stays", async () => {
    await using store = await open();
    const { identity } = store;
    assert.equal(await identity.addPerson(person("bob", "reviewer")), true);
    assert.equal(await identity.addPerson(person("ada", "operator")), true);
    assert.equal(await identity.addPerson(person("ada", "agent")), false);
    assert.deepEqual(await identity.listPeople(), [person("ada", "operator"), person("bob", "reviewer")]);
    assert.equal(await identity.removePerson("ada", ENDING), "last");
    assert.equal(await identity.setRoles("ada", ["agent"]), "last");
    assert.equal(await identity.setRoles("bob", ["operator", "reviewer"]), "changed");
    assert.deepEqual(await identity.removePerson("ada", ENDING), { tokens: [], sessions: [] });
    assert.equal(await identity.removePerson("ada", ENDING), "unknown");
    assert.equal(await identity.setRoles("ada", ["agent"]), "unknown");
    assert.deepEqual(await identity.findPerson("bob"), person("bob", "operator", "reviewer"));
  });

  test("a password belongs to a person of the list and ends with the person", async () => {
    await using store = await open();
    const { identity } = store;
    const row = { principal: ADA, verifier: "scrypt$…", setAt: 3 };
    const code: CodeRow = { digest: new Uint8Array([9]), purpose: "invite", principal: ADA, expiresAt: 10 };
    assert.equal(await identity.setPassword(row), false);
    await identity.addPerson(person("ada", "reviewer"));
    assert.equal(await identity.setPassword(row), true);
    assert.equal(await identity.setPassword({ ...row, setAt: 4 }), true);
    assert.deepEqual(await identity.findPassword(ADA), { ...row, setAt: 4 });
    assert.equal(await identity.findPassword(BOB), undefined);
    for (const end of [() => identity.removePerson("ada", ENDING), () => identity.endCredentials("ada", ENDING)]) {
      await identity.addCode(code, 0);
      await end();
      assert.equal(await identity.findPassword(ADA), undefined);
      assert.equal(await identity.takeCode(code.digest, "invite", 1), undefined);
      await identity.addPerson(person("ada", "reviewer"));
      assert.equal(await identity.setPassword(row), true);
    }
    await identity.addCode(code, 0);
    await identity.removeCodes(ADA, "open");
    assert.deepEqual(await identity.takeCode(code.digest, "invite", 1), code);
  });

  test("all records of a principal are handed over, and those of others are not", async () => {
    await using store = await open();
    const [mine, other] = [sampleOpening(1), { ...sampleOpening(2), principal: BOB }];
    await store.executions.open(mine);
    await store.executions.open(other);
    await store.labels.put({ principal: mine.principal, sources: [], takenAt: 5 });
    const learned = { ...SHAPE, owner: OPERATOR };
    await store.shapes.put(learned);
    const handOver = () => store.identity.handOver({ id: mine.principal, person: OPERATOR }, { id: ADA, person: ADA });
    assert.equal(await handOver(), 1);
    assert.deepEqual(await store.shapes.list(), [learned, { ...learned, owner: ADA }]);
    assert.equal((await store.executions.find(mine.id))?.principal, ADA);
    assert.equal((await store.executions.find(other.id))?.principal, BOB);
    assert.deepEqual(
      (await store.labels.list(0)).map(({ principal }) => principal),
      [ADA],
    );
    assert.equal(await handOver(), 0);
  });
}

function describeProviderLogins(open: OpenStore): void {
  test("a provider login is of one person, whose roles it sets, and who does not come back after a removal", async () => {
    await using store = await open();
    const { identity } = store;
    const login = { issuer: "https://login.example", subject: "17", person: "ada", createdAt: 1, lastLoginAt: 1 };
    const ada = { ...person("ada", "operator"), createdBy: login.issuer };
    assert.deepEqual(await identity.admitProviderLogin(login, ["operator"]), ada);
    const renamed = { ...login, person: "renamed", lastLoginAt: 5 };
    assert.deepEqual(await identity.admitProviderLogin(renamed, []), { ...ada, roles: [] });
    assert.deepEqual(await identity.listProviderLogins(), [{ ...login, lastLoginAt: 5 }]);
    for (const other of [
      { ...login, subject: "18" },
      { ...login, issuer: "https://other.example" },
    ]) {
      assert.equal(await identity.admitProviderLogin(other, ["operator"]), "taken");
      assert.equal(await identity.findProviderLogin(other), undefined);
    }
    assert.deepEqual(await identity.findPerson("ada"), { ...ada, roles: [] });
    assert.equal((await identity.findProviderLogin({ person: "ada" }))?.subject, "17");
    await identity.removePerson("ada", { at: 1, by: "x" });
    assert.equal(await identity.admitProviderLogin(login, ["agent"]), "taken", "who was removed stays out");
    await identity.addPerson(person("ada", "agent"));
    assert.deepEqual(await identity.admitProviderLogin(login, ["reviewer"]), person("ada", "reviewer"));
    await identity.removeProviderLogin("ada");
    assert.equal(await identity.findProviderLogin(login), undefined);
    assert.equal(await identity.admitProviderLogin(login, ["reviewer"]), "taken", "it is a local person now");
  });
}

function describePasskeys(open: OpenStore): void {
  test("a passkey belongs to a person of the list, counts its uses, and ends with the person", async () => {
    await using store = await open();
    const { identity } = store;
    const key = { id: "k1", principal: ADA, publicKey: new Uint8Array([1, 2]), counter: 0, label: "laptop" };
    const row = { ...key, transports: ["internal"], createdAt: 5 };
    assert.equal(await identity.addPasskey(row), false);
    await identity.addPerson(person("ada", "reviewer"));
    assert.equal(await identity.addPasskey(row), true);
    assert.equal(await identity.addPasskey({ ...row, label: "another" }), false);
    const uses = [0, 0, 3, 3, 2, 0, 4];
    const noted: boolean[] = [];
    for (const counter of uses) noted.push(await identity.notePasskeyUse("k1", { counter, at: 9 }));
    assert.deepEqual(noted, [true, true, true, false, false, false, true]);
    assert.equal(await identity.notePasskeyUse("k2", { counter: 1, at: 9 }), false);
    const used = { ...row, counter: 4, lastUsedAt: 9 };
    assert.deepEqual([await identity.findPasskey("k1"), await identity.listPasskeys()], [used, [used]]);
    assert.deepEqual([await identity.removePasskey("k1"), await identity.removePasskey("k1")], [used, undefined]);
    const how = { at: 1, by: "x" };
    for (const end of [() => identity.removePerson("ada", how), () => identity.endCredentials("ada", how)]) {
      assert.equal(await identity.addPasskey(row), true);
      await end();
      assert.deepEqual(await identity.listPasskeys(), []);
      await identity.addPerson(person("ada", "reviewer"));
    }
  });
}

function describeTokens(open: OpenStore): void {
  test("a token is found by its digest, and its name is never taken by another", async () => {
    await using store = await open();
    const { identity } = store;
    const narrow = { servers: ["files"], tools: ["files.*"], executionsPerMinute: 5, profile: "p" };
    const whole = token("tk_1", "ci", { ...narrow, expiresAt: 9 });
    assert.deepEqual(await identity.addToken(whole, false), []);
    assert.deepEqual(await identity.findToken({ digest: whole.digest }), whole);
    assert.deepEqual(await identity.findToken({ name: "CI" }), whole);
    assert.equal(await identity.findToken({ digest: new Uint8Array([1]) }), undefined);
    assert.equal(await identity.addToken(token("tk_2", "CI"), false), undefined);
    const revoked = await identity.revokeToken("tk_1", { at: 5, by: "operator" });
    assert.deepEqual(revoked, { ...whole, revokedAt: 5, revokedBy: "operator" });
    assert.equal(await identity.revokeToken("tk_1", { at: 6, by: "operator" }), undefined);
    assert.equal(await identity.addToken(token("tk_2", "ci"), false), undefined);
    assert.deepEqual(await identity.addToken(token("tk_3", "ci", { createdAt: 7 }), true), []);
    const replaced = await identity.addToken(token("tk_4", "ci", { createdAt: 8 }), true);
    assert.deepEqual(
      replaced?.map(({ id, revokedAt }) => [id, revokedAt]),
      [["tk_3", 8]],
    );
    assert.equal((await identity.findToken({ name: "ci" }))?.id, "tk_4");
  });

  test("the credentials of a person end together, those of others stay, and the last use never goes back", async () => {
    await using store = await open();
    const { identity } = store;
    await identity.addToken(token("tk_1", "one"), false);
    await identity.addToken(token("tk_2", "two", { createdAt: 2 }), false);
    await identity.addToken(token("tk_3", "three", { person: BOB, createdAt: 3 }), false);
    await identity.noteTokenUse("tk_1", 8);
    await identity.noteTokenUse("tk_1", 7);
    for (const one of [session("se_1", ADA, 10), session("se_2", BOB, 10)]) await identity.addSession(one);
    const record = (byte: number, name: string) =>
      identity.putOauthRecord(
        { digest: new Uint8Array([byte]), model: "Grant", sealed: new Uint8Array(1), person: name },
        0,
      );
    await Promise.all([record(1, "ada"), record(2, "bob")]);
    const { tokens, sessions } = await identity.endCredentials("ada", { at: 9, by: "x" });
    assert.deepEqual([...tokens, ...sessions].map(({ id }) => id).toSorted(), ["se_1", "tk_1", "tk_2"]);
    assert.deepEqual(
      (await identity.listSessions(0)).map(({ id }) => id),
      ["se_2"],
    );
    assert.deepEqual(
      await Promise.all(["ada", "bob"].map(async (name) => (await identity.listOauthRecords("Grant", 5, name)).length)),
      [0, 1],
    );
    const listed = await identity.listTokens();
    assert.deepEqual(
      listed.map(({ id, revokedAt, lastUsedAt }) => [id, revokedAt, lastUsedAt]),
      [
        ["tk_3", undefined, undefined],
        ["tk_2", 9, undefined],
        ["tk_1", 9, 8],
      ],
    );
  });
}

function describeSessions(open: OpenStore): void {
  test("a session is found until it expires or ends", async () => {
    await using store = await open();
    const { identity } = store;
    const rows = [session("se_1", ADA, 10), session("se_2", ADA, 20), session("se_3", BOB, 20)] as const;
    for (const row of rows) await identity.addSession(row);
    assert.deepEqual(await identity.findSession({ digest: rows[0].digest }, 9), rows[0]);
    assert.equal(await identity.findSession({ digest: rows[0].digest }, 10), undefined);
    assert.deepEqual(await identity.findSession({ id: "se_1" }, 9), rows[0]);
    assert.equal(await identity.findSession({ id: "se_1" }, 10), undefined);
    assert.deepEqual(await identity.listSessions(10), [rows[2], rows[1]]);
    assert.deepEqual(await identity.endSessions({ id: "se_2" }), [rows[1]]);
    assert.deepEqual(await identity.endSessions({ principal: ADA }), []);
    assert.deepEqual(await identity.endSessions("all"), [rows[2]]);
    assert.deepEqual(await identity.listSessions(0), []);
  });

  test("a code is taken once, in time and for its purpose", async () => {
    await using store = await open();
    const { identity } = store;
    const digest = new Uint8Array([7]);
    const code: CodeRow = { digest, purpose: "open", principal: ADA, expiresAt: 10 };
    await identity.addCode(code, 0);
    assert.equal(await identity.takeCode(digest, "invite", 5), undefined);
    const taken = await Promise.all([identity.takeCode(digest, "open", 9), identity.takeCode(digest, "open", 9)]);
    assert.deepEqual(taken, [code, undefined]);
    await identity.addCode(code, 0);
    assert.equal(await identity.takeCode(digest, "open", 10), undefined);
    await identity.addCode({ ...code, digest: new Uint8Array([8]) }, 10);
    await identity.addCode(code, 11); // the first one has expired, so its digest is free
  });
}

function describeOauth(open: OpenStore): void {
  test("a record of the authorization server is consumed once, listed by its person and removed with its grant", async () => {
    await using store = await open();
    const { identity } = store;
    const [one, two, grant, uid] = [1, 2, 3, 4].map((byte) => new Uint8Array([byte]));
    const [digest, other] = [known(one), known(two)];
    const row = { digest, model: "AccessToken", sealed: new Uint8Array([9]), person: "ada" };
    await identity.putOauthRecord({ ...row, expiresAt: 10, grantDigest: known(grant), uidDigest: known(uid) }, 0);
    assert.equal((await identity.findOauthRecord({ digest }, 9))?.person, "ada");
    assert.equal((await identity.findOauthRecord({ uid: known(uid) }, 9))?.model, "AccessToken");
    assert.equal(await identity.findOauthRecord({ digest, granted: true }, 4), undefined);
    await identity.putOauthRecord({ digest: known(grant), model: "Grant", sealed: new Uint8Array(1), expiresAt: 5 }, 0);
    assert.deepEqual((await identity.findOauthRecord({ digest, granted: true }, 4))?.digest, digest);
    assert.equal(await identity.findOauthRecord({ digest, granted: true }, 5), undefined);
    assert.equal(await identity.findOauthRecord({ digest }, 10), undefined);
    assert.deepEqual(
      await Promise.all([identity.consumeOauthRecord(digest, 5), identity.consumeOauthRecord(digest, 5)]),
      [true, false],
    );
    await identity.putOauthRecord({ ...row, digest: other }, 0);
    assert.equal(await identity.removeOauthRecords({ grant: known(grant) }), 1);
    assert.ok(await identity.findOauthRecord({ digest: other }, 99));
    const counts = ["AccessToken", "Client"].map((model) => identity.countOauthRecords(model, 99));
    assert.deepEqual(await Promise.all(counts), [1, 0]);
    assert.deepEqual(
      (await identity.listOauthRecords("AccessToken", 99, "ada")).map((found) => found.digest),
      [other],
    );
    assert.deepEqual(await identity.listOauthRecords("Grant", 99, "ada"), []);
    assert.equal((await identity.listOauthRecords("AccessToken", 99)).length, 1);
    assert.deepEqual(await identity.listOauthRecords("AccessToken", 99, "bob"), []);
    assert.equal(await identity.removeOauthRecords({ digest: other }), 1);
    await identity.putOauthRecord({ ...row, grantDigest: other }, 0);
    await identity.putOauthRecord({ ...row, digest: other, model: "Grant" }, 0);
    assert.equal(await identity.removeOauthRecords({ login: other }), 2);
    assert.equal(await identity.removeOauthRecords({ digest: other }), 0);
  });
}

function known<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

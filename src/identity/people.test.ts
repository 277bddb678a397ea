/** People, their sessions and one-time codes, and the principals that stored names stand for. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parsePrincipalId } from "../domain/index.ts";
import type { PrincipalId } from "../domain/index.ts";
import { openTestIdentity } from "./fixtures/open-test-identity.ts";
import { LOCAL, OPERATOR, toPerson } from "./principals.ts";

const HERE = "127.0.0.1";
const NO_ROLE = { ...OPERATOR, roles: [] };

test("only an operator changes people, and a role never implies another", async () => {
  await using room = await openTestIdentity();
  const { people, resolve } = room.identity;
  const ada = await people.add("ada", ["reviewer"], OPERATOR);
  assert.deepEqual(ada.roles, ["reviewer"]);
  for (const by of [LOCAL, NO_ROLE, toPerson(ada)])
    await assert.rejects(people.add("eve", ["operator"], by), { code: "POLICY_DENIED" });
  await assert.rejects(people.add("ada", ["agent"], OPERATOR), { code: "REQUEST_CONFLICT" });
  for (const [name, roles] of [
    ["Ada", ["agent"]],
    ["a/b", ["agent"]],
    ["bob", []],
    ["bob", ["root"]],
  ] as const)
    await assert.rejects(people.add(name, roles, OPERATOR), { code: "REQUEST_INVALID" });
  await people.setRoles("ada", ["operator", "agent"], OPERATOR);
  assert.deepEqual((await resolve(id("person:ada")))?.roles, ["agent", "operator"]);
});

test("the last operator cannot be removed or lose the role, and another can", async () => {
  await using room = await openTestIdentity();
  const { people } = room.identity;
  await people.add("ada", ["operator"], OPERATOR);
  await assert.rejects(people.remove("ada", OPERATOR), { code: "REQUEST_CONFLICT" });
  await assert.rejects(people.setRoles("ada", ["agent"], OPERATOR), { code: "REQUEST_CONFLICT" });
  await people.add("bob", ["operator"], OPERATOR);
  await people.remove("ada", OPERATOR);
  assert.deepEqual(
    (await people.list()).map(({ name }) => name),
    ["bob"],
  );
});

test("removing a person ends their sessions and tokens, and what is stored of them has no principal", async () => {
  await using room = await openTestIdentity();
  const { people, tokens, sessions, resolve } = room.identity;
  const ada = toPerson(await people.add("ada", ["agent"], OPERATOR));
  await people.add("bob", ["operator"], OPERATOR);
  const { token } = await tokens.create({ name: "hers", scopes: ["execute"], person: ada.id }, OPERATOR);
  const { secret } = await sessions.open(ada, HERE);
  assert.ok(await tokens.verify(token, HERE));
  assert.equal((await sessions.find(secret, HERE))?.principal.id, ada.id);
  assert.equal((await resolve(id("agent:ada/editor")))?.person, ada.id);
  await people.remove("ada", OPERATOR);
  assert.equal(await tokens.verify(token, HERE), undefined);
  assert.equal(await sessions.find(secret, HERE), undefined);
  for (const gone of ["person:ada", "agent:ada/editor", "token:hers"]) assert.equal(await resolve(id(gone)), undefined);
});

test("a process that ends during a removal leaves the person whole or without any valid credential", async () => {
  for (const killedAt of ["person.removed", "token.revoked", "session.ended"]) {
    await using room = await openTestIdentity();
    const { people, tokens, sessions } = room.identity;
    const ada = toPerson(await people.add("ada", ["agent"], OPERATOR));
    const { token } = await tokens.create({ name: "hers", scopes: ["execute"], person: ada.id }, OPERATOR);
    const { secret } = await sessions.open(ada, HERE);
    const push = room.records.push.bind(room.records);
    room.records.push = (entry) => {
      if (entry?.action === killedAt) throw new Error("killed");
      return entry ? push(entry) : room.records.length;
    };
    await assert.rejects(people.remove("ada", OPERATOR), /killed/);
    room.records.push = push;
    const isWhole = killedAt === "person.removed";
    assert.equal((await tokens.verify(token, HERE)) !== undefined, isWhole, killedAt);
    assert.equal((await sessions.find(secret, HERE)) !== undefined, isWhole, killedAt);
    assert.equal((await people.list()).length, isWhole ? 1 : 0);
    assert.equal(JSON.stringify(room.records).includes('"person.removed"'), !isWhole);
    if (isWhole) await people.remove("ada", OPERATOR);
    assert.equal(await tokens.verify(token, HERE), undefined);
  }
});

test("the name of a removed person is not given to another, because records and rules have it", async () => {
  await using room = await openTestIdentity();
  const { people, sessions } = room.identity;
  const ada = toPerson(await people.add("ada", ["agent"], OPERATOR));
  const { secret } = await sessions.open(ada, HERE);
  await people.remove("ada", OPERATOR);
  await assert.rejects(people.add("ada", ["agent"], OPERATOR), { code: "REQUEST_CONFLICT" });
  await people.add("bob", ["agent"], OPERATOR);
  await people.add("ada", ["reviewer"], OPERATOR, { isAgain: true });
  assert.equal(await sessions.find(secret, HERE), undefined);
  assert.deepEqual(
    (await people.list()).map(({ name }) => name),
    ["ada", "bob"],
  );
});

test("a token acts for its person only while the person may have agents, and a service only while there is one", async () => {
  await using room = await openTestIdentity();
  const { people, tokens, resolve } = room.identity;
  const ada = toPerson(await people.add("ada", ["reviewer"], OPERATOR));
  const create = async (name: string, scope: string): Promise<string> =>
    (await tokens.create({ name, scopes: [scope], person: ada.id }, OPERATOR)).token;
  await assert.rejects(create("early", "execute"), { code: "REQUEST_FORBIDDEN" });
  const archive = await create("archive", "ledger:read");
  await people.setRoles("ada", ["agent"], OPERATOR);
  const editor = await create("editor", "execute");
  const areValid = async () => {
    const found = [await tokens.verify(editor, HERE), await tokens.verify(archive, HERE)];
    return [...found, await resolve(id("token:editor")), await resolve(id("token:archive"))].map(Boolean);
  };
  assert.deepEqual(await areValid(), [true, true, true, true]);
  await people.setRoles("ada", ["operator"], OPERATOR);
  assert.deepEqual(await areValid(), [false, true, false, true]);
  const refused = room.records.findLast(({ action }) => action === "token.refused");
  assert.match(JSON.stringify(refused), /of a person for whom no agent may act/);
  await people.setRoles("ada", ["agent", "operator"], OPERATOR);
  assert.deepEqual(await areValid(), [true, true, true, true]);
  // As written by a process that created it while another removed the person.
  await people.add("bob", ["operator"], OPERATOR);
  await people.remove("ada", OPERATOR);
  const row = (await room.store.identity.listTokens()).find(({ name }) => name === "archive");
  assert.ok(row);
  const { revokedAt: _, revokedBy: __, ...valid } = row;
  await room.store.identity.addToken({ ...valid, id: "tk_late", digest: new Uint8Array([1]), name: "late" }, false);
  assert.equal(await resolve(id("token:late")), undefined);
});

test("local clients act for the person who adopted them, and rules that name local still mean them", async () => {
  await using room = await openTestIdentity();
  const { people, local, resolve, personOf } = room.identity;
  assert.equal(await local(), LOCAL);
  assert.deepEqual([await personOf(LOCAL.id), await personOf(OPERATOR.id)], ["operator", "operator"]);
  await assert.rejects(people.adopt("ada", OPERATOR), { code: "REQUEST_NOT_FOUND" });
  await people.add("ada", ["agent"], OPERATOR);
  await people.add("bob", ["agent"], OPERATOR);
  const { principal } = await people.adopt("ada", OPERATOR);
  assert.deepEqual(
    [principal.id, principal.person, principal.aliases],
    ["agent:ada/local", "person:ada", ["local", "person:ada"]],
  );
  assert.deepEqual([await local(), await resolve(principal.id)], [principal, principal]);
  await assert.rejects(people.adopt("bob", OPERATOR), { code: "REQUEST_CONFLICT" });
  await people.adopt("ada", OPERATOR);
  // At the command line of this machine decides the same person.
  for (const one of [principal.id, OPERATOR.id, LOCAL.id, toPerson({ name: "ada", roles: [] }).id])
    assert.equal(await personOf(one), "person:ada", one);
  assert.equal(await personOf(toPerson({ name: "bob", roles: [] }).id), "person:bob");
  assert.equal(await personOf(toPerson({ name: "eve", roles: [] }).id), undefined);
});

test("a locked-out operator is reset by the local user only, and the record names both", async () => {
  await using room = await openTestIdentity();
  const { people, sessions } = room.identity;
  const ada = toPerson(await people.add("ada", ["operator"], OPERATOR));
  await people.add("bob", ["agent"], OPERATOR);
  const { secret } = await sessions.open(ada, HERE);
  await assert.rejects(people.reset("bob", ada), { code: "POLICY_DENIED" });
  assert.deepEqual((await people.reset("bob", OPERATOR)).roles, ["agent", "operator"]);
  await people.reset("ada", OPERATOR);
  assert.equal(await sessions.find(secret, HERE), undefined);
  const resets = room.records.filter(({ action }) => action === "person.reset");
  assert.deepEqual(
    resets.map(({ actor, subject }) => [actor, subject]),
    [
      ["operator", "person:bob"],
      ["operator", "person:ada"],
    ],
  );
});

test("a one-time code opens one session within a minute, and is kept as a digest", async () => {
  await using room = await openTestIdentity();
  const { sessions } = room.identity;
  const code = await sessions.createCode(OPERATOR);
  const [first, second] = await Promise.all([sessions.redeem(code, HERE), sessions.redeem(code, HERE)]);
  assert.ok(first);
  assert.equal(second, undefined);
  assert.match(first.secret, /^[A-Za-z0-9_-]{43}$/);
  assert.equal((await sessions.find(first.secret, HERE))?.principal, OPERATOR);
  const late = await sessions.createCode(OPERATOR);
  const other = await sessions.createCode(OPERATOR, "invite");
  assert.equal(await sessions.redeem(other, HERE), undefined);
  room.clock.now += 60_000;
  assert.equal(await sessions.redeem(late, HERE), undefined);
  const written = JSON.stringify(room.records);
  for (const secret of [code, late, first.secret]) assert.equal(written.includes(secret), false);
});

test("a session outlives the process, ends when it is ended anywhere, and expires", async () => {
  await using room = await openTestIdentity();
  const { secret, id: session } = await room.identity.sessions.open(OPERATOR, HERE);
  const other = await room.open();
  assert.equal((await other.sessions.find(secret, HERE))?.id, session);
  assert.equal(await room.identity.sessions.end({ id: session }, OPERATOR), 1);
  assert.equal(await other.sessions.find(secret, HERE), undefined);
  const second = await other.sessions.open(OPERATOR, HERE);
  room.clock.now = second.expiresAt;
  assert.equal(await other.sessions.find(second.secret, HERE), undefined);
  assert.equal(await other.sessions.find("x", HERE), undefined);
});

function id(text: string): PrincipalId {
  const parsed = parsePrincipalId(text);
  assert.ok(parsed);
  return parsed;
}

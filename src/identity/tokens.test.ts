/** Tokens: their text, what they allow, and when they stop. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import { parsePrincipalId } from "../domain/index.ts";
import { openTestIdentity } from "./fixtures/open-test-identity.ts";
import { OPERATOR } from "./principals.ts";
import { createTokenText, isTokenText } from "./token-text.ts";

const HERE = "127.0.0.1";

test("a token has a fixed prefix, 256 random bits and a checksum that finds every changed character", () => {
  const token = createTokenText(randomBytes);
  assert.match(token, /^gbx_[0-9A-Za-z]{49}$/);
  assert.equal(isTokenText(token), true);
  for (let at = 4; at < token.length; at += 1) {
    const other = token[at] === "a" ? "b" : "a";
    assert.equal(isTokenText(`${token.slice(0, at)}${other}${token.slice(at + 1)}`), false, `character ${at}`);
  }
  for (const wrong of ["", "gbx_", token.slice(1), `${token}a`, token.toUpperCase(), ` ${token}`])
    assert.equal(isTokenText(wrong), false);
  assert.equal(isTokenText(createTokenText((count) => new Uint8Array(count))), true);
});

test("a token is verified as itself, with its scopes and limits, and the store has no text of it", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  const request = { name: "ci", scopes: ["search", "execute"], servers: ["files"], tools: ["files.read*"] };
  const { token, summary } = await tokens.create({ ...request, executionsPerMinute: 5 }, OPERATOR);
  assert.deepEqual(summary.scopes, ["execute", "search"]);
  const verified = await tokens.verify(token, HERE);
  assert.deepEqual(verified, {
    id: summary.id,
    scopes: ["execute", "search"],
    principal: {
      id: "token:ci",
      kind: "agent",
      roles: ["agent"],
      groups: [],
      person: "operator",
      access: { servers: ["files"], tools: ["files.read*"] },
      executionsPerMinute: 5,
    },
  });
  const stored = await room.store.identity.findToken({ name: "ci" });
  assert.equal(Buffer.from(stored?.digest ?? []).includes(token), false);
  assert.equal(JSON.stringify([room.records, await tokens.list()]).includes(token), false);
  assert.deepEqual(
    room.records.map(({ actor, action, subject }) => [actor, action, subject]),
    [["operator", "token.created", "token:ci"]],
  );
});

test("no comparison sees the text of a token: similar ones have digests that share nothing", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  const seen: Buffer[] = [];
  const find = room.store.identity.findToken.bind(room.store.identity);
  room.store.identity.findToken = (by) => {
    if ("digest" in by) seen.push(Buffer.from(by.digest));
    return find(by);
  };
  const { token } = await tokens.create({ name: "ci", scopes: ["search"] }, OPERATOR);
  assert.ok(await tokens.verify(token, HERE));
  for (const last of [0, 1]) {
    const alike = createTokenText((count) => new Uint8Array(count).fill(1).fill(last, count - 1));
    assert.equal(await tokens.verify(alike, HERE), undefined);
  }
  const [own, ...others] = seen;
  assert.ok(own);
  assert.deepEqual([own.length, others.length, own.includes(token)], [32, 2, false]);
  const [first = [], second = []] = others;
  const same = [...first].filter((byte, at) => byte === second[at]).length;
  assert.ok(same < 8, `${same} bytes are the same`);
});

test("a token for reads is limited to reads, and one without agent scopes belongs to a service", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  const create = async (name: string, ...scopes: string[]) =>
    (await tokens.verify((await tokens.create({ name, scopes }, OPERATOR)).token, HERE))?.principal;
  assert.deepEqual((await create("reads", "execute:read"))?.access, { effects: ["read"] });
  assert.equal((await create("both", "execute", "execute:read"))?.access, undefined);
  const service = await create("scraper", "metrics:read");
  assert.deepEqual([service?.kind, service?.roles], ["service", undefined]);
});

test("a token with a profile has what both allow, and nothing once the configuration lacks the profile", async () => {
  const profiles = new Map<string, object>([
    ["both", { servers: ["files", "mail"], tools: ["*.read*"], effects: ["read", "write"], executionsPerMinute: 9 }],
    ["tools", { tools: ["files.*"] }],
    ["nothing", {}],
  ]);
  await using room = await openTestIdentity(undefined, undefined, profiles);
  const { tokens } = room.identity;
  const create = async (name: string, more: object) => {
    const made = await tokens.create({ name, scopes: ["execute"], ...more }, OPERATOR);
    const find = async () => (await tokens.verify(made.token, HERE))?.principal;
    return { ...made, find, principal: await find() };
  };
  const own = { servers: ["files", "git"], tools: ["files.readFile"], executionsPerMinute: 20 };
  const whole = await create("whole", { profile: "both", ...own });
  assert.deepEqual(whole.principal?.access, {
    servers: ["files"],
    tools: ["files.readFile"],
    profileTools: ["*.read*"],
    effects: ["read", "write"],
  });
  assert.equal(whole.principal.executionsPerMinute, 9);
  assert.deepEqual(whole.reach.can, [
    "call tools that match files.readFile and also *.read* with the effects read, write of the servers files, as far as the rules allow",
    "start at most 9 executions in a minute",
    "reach more if the profile both gets more",
  ]);
  const plain = await create("plain", { profile: "both", executionsPerMinute: 3 });
  assert.deepEqual([plain.principal?.access?.servers, plain.principal?.executionsPerMinute], [["files", "mail"], 3]);
  assert.deepEqual((await create("tools", { profile: "tools" })).principal?.access, { profileTools: ["files.*"] });
  const reader = await create("reader", { profile: "both", scopes: ["execute:read"] });
  assert.deepEqual(reader.principal?.access?.effects, ["read"]);
  const empty = await create("empty", { profile: "nothing" });
  assert.deepEqual(empty.principal?.access, { servers: [] });
  assert.match(empty.reach.can.join(), /^call every tool of no server/);
  for (const profile of ["other", "", "__proto__"])
    await assert.rejects(tokens.create({ name: "wrong", scopes: ["execute"], profile }, OPERATOR), (thrown) => {
      assert.equal(Object(thrown).code, "REQUEST_NOT_FOUND");
      return /both, tools, nothing/.test(JSON.stringify(Object(thrown).details));
    });
  assert.deepEqual(tokens.profiles, ["both", "tools", "nothing"]);
  profiles.delete("both");
  assert.deepEqual((await whole.find())?.access, { servers: [], tools: ["files.readFile"] });
  assert.equal((await tokens.resolve("whole"))?.access?.servers?.length, 0);
});

test("unknown, mistyped, oversized, expired and revoked tokens are refused, and each refusal is recorded", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  const expiring = await tokens.create({ name: "brief", scopes: ["search"], expiresAt: 1_000_100 }, OPERATOR);
  const revoked = await tokens.create({ name: "gone", scopes: ["search"] }, OPERATOR);
  assert.ok(await tokens.verify(expiring.token, "a"));
  assert.ok(await tokens.verify(revoked.token, "a"));
  await tokens.revoke(revoked.summary.id, OPERATOR);
  room.clock.now = 1_000_100;
  room.records.length = 0;
  const wrong = [createTokenText(randomBytes), "gbx_x", "x".repeat(1_000_000), expiring.token, revoked.token];
  for (const [index, token] of wrong.entries()) assert.equal(await tokens.verify(token, `origin ${index}`), undefined);
  assert.deepEqual(
    room.records.map(({ actor, action, detail }) => [actor, action, detail]),
    [
      ["unknown", "token.refused", { reason: "unknown", origin: "origin 0", attempts: 1 }],
      ["unknown", "token.refused", { reason: "unknown", origin: "origin 1", attempts: 1 }],
      ["unknown", "token.refused", { reason: "unknown", origin: "origin 2", attempts: 1 }],
      ["token:brief", "token.refused", { reason: "expired", origin: "origin 3", attempts: 1, id: expiring.summary.id }],
      ["token:gone", "token.refused", { reason: "revoked", origin: "origin 4", attempts: 1, id: revoked.summary.id }],
    ],
  );
  await assert.rejects(tokens.revoke(revoked.summary.id, OPERATOR), { code: "REQUEST_NOT_FOUND" });
});

test("a flood of refusals writes a few records with the number of attempts", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  for (let attempt = 0; attempt < 100; attempt += 1) await tokens.verify("gbx_wrong", "1.2.3.4");
  const attempts = room.records.map(({ action, detail }) => [action, (detail as { attempts: number }).attempts]);
  const refused = [1, 2, 3, 10, 100].map((count) => ["token.refused", count]);
  assert.deepEqual(attempts, [...refused, ["anomaly.seen", 100]]);
  const { detail } = room.records.at(-1) ?? {};
  assert.deepEqual(detail, { kind: "bruteForce", origin: "1.2.3.4", attempts: 100, windowMs: 60_000 });
  room.clock.now += 60_000;
  for (let attempt = 0; attempt < 99; attempt += 1) await tokens.verify("gbx_wrong", "1.2.3.4");
  assert.equal(room.records.length, 10, "99 in a minute raise none");
});

test("a second room on the same store verifies the same token, and refuses it once it is revoked", async () => {
  await using room = await openTestIdentity();
  const { token, summary } = await room.identity.tokens.create({ name: "ci", scopes: ["search"] }, OPERATOR);
  const other = await room.open();
  assert.ok(await other.tokens.verify(token, HERE));
  await room.identity.tokens.revoke(summary.id, OPERATOR);
  assert.equal(await other.tokens.verify(token, HERE), undefined);
  assert.equal(await other.resolve(known(parsePrincipalId("token:ci"))), undefined);
});

test("a name is never taken by another token, unless it is replaced on purpose", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  const first = await tokens.create({ name: "ci", scopes: ["search"] }, OPERATOR);
  await assert.rejects(tokens.create({ name: "CI", scopes: ["search"] }, OPERATOR), { code: "REQUEST_CONFLICT" });
  await room.identity.people.add("bob", ["agent"], OPERATOR);
  const person = known(parsePrincipalId("person:bob"));
  const ofBob = tokens.create({ name: "ci", scopes: ["search"], person, replace: true }, OPERATOR);
  await assert.rejects(ofBob, { code: "REQUEST_CONFLICT" }, "what belongs to one person does not become another's");
  assert.ok(await tokens.verify(first.token, HERE));
  const second = await tokens.create({ name: "ci", scopes: ["search"], replace: true }, OPERATOR);
  assert.equal(await tokens.verify(first.token, HERE), undefined);
  assert.equal((await tokens.verify(second.token, HERE))?.principal.id, "token:ci");
});

test("a token that cannot be made is refused with the reason", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  const person = known(parsePrincipalId("person:ada"));
  for (const [request, code] of [
    [{ name: "a:b", scopes: ["search"] }, "REQUEST_INVALID"],
    [{ name: "x", scopes: [] }, "REQUEST_INVALID"],
    [{ name: "x", scopes: ["admin"] }, "REQUEST_INVALID"],
    [{ name: "x", scopes: ["search"], servers: [] }, "REQUEST_INVALID"],
    [{ name: "x", scopes: ["search"], expiresAt: 1_000_000 }, "REQUEST_INVALID"],
    [{ name: "x", scopes: ["search"], person }, "REQUEST_NOT_FOUND"],
  ] as const)
    await assert.rejects(tokens.create(request, OPERATOR), { code }, JSON.stringify(request));
  await room.identity.people.add("ada", ["agent"], OPERATOR);
  const { token } = await tokens.create({ name: "x", scopes: ["search"], person }, OPERATOR);
  assert.deepEqual((await tokens.verify(token, HERE))?.principal.aliases, ["person:ada"]);
});

test("the last use of a token is stored at most once a minute", async () => {
  await using room = await openTestIdentity();
  const { tokens } = room.identity;
  const { token } = await tokens.create({ name: "ci", scopes: ["search"] }, OPERATOR);
  const lastUse = async () => {
    await room.store.meta.set("order", ""); // writes are made in order, and nothing waits for that of the last use
    return (await tokens.list())[0]?.lastUsedAt;
  };
  const first = room.clock.now;
  await tokens.verify(token, HERE);
  assert.equal(await lastUse(), first);
  room.clock.now += 59_999;
  await tokens.verify(token, HERE);
  assert.equal(await lastUse(), first);
  room.clock.now += 1;
  await tokens.verify(token, HERE);
  assert.equal(await lastUse(), first + 60_000);
});

function known<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

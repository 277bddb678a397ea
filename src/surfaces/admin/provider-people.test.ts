/** Who the people of a provider are: names, groups, roles, and new logins for changes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { OPERATOR } from "../../identity/index.ts";
import { ADA, cookieOf, startWithProviders } from "./fixtures/provider-browser.ts";

const STEP_UP_MS = 15 * 60_000;

test("a group that was removed loses its roles at the next login, in every session of the person", async (t) => {
  const { logIn, rolesOf, identity, room } = await startWithProviders(t);
  const first = cookieOf(await logIn({ ...ADA, groups: ["admins", "staff", "others"] }));
  const second = cookieOf(await logIn({ ...ADA, groups: ["staff"], preferred_username: "renamed" }));
  assert.deepEqual([await rolesOf(first), await rolesOf(second)], [["agent"], ["agent"]]);
  assert.deepEqual(
    room.records
      .filter(({ action }) => action === "role.changed")
      .map(({ actor, subject, detail }) => [actor, subject, detail]),
    [["gateway", "person:ada", { before: ["agent", "reviewer", "operator"], after: ["agent"], provider: "company" }]],
  );
  assert.deepEqual(
    (await identity.people.list()).map(({ name, roles }) => [name, roles]),
    [["ada", ["agent"]]],
  );
});

test("a person without any group that has a role is refused, and loses sessions and tokens; later groups count again", async (t) => {
  const { logIn, rolesOf, identity } = await startWithProviders(t);
  const stranger = await logIn({ ...ADA, groups: ["others"] });
  assert.equal(stranger.status, 403);
  assert.match(stranger.body, /None of your groups at Company has a role here/);
  assert.deepEqual(await identity.people.list(), []);
  const session = cookieOf(await logIn({ ...ADA, groups: ["admins", "staff"] }));
  const { token } = await identity.tokens.create(
    { name: "hers", scopes: ["execute"], person: "person:ada" as typeof OPERATOR.id },
    OPERATOR,
  );
  assert.ok(await identity.tokens.verify(token, ""));
  for (const groups of [[], undefined, "others", { admins: true }, ["__proto__", "constructor"]]) {
    assert.equal((await logIn({ ...ADA, groups })).status, 403);
    assert.equal(await rolesOf(session), 401);
  }
  assert.equal(await identity.tokens.verify(token, ""), undefined);
  assert.deepEqual(await rolesOf(cookieOf(await logIn({ ...ADA, groups: "admins" }))), ["reviewer", "operator"]);
});

test("a person is known by the sub of an issuer, never by a name or an address", async (t) => {
  const { logIn, start, goBack, partner, rolesOf, identity } = await startWithProviders(t);
  await identity.people.add("bob", ["operator"], OPERATOR);
  const email = { email: "ada@example.com", email_verified: true };
  assert.equal((await logIn({ ...ADA, ...email })).status, 200);
  const elsewhere = await start("partner");
  const other = await goBack(partner.logIn(elsewhere.url, { ...ADA, ...email }), elsewhere.cookie);
  assert.equal(other.status, 403, "the same sub and name at another issuer");
  for (const person of [
    { ...ADA, ...email, sub: "18" },
    { ...ADA, sub: "18", preferred_username: "bob" },
    { ...ADA, sub: "18", preferred_username: "ADA" },
  ]) {
    const answer = await logIn(person);
    assert.equal(answer.status, 403);
    assert.match(answer.body, /belongs to another person of this gateway/);
  }
  for (const name of ["operator", "a/b", "person:x", "", 17, "\u212Aim", "x".repeat(65), undefined]) {
    const answer = await logIn({ ...ADA, sub: "18", preferred_username: name });
    assert.match(answer.body, /Company sent no usable name \(preferred_username\)/, String(name));
  }
  const eve = cookieOf(await logIn({ ...ADA, sub: "18", preferred_username: "Eve.Adams" }));
  assert.deepEqual(await rolesOf(eve), ["reviewer", "operator"]);
});

test("claims that are not in the token are read at the provider, for the same sub only", async (t) => {
  const { company, logIn } = await startWithProviders(t);
  company.lies.userinfo = { ...ADA, groups: ["admins"] };
  assert.equal((await logIn({ sub: "17" })).status, 200);
  company.lies.userinfo = { ...ADA, sub: "another" };
  assert.equal((await logIn({ sub: "17" })).status, 401);
  company.lies.userinfo = { ...ADA, groups: ["admins"] };
  assert.equal((await logIn({ ...ADA, groups: ["others"] })).status, 403, "the token says it first");
});

test("a person of a provider has neither a password nor roles of this gateway, until they are reset", async (t) => {
  const { logIn, identity, post, rolesOf, origin } = await startWithProviders(t);
  const session = cookieOf(await logIn());
  await assert.rejects(identity.logins.invite("ada", OPERATOR), { code: "REQUEST_CONFLICT" });
  assert.equal((await post("/api/passkeys/start", {}, { origin, cookie: session })).status, 409);
  await assert.rejects(identity.people.setRoles("ada", ["agent"], OPERATOR), { code: "REQUEST_CONFLICT" });
  await identity.people.reset("ada", OPERATOR);
  assert.equal(await rolesOf(session), 401);
  const { code } = await identity.logins.invite("ada", OPERATOR);
  assert.equal((await post("/api/invite", { code, password: "correct horse battery" })).status, 200);
  assert.match((await logIn()).body, /belongs to another person/);
});

test("a person of a provider who was removed stays out until an operator adds the same person again", async (t) => {
  const { logIn, identity, rolesOf } = await startWithProviders(t);
  await identity.people.add("root", ["operator"], OPERATOR);
  const session = cookieOf(await logIn());
  await identity.people.remove("ada", OPERATOR);
  assert.equal(await rolesOf(session), 401);
  assert.match((await logIn()).body, /An operator removed ada/);
  assert.match((await logIn({ ...ADA, sub: "18" })).body, /belongs to another person/);
  await identity.people.add("ada", ["agent"], OPERATOR, { isAgain: true });
  assert.deepEqual(await rolesOf(cookieOf(await logIn())), ["reviewer", "operator"]);
});

for (const end of ["reset", "remove"] as const)
  test(`a login at a provider opens nothing if an operator used ${end} meanwhile`, async (t) => {
    const { logIn, identity, room } = await startWithProviders(t);
    const addSession = room.store.identity.addSession.bind(room.store.identity);
    await identity.people.add("zoe", ["operator"], OPERATOR);
    assert.equal((await logIn()).status, 200);
    room.store.identity.addSession = async (row) => {
      await identity.people[end]("ada", OPERATOR);
      await addSession(row);
    };
    assert.equal((await logIn()).status, 401);
    assert.equal(JSON.stringify(await identity.sessions.list()).includes("person:ada"), false);
  });

test("a change needs a new login at the provider, by the same person", async (t) => {
  const { logIn, ask, room, rolesOf, identity, listener } = await startWithProviders(t, { stepUpMs: STEP_UP_MS });
  const old = cookieOf(await logIn());
  const change = async (cookie: string) => (await ask(cookie, "/api/sessions/se_other", "DELETE")).status;
  assert.equal(await change(old), 200);
  room.clock.now += STEP_UP_MS + 1;
  const seconds = Math.floor(room.clock.now / 1000);
  assert.equal(await change(old), 401);
  for (const [what, person, status] of [
    ["a login of before", { ...ADA, auth_time: seconds - 31 }, 401],
    ["a provider that does not tell when", { ...ADA, auth_time: undefined }, 401],
    ["another person", { ...ADA, sub: "18", preferred_username: "eve" }, 403],
  ] as const) {
    const answer = await logIn(person, { stepUp: true }, { cookie: old });
    assert.equal(answer.status, status, what);
    assert.equal(await change(old), 401, what);
  }
  assert.deepEqual(await rolesOf(old), ["reviewer", "operator"], "the session is still there for reading");
  const answer = await logIn({ ...ADA, auth_time: seconds - 29 }, { stepUp: true }, { cookie: old });
  assert.match(answer.body, /You are logged in again/);
  assert.deepEqual([await change(cookieOf(answer)), await rolesOf(old)], [200, 401]);
  const local = await identity.sessions.open(OPERATOR, "");
  const asLocal = { cookie: `glovebox-${listener.port}=${local.secret}` };
  await assert.rejects(logIn(ADA, { stepUp: true }, asLocal), /does not log in at Company/);
});

test("a silent login at the provider is not a recent one", async (t) => {
  const { logIn, ask, room } = await startWithProviders(t, { stepUpMs: STEP_UP_MS });
  room.clock.now += 2 * STEP_UP_MS;
  const seconds = Math.floor(room.clock.now / 1000);
  for (const [time, status] of [
    [seconds - 16 * 60, 401],
    [undefined, 401],
    [seconds + 999_999, 200],
    [seconds - 60, 200],
  ] as const) {
    const cookie = cookieOf(await logIn({ ...ADA, auth_time: time }));
    assert.equal((await ask(cookie, "/api/sessions/se_other", "DELETE")).status, status, String(time));
  }
});

test("a step-up asks the provider for a new login, and other logins do not", async (t) => {
  const { start, logIn } = await startWithProviders(t);
  const cookie = cookieOf(await logIn());
  const asked = async (body: object) => {
    const { searchParams } = new URL((await start("company", body, { cookie })).url);
    return [searchParams.get("prompt"), searchParams.get("max_age")];
  };
  assert.deepEqual(
    [await asked({}), await asked({ stepUp: true })],
    [
      [null, "43200"],
      ["login", "0"],
    ],
  );
});

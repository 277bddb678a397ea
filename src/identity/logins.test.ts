/** Local accounts: each attack on a password or an invite beside the honest case. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { GloveboxError } from "../domain/index.ts";
import { openTestIdentity } from "./fixtures/open-test-identity.ts";
import { createPasswords } from "./passwords.ts";
import { OPERATOR, toPersonId } from "./principals.ts";

const PASSWORD = "correct horse battery";
const HOME = "192.0.2.1";

async function openWithAda() {
  const room = await openTestIdentity();
  const { people, logins } = room.identity;
  await people.add("ada", ["operator"], OPERATOR);
  const { code } = await logins.invite("ada", OPERATOR);
  assert.ok(await logins.accept(code, PASSWORD, HOME));
  const enter = (password: string, origin = HOME, name = "ada") => logins.enter({ name, password }, origin);
  return { ...room, logins, people, enter };
}

const refusal = (code: string) => (thrown: unknown) => (thrown as GloveboxError).code === code;

test("a person sets a password by an invite and logs in with it", async () => {
  await using room = await openWithAda();
  const { enter, identity, records } = room;
  const opened = await enter(PASSWORD);
  assert.equal((await identity.sessions.find(opened?.secret ?? "", HOME))?.principal.id, "person:ada");
  assert.equal(await enter("correct horse batterY"), undefined);
  const actions = records.map(({ actor, action }) => `${actor} ${action}`);
  for (const one of ["operator person.invited", "person:ada password.set", "person:ada login.done"])
    assert.ok(actions.includes(one), one);
  assert.ok(actions.includes("person:ada login.refused"));
  assert.doesNotMatch(JSON.stringify(records), /horse/);
});

test("an invite works once, within three days, and only the latest one", async () => {
  await using room = await openWithAda();
  const { logins, people, clock } = room;
  await people.add("bob", ["reviewer"], OPERATOR);
  const [first, second] = [await logins.invite("bob", OPERATOR), await logins.invite("bob", OPERATOR)];
  assert.equal(await logins.accept(first.code, PASSWORD, HOME), undefined);
  await assert.rejects(logins.accept(second.code, "too short", HOME), refusal("REQUEST_INVALID"));
  assert.ok(await logins.accept(second.code, PASSWORD, HOME), "a refused password does not use the invite up");
  assert.equal(await logins.accept(second.code, PASSWORD, HOME), undefined);
  const third = await logins.invite("bob", OPERATOR);
  clock.now = third.expiresAt;
  assert.equal(await logins.accept(third.code, PASSWORD, HOME), undefined);
  const fourth = await logins.invite("bob", OPERATOR);
  clock.now = fourth.expiresAt - 1;
  assert.ok(await logins.accept(fourth.code, PASSWORD, HOME));
});

test("only an operator invites, and only people of the list", async () => {
  await using room = await openWithAda();
  const { logins, people, identity } = room;
  await people.add("bob", ["reviewer"], OPERATOR);
  const [ada, bob] = [await identity.resolve(toPersonId("ada")), await identity.resolve(toPersonId("bob"))];
  assert.ok(ada && bob);
  await assert.rejects(logins.invite("ada", bob), refusal("POLICY_DENIED"));
  await assert.rejects(logins.invite("eve", ada), refusal("REQUEST_NOT_FOUND"));
  assert.ok(await logins.invite("bob", ada));
});

test("after five wrong passwords of one origin it must wait, and another origin need not", async () => {
  await using room = await openWithAda();
  const { enter, records, clock } = room;
  for (let attempt = 0; attempt < 5; attempt += 1) assert.equal(await enter("wrong password"), undefined);
  await assert.rejects(enter(PASSWORD), refusal("LIMIT_QUOTA"));
  await assert.rejects(enter(PASSWORD), refusal("LIMIT_QUOTA"));
  assert.ok(await enter(PASSWORD, "192.0.2.2"));
  const seen = records.filter(({ action }) => action === "anomaly.seen");
  assert.deepEqual(
    seen.map(({ subject, detail }) => ({ subject, detail })),
    [{ subject: HOME, detail: { kind: "bruteForce", origin: HOME, attempts: 5, windowMs: 15 * 60_000 } }],
  );
  clock.now += 15 * 60_000;
  assert.ok(await enter(PASSWORD));
});

test("guesses of one password from many origins, and of many names from one, are limited in every process", async () => {
  await using room = await openWithAda();
  const other = (await room.open()).logins;
  for (let attempt = 0; attempt < 15; attempt += 1) {
    assert.equal(await room.enter("wrong password", `198.51.100.${attempt}`), undefined);
    assert.equal(await other.enter({ name: "ada", password: "wrong" }, `203.0.113.${attempt}`), undefined);
  }
  await assert.rejects(room.enter(PASSWORD, "192.0.2.9"), refusal("LIMIT_QUOTA"));
  for (let name = 0; name < 30; name += 1) assert.equal(await room.enter("wrong", "192.0.2.77", `n${name}`), undefined);
  await assert.rejects(room.enter("wrong", "192.0.2.77", "another"), refusal("LIMIT_QUOTA"));
  assert.equal(await room.enter("wrong", "192.0.2.78", "another"), undefined);
});

test("right passwords do not count as attempts", async () => {
  await using room = await openWithAda();
  for (let attempt = 0; attempt < 7; attempt += 1) assert.ok(await room.enter(PASSWORD));
});

test("an unknown name is answered like a known one: same answer, same work, same limit", async () => {
  await using room = await openWithAda();
  const { enter, people, records } = room;
  await people.add("bob", ["reviewer"], OPERATOR); // has no password
  for (const name of ["ada", "bob", "eve", "not a name", "unknown", ""]) {
    const before = room.passwords.verified;
    for (let attempt = 0; attempt < 5; attempt += 1)
      assert.equal(await enter("wrong password", `192.0.2.${name.length + 100}`, name), undefined);
    assert.equal(room.passwords.verified - before, 5, name);
    await assert.rejects(enter("wrong password", `192.0.2.${name.length + 100}`, name), refusal("LIMIT_QUOTA"), name);
    room.clock.now += 15 * 60_000;
  }
  assert.doesNotMatch(JSON.stringify(records), /eve|not a name/);
});

test("a removed or reset person cannot use a former session, password or invite", async () => {
  await using room = await openWithAda();
  const { enter, identity, logins, people } = room;
  await people.add("bob", ["operator"], OPERATOR);
  for (const end of [
    () => people.reset("ada", OPERATOR),
    async () => {
      await people.remove("ada", OPERATOR);
      await people.add("ada", ["operator"], OPERATOR, { isAgain: true });
    },
  ]) {
    const fresh = await logins.invite("ada", OPERATOR);
    const opened = await enter(PASSWORD);
    assert.ok(opened && (await identity.sessions.find(opened.secret, HOME)));
    await end();
    assert.equal(await identity.sessions.find(opened.secret, HOME), undefined);
    assert.equal(await enter(PASSWORD), undefined);
    assert.equal(await logins.accept(fresh.code, PASSWORD, HOME), undefined);
    const { code } = await logins.invite("ada", OPERATOR);
    assert.ok(await logins.accept(code, PASSWORD, HOME));
  }
});

test("a hash with other parameters still works and is replaced at the next login", async () => {
  await using room = await openWithAda();
  const { store, enter } = room;
  const principal = toPersonId("ada");
  const old = await createPasswords({ log2n: 3, r: 8, p: 1 }).hash(PASSWORD);
  await store.identity.setPassword({ principal, verifier: old, setAt: 1 });
  assert.equal(await enter("another password"), undefined);
  assert.equal((await store.identity.findPassword(principal))?.verifier, old);
  assert.ok(await enter(PASSWORD));
  assert.match((await store.identity.findPassword(principal))?.verifier ?? "", /^scrypt\$4\$8\$1\$/);
  assert.ok(await enter(PASSWORD));
  await store.identity.setPassword({ principal, verifier: "scrypt$99$8$1$AA$x", setAt: 1 });
  assert.equal(await enter(PASSWORD), undefined);
});

test("a new password ends the sessions that the former one opened", async () => {
  await using room = await openWithAda();
  const { enter, identity, logins } = room;
  const former = await enter(PASSWORD);
  const { code } = await logins.invite("ada", OPERATOR);
  assert.ok(former && (await identity.sessions.find(former.secret, HOME)), "the invite alone ends nothing");
  const opened = await logins.accept(code, "another long password", HOME);
  assert.equal(await identity.sessions.find(former.secret, HOME), undefined);
  assert.ok(opened && (await identity.sessions.find(opened.secret, HOME)));
});

test("a login that was under way when its password or person ended opens nothing and brings nothing back", async () => {
  await using room = await openWithAda();
  const { enter, identity, logins, people, passwords, store } = room;
  await people.add("bob", ["operator"], OPERATOR);
  const set = async (): Promise<void> => {
    const { code } = await logins.invite("ada", OPERATOR);
    assert.ok(await logins.accept(code, PASSWORD, HOME));
  };
  const { verify } = passwords;
  const during = async (act: () => Promise<unknown>, isOutdated = false) => {
    passwords.verify = async (...given) => {
      const verified = await verify(...given);
      await act();
      return { ...verified, isOutdated };
    };
    const opened = await enter(PASSWORD);
    passwords.verify = verify;
    return opened;
  };
  for (const isOutdated of [false, true]) {
    assert.equal(await during(() => people.reset("ada", OPERATOR), isOutdated), undefined);
    assert.equal(await store.identity.findPassword(toPersonId("ada")), undefined);
    await set();
    assert.equal(await during(set, isOutdated), undefined);
    assert.equal((await identity.sessions.list()).length, 1, "only the session of the new password");
    assert.equal(await during(() => people.remove("ada", OPERATOR), isOutdated), undefined);
    await people.add("ada", ["operator"], OPERATOR, { isAgain: true });
    assert.deepEqual(await identity.sessions.list(), []);
    await set();
    assert.ok(await during(async () => undefined, isOutdated));
  }
});

test("a password is hashed with the parameters of the product, and each time with another salt", async () => {
  assert.match(await createPasswords().hash(PASSWORD), /^scrypt\$15\$8\$3\$/);
  const passwords = createPasswords({ log2n: 4, r: 8, p: 1 });
  const [one, other] = [await passwords.hash(PASSWORD), await passwords.hash(PASSWORD)];
  assert.notEqual(one, other);
  assert.deepEqual(await passwords.verify(PASSWORD, one), { isRight: true, isOutdated: false });
  assert.deepEqual(await passwords.verify(PASSWORD, undefined), { isRight: false, isOutdated: false });
});

test("each password is hashed, also for an unknown name, and no more than 34 at once", async () => {
  const passwords = createPasswords({ log2n: 4, r: 8, p: 1 });
  const verifier = await passwords.hash(PASSWORD);
  for (const known of [verifier, undefined]) {
    const answers = await Promise.allSettled(Array.from({ length: 35 }, () => passwords.verify(PASSWORD, known)));
    const refused = answers.filter(({ status }) => status === "rejected");
    assert.deepEqual([answers.length, refused.length], [35, 1]);
    assert.ok((await Promise.all(Array.from({ length: 34 }, () => passwords.verify(PASSWORD, known)))).length === 34);
  }
});

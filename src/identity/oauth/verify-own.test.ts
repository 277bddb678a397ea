/** Access tokens of the built-in server, as the store has them. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { openTestIdentity } from "../fixtures/open-test-identity.ts";
import { OPERATOR } from "../principals.ts";
import { createOauthAgents } from "./oauth-agents.ts";
import { createOauthRecords } from "./oauth-records.ts";
import { createOwnVerifier } from "./verify-own.ts";

const RESOURCE = "https://gloves.example/mcp";
const TOKEN = "t".repeat(43);

test("a token counts for its resource, until it expires, and only with its grant", async () => {
  await using room = await openTestIdentity();
  const { store, clock, identity } = room;
  await identity.people.add("ada", ["agent"], OPERATOR);
  const digestFor = (purpose: string) => (text: string) => createHmac("sha256", purpose).update(text).digest();
  const seal = {
    close: (plain: string | Uint8Array, context: string) => Buffer.from(JSON.stringify([context, String(plain)])),
    open: (sealed: Uint8Array) => String(JSON.parse(Buffer.from(sealed).toString())[1]),
  };
  const records = createOauthRecords({ store: store.identity, now: () => clock.now, digestFor }, seal);
  const reasons: string[] = [];
  const refuse = ({ reason }: { readonly reason: string }): void => void reasons.push(reason);
  const verify = createOwnVerifier({ records, agents: createOauthAgents(store), refuse });
  const check = (text = TOKEN, resource = RESOURCE) => verify({ text, origin: "", resource });
  const token = { accountId: "ada", clientId: "cli", grantId: "g1", aud: RESOURCE, scope: "search openid" };
  const save = async (changes: object = {}): Promise<void> => {
    await records.put("Grant", "g1", { accountId: "ada" }, 100);
    await records.put("AccessToken", TOKEN, { ...token, ...changes }, 60);
  };
  await save();
  const verified = await check();
  assert.deepEqual([verified?.principal.id, verified?.scopes], ["agent:ada/cli", ["search"]]);
  for (const text of ["", "t".repeat(42), "t".repeat(44), "u".repeat(43), "x".repeat(100_000)])
    assert.equal(await check(text), undefined);
  assert.equal(await check(TOKEN, "https://gloves.example"), undefined);
  assert.equal(reasons.at(-1), "for another resource");
  for (const changes of [{ aud: undefined }, { aud: [RESOURCE, "https://other.example"] }, { grantId: undefined }]) {
    await save(changes);
    assert.equal(await check(), undefined, JSON.stringify(changes));
  }
  await save();
  await records.remove("Grant", "g1");
  assert.deepEqual([await check(), reasons.at(-1)], [undefined, "unknown, expired or revoked"]);
  await save();
  clock.now += 59_999;
  assert.ok(await check());
  clock.now += 1;
  assert.equal(await check(), undefined);
  await save();
  await records.removeGrant("g1", "tokens");
  assert.equal(await check(), undefined);
});

/** Logging out of an upstream: the login is always deleted, and its tokens are revoked where that is possible. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { CLIENT, openLoginProvider } from "../../fixtures/login-provider.ts";
import type { LoginProvider } from "../../fixtures/login-provider.ts";
import { makeUntypedFolder, runGlovebox, startFor, untilEnded, waitForOutput } from "../../fixtures/product.ts";

/** Logs in, uses the login once, and returns the folder and the token that was used. */
async function enter(
  context: TestContext,
  provider: LoginProvider,
  oauth: object = {},
): Promise<readonly [string, string]> {
  const folder = makeUntypedFolder(context, {
    mcpServers: { notes: { url: provider.url, oauth: { grants: [provider.hostAndPort], ...oauth } } },
  });
  if ("clientSecret" in oauth) {
    await runGlovebox(["secrets", "set", "CLIENT_SECRET"], { folder, input: `${CLIENT.secret}\n` });
  }
  const child = startFor(context, ["servers", "login", "notes"], folder);
  const address = /^http\S+/m.exec(await waitForOutput(child, /^http\S+\n/m))?.[0] ?? "";
  const back = await provider.agree(address);
  const ended = untilEnded(child);
  await fetch(back);
  assert.equal(await ended, 0);
  await runGlovebox(["run", "-"], { folder, input: "return await notes.list({})" });
  const token = [...provider.seenTokens].at(-1) ?? "";
  assert.equal(await provider.isValid(token), true);
  return [folder, token];
}

const logOut = async (folder: string): Promise<readonly unknown[]> => {
  const { code, stderr } = await runGlovebox(["servers", "logout", "notes"], { folder });
  return [code, stderr];
};
const outcomes = async (folder: string): Promise<readonly string[]> => {
  const { stdout } = await runGlovebox(["audit", "--json", "--action", "upstream.revoked"], { folder });
  return [...stdout.matchAll(/"outcome":\s*"(\w+)"/g)].map(([, outcome = ""]) => outcome);
};

test("logout revokes tokens at an authorization server that supports it", async (context) => {
  await using provider = await openLoginProvider({ revocation: true });
  const [folder, token] = await enter(context, provider);
  assert.deepEqual(await logOut(folder), [
    0,
    `The login of notes is deleted, and its tokens are revoked at ${provider.issuer}\n`,
  ]);
  assert.equal(await provider.isValid(token), false);
  assert.deepEqual(provider.revocations, ["none", "none"]);
  assert.deepEqual(await outcomes(folder), ["revoked"]);
  assert.deepEqual(await logOut(folder), [0, "notes had no login\n"]);
});

test("logout authenticates a client with a secret as for tokens", async (context) => {
  await using provider = await openLoginProvider({ revocation: true });
  const [folder, token] = await enter(context, provider, {
    clientId: CLIENT.id,
    clientSecret: "${secret:CLIENT_SECRET}",
  });
  const [code, told] = await logOut(folder);
  assert.deepEqual([code, /its tokens are revoked/.test(String(told))], [0, true]);
  const basic = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64")}`;
  assert.deepEqual([provider.revocations, await provider.isValid(token)], [[basic, basic], false]);
});

test("logout deletes the login and names an authorization server that cannot revoke tokens", async (context) => {
  await using provider = await openLoginProvider({ revocation: true });
  const [folder, token] = await enter(context, provider);
  provider.revocationStatus = 503;
  assert.deepEqual(await logOut(folder), [
    0,
    `The login of notes is deleted, but its tokens could not be revoked at ${provider.issuer} (it answered with status 503): they stay valid until they expire, or until you revoke them there\n`,
  ]);
  assert.equal(await provider.isValid(token), true);
  assert.deepEqual(await outcomes(folder), ["failed"]);
  const after = await runGlovebox(["servers"], { folder });
  assert.match(after.stdout, /^notes: needs-login/);
});

/**
 * The steps of an operator: a server requires a login, a person logs in at a browser, programs use the login, and log
 * out.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import {
  findStore,
  makeUntypedFolder,
  runGlovebox as runIn,
  startFor,
  untilEnded,
  waitForOutput,
} from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";
import { readFiles } from "../../fixtures/read-files.ts";
import { openLoginProvider } from "../../fixtures/login-provider.ts";
import type { LoginProvider } from "../../fixtures/login-provider.ts";

const CALL = "return await notes.list({})";

const runGlovebox = (args: readonly string[], folder: string, input = ""): Promise<CommandResult> =>
  runIn(args, { folder, input });

/** Runs `servers login`, agrees, and returns the whole output. */
async function logIn(
  context: Parameters<typeof startFor>[0],
  folder: string,
  provider: LoginProvider,
  ...flags: string[]
) {
  const child = startFor(context, ["servers", "login", "notes", ...flags], folder);
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const printed = await waitForOutput(child, /^http\S+\n/m);
  const address = /^http\S+/m.exec(printed)?.[0] ?? "";
  const back = await provider.agree(address);
  const ended = untilEnded(child);
  const page = await (await fetch(back)).text();
  return { code: await ended, stderr, authorizationUrl: new URL(address), page };
}

test("a server that requires a login gets one, programs use it, and no token is visible", async (context) => {
  await using provider = await openLoginProvider();
  const folder = makeUntypedFolder(context, {
    mcpServers: { notes: { url: provider.url, oauth: { grants: [provider.hostAndPort] } } },
  });
  const before = await runGlovebox(["servers"], folder);
  assert.equal(before.code, 1);
  assert.match(before.stdout, /^notes: needs-login, 0 tools, http\n {2}cause: it asks for a login/);
  assert.match(before.stdout, /glovebox servers login notes/);

  const login = await logIn(context, folder, provider);
  assert.equal(login.code, 0, login.stderr);
  const asked = login.authorizationUrl.searchParams;
  assert.equal(asked.get("code_challenge_method"), "S256");
  assert.equal(asked.get("resource"), provider.url);
  assert.match(asked.get("redirect_uri") ?? "", /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  assert.equal((asked.get("state") ?? "").length >= 32, true);
  assert.match(login.page, /return to the terminal/);

  const run = await runGlovebox(["run", "--json", "-"], folder, CALL);
  assert.equal((JSON.parse(run.stdout) as { value: string }).value, "one note; you came with [secret]");
  const audit = await runGlovebox(["audit", "export"], folder);
  const config = readFileSync(join(folder, "glovebox.config.json"), "utf8");
  const store = dirname(findStore(folder));
  const files = [...readFiles(store).values()].map((bytes) => bytes.toString("latin1"));
  assert.equal(provider.seenTokens.size > 0, true);
  for (const token of provider.seenTokens) {
    for (const text of [login.stderr, run.stdout, run.stderr, audit.stdout, config, ...files]) {
      assert.equal(text.includes(token), false);
    }
  }
  assert.match(audit.stdout, /"upstream\.login"/);

  const out = await runGlovebox(["servers", "logout", "notes"], folder);
  assert.deepEqual(
    [out.code, out.stderr],
    [
      0,
      `The login of notes is deleted; ${provider.issuer} cannot revoke its tokens, so they stay valid until they expire\n`,
    ],
  );
  assert.match((await runGlovebox(["servers"], folder)).stdout, /^notes: needs-login/);
  const again = await runGlovebox(["servers", "logout", "notes"], folder);
  assert.deepEqual([again.code, again.stderr], [0, "notes had no login\n"]);
});

test("a call that needs more scopes names them, and another login adds them", async (context) => {
  await using provider = await openLoginProvider();
  provider.requiredScope = "notes:write";
  const folder = makeUntypedFolder(context, {
    mcpServers: { notes: { url: provider.url, oauth: { grants: [provider.hostAndPort] } } },
  });
  assert.equal((await logIn(context, folder, provider)).code, 0);
  const refused = await runGlovebox(["run", "--json", "-"], folder, CALL);
  const { error } = JSON.parse(refused.stdout) as { error: { code: string; message: string; hint: string } };
  assert.equal(error.code, "UPSTREAM_AUTH_REQUIRED");
  assert.match(error.message, /needs scopes that the login lacks \(notes:write\)/);
  assert.match(error.hint, /glovebox servers login notes --scope "notes:write"/);
  const second = await logIn(context, folder, provider, "--scope", "notes:write");
  const scopes = second.authorizationUrl.searchParams.get("scope")?.split(" ") ?? [];
  assert.equal(
    ["notes:read", "notes:write"].every((one) => scopes.includes(one)),
    true,
  );
  const allowed = await runGlovebox(["run", "--json", "-"], folder, CALL);
  assert.equal((JSON.parse(allowed.stdout) as { state: string }).state, "completed");
});

test("an authorization server in a private network needs a grant of the operator", async (context) => {
  await using provider = await openLoginProvider();
  const folder = makeUntypedFolder(context, { mcpServers: { notes: { url: provider.url } } });
  const refused = await runGlovebox(["servers", "login", "notes"], folder);
  assert.equal(refused.code, 1);
  assert.equal(refused.stdout, "");
  assert.match(refused.stderr, /EGRESS_DENIED/);
  assert.match(
    refused.stderr,
    new RegExp(`add "${provider.hostAndPort.replaceAll(".", String.raw`\.`)}" to oauth\\.grants`),
  );
});

test("servers login accepts only configured HTTP servers", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: { local: { command: "true", start: "lazy" } } });
  const stdio = await runGlovebox(["servers", "login", "local"], folder);
  assert.deepEqual([stdio.code, /local is not an HTTP server/.test(stdio.stderr)], [2, true]);
  const unknown = await runGlovebox(["servers", "login", "unknown"], folder);
  assert.deepEqual([unknown.code, /The configuration has no server "unknown"/.test(unknown.stderr)], [2, true]);
});

/** The authorization scenarios of the official conformance suite against the built-in authorization server. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { test } from "node:test";

import { openEgress } from "../../src/egress/index.ts";
import { OPERATOR } from "../../src/identity/index.ts";
import { startApp } from "../../src/surfaces/admin/fixtures/start-app.ts";
import { createBrowser } from "../fixtures/consent-browser.ts";

const SUITE = resolve("node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** The suite listens there itself, and prints the address that a person opens. */
async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

test("the built-in authorization server passes the authorization scenarios of the conformance suite", async (t) => {
  const egress = openEgress();
  t.after(() => egress[Symbol.asyncDispose]());
  const clients = { suite: { redirectUris: ["http://127.0.0.1/callback"] } };
  const { identity, room, listener } = await startApp(
    t,
    undefined,
    {},
    { auth: "required", oauth: { egress, clients } },
  );
  room.clock.now = Date.now();
  await identity.people.add("ada", ["agent"], OPERATOR);
  const { secret } = await identity.sessions.open(OPERATOR, "test");
  const { url } = listener;
  const browser = createBrowser({ url, session: secret });
  const args = ["--url", url, "--client-id", "suite", "--resource", `${url}/mcp`, "--port", String(await findPort())];
  const child = spawn(process.execPath, [SUITE, "authorization", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let [output, isAsked] = ["", false];
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    const [address] = /http\S+\/oauth\/authorize\?\S+/.exec(output) ?? [];
    if (isAsked || address === undefined) return;
    isAsked = true;
    void browser.agree(new URL(address)).then((callback) => fetch(callback));
  });
  const code = await new Promise((done) => child.once("close", done));
  assert.equal(code, 0, output);
  assert.match(output, /✓ authorization-server-metadata-endpoint: 2 passed, 0 failed/, output);
  assert.match(output, /✓ authorization-code-grant: [1-9]\d* passed, 0 failed/, output);
});

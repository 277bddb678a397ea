/** Two processes with the authorization server on one store, as far as their store is concerned. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { openEgress } from "../../egress/index.ts";
import { runNode } from "../../surfaces/admin/run-node.ts";
import { openTestIdentity } from "../fixtures/open-test-identity.ts";
import type { Identity } from "../open-identity.ts";
import { OPERATOR } from "../principals.ts";
import type { AuthorizationServer } from "./authorization-server.ts";

const URL_OF_GATEWAY = "http://127.0.0.1:4747";
const RESOURCE = `${URL_OF_GATEWAY}/mcp`;
const REDIRECT = "http://127.0.0.1/callback";
const VERIFIER = "v".repeat(43);

async function start() {
  const egress = openEgress();
  const room = await openTestIdentity({ egress, clients: { cli: { redirectUris: [REDIRECT] } } });
  room.clock.now = Date.now();
  await room.identity.people.add("ada", ["agent"], OPERATOR);
  const open = (identity: Identity): AuthorizationServer => {
    const place = { url: URL_OF_GATEWAY, pageUrl: () => URL_OF_GATEWAY, runNode, report: () => undefined };
    const opened = identity.openAuthorization?.(place);
    assert.ok(opened);
    return opened;
  };
  const servers = [open(room.identity), open(await room.open())] as const;
  const close = async (): Promise<void> => {
    for (const one of [egress, room]) await one[Symbol.asyncDispose]();
  };
  return { room, servers, [Symbol.asyncDispose]: close };
}

async function send(server: AuthorizationServer, address: string, more: { cookie?: string; body?: string } = {}) {
  const { cookie = "", body = "" } = more;
  const headers = new Headers({ cookie, ...(body !== "" && { "content-type": "application/x-www-form-urlencoded" }) });
  const url = new URL(address, URL_OF_GATEWAY).href;
  return server.handle({ method: body === "" ? "GET" : "POST", url, headers, body, origin: "192.0.2.1" });
}

/** The whole way of a browser, whose requests may reach another process each time. */
async function getCode([one, other]: readonly [AuthorizationServer, AuthorizationServer]): Promise<string> {
  const challenge = createHash("sha256").update(VERIFIER).digest("base64url");
  const query = { client_id: "cli", redirect_uri: REDIRECT, response_type: "code", scope: "search" };
  const pkce = { code_challenge: challenge, code_challenge_method: "S256" };
  const started = await send(one, `/oauth/authorize?${new URLSearchParams({ ...query, ...pkce }).toString()}`);
  const cookie = started.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const [uid = ""] = (started.headers.get("location") ?? "").split("/").slice(-1);
  const person = { id: "person:ada" as typeof OPERATOR.id, kind: "person", groups: [] } as const;
  const address = await other.decide(uid, { person, scopes: ["search"], origin: "" });
  const finished = await send(one, address, { cookie });
  assert.equal(
    await send(one, address, { cookie }).catch((thrown: unknown) => Object(thrown).code),
    "REQUEST_NOT_FOUND",
  );
  const resumed = await send(other, finished.headers.get("location") ?? "", { cookie });
  return new URL(resumed.headers.get("location") ?? "").searchParams.get("code") ?? "";
}

const exchange = async (server: AuthorizationServer, code: string) => {
  const fields = { grant_type: "authorization_code", client_id: "cli", redirect_uri: REDIRECT };
  const body = new URLSearchParams({ ...fields, code, code_verifier: VERIFIER }).toString();
  const answer = await send(server, "/oauth/token", { body });
  return { status: answer.status, ...((await answer.json()) as { readonly access_token?: string }) };
};

test("of two processes that exchange one code at once, at most one gets a token", async () => {
  await using started = await start();
  const { servers, room } = started;
  const verify = (text = "") => room.identity.verify({ text, origin: "", resource: RESOURCE });
  const fine = await exchange(servers[1], await getCode(servers));
  assert.equal((await verify(fine.access_token))?.principal.id, "agent:ada/cli");
  for (let tries = 0; tries < 5; tries += 1) {
    const code = await getCode(servers);
    const answers = await Promise.all(servers.map((server) => exchange(server, code)));
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1);
    // A code that comes twice was stolen, so the first token ends too.
    for (const answer of answers) assert.equal(await verify(answer.access_token), undefined);
  }
  assert.ok(await verify(fine.access_token));
});

test("a process that ends between code and token leaves neither a token nor a valid code", async () => {
  await using started = await start();
  const { servers, room } = started;
  const code = await getCode(servers);
  const push = room.records.push.bind(room.records);
  room.records.push = (entry) => {
    if (entry?.action === "token.issued") throw new Error("killed");
    return entry ? push(entry) : room.records.length;
  };
  assert.equal((await exchange(servers[0], code)).status, 500);
  room.records.push = push;
  assert.equal(await room.store.identity.countOauthRecords("AccessToken", room.clock.now), 0);
  assert.equal((await exchange(servers[1], code)).status, 400);
  assert.equal((await exchange(servers[1], await getCode(servers))).status, 200);
});

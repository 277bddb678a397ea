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
  const openMortal = async (steps: { left: number }) => open(await room.openMortal(steps));
  const close = async (): Promise<void> => {
    for (const one of [egress, room]) await one[Symbol.asyncDispose]();
  };
  return { room, servers, openMortal, [Symbol.asyncDispose]: close };
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

const post = async (server: AuthorizationServer, path: string, fields: Record<string, string>) => {
  const body = new URLSearchParams({ client_id: "cli", ...fields }).toString();
  const answer = await send(server, path, { body });
  const text = await answer.text();
  const tokens = text === "" ? {} : (JSON.parse(text) as { access_token?: string; refresh_token?: string });
  return { status: answer.status, access: tokens.access_token ?? "", refresh: tokens.refresh_token ?? "" };
};
const redeem = (server: AuthorizationServer, code: string) =>
  post(server, "/oauth/token", {
    grant_type: "authorization_code",
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
    code,
  });
const renew = (server: AuthorizationServer, refresh: string) =>
  post(server, "/oauth/token", { grant_type: "refresh_token", refresh_token: refresh });

/** Repeats `act` in processes that end after no step, one, two and so on, until one of them comes to its end. */
async function killEverywhere(act: (steps: { left: number }) => Promise<"ended" | "killed">): Promise<number> {
  for (let count = 0; ; count += 1) if ((await act({ left: count })) === "ended") return count;
}

test("a process that ends anywhere in a consent leaves a login that was recorded, or none", async () => {
  await using started = await start();
  const { servers, room, openMortal } = started;
  const steps = await killEverywhere(async (left) => {
    const [before, mortal] = [room.records.length, await openMortal(left)];
    const code = await getCode([mortal, mortal]).catch(() => "");
    const tokens = code === "" ? undefined : await redeem(mortal, code);
    const made = room.records.slice(before).map(({ action }) => action);
    if (tokens?.status === 200) return "ended";
    // What the client has is a code at most. Another process redeems it, if the person's consent is on record.
    const again = await redeem(servers[0], code);
    if (again.status === 200) assert.ok(made.includes("consent.given"));
    assert.notEqual((await redeem(servers[1], code)).status, 200);
    return "killed";
  });
  assert.ok(steps > 5, `${steps} steps`);
});

test("a process that ends anywhere in a renewal leaves one successor at most, and no token that outlives its login", async () => {
  await using started = await start();
  const { servers, room, openMortal } = started;
  const isValid = async (text: string) => !!(await room.identity.verify({ text, origin: "", resource: RESOURCE }));
  const other = await redeem(servers[0], await getCode(servers));
  const steps = await killEverywhere(async (left) => {
    const first = await redeem(servers[0], await getCode(servers));
    assert.equal(first.status, 200);
    if ((await renew(await openMortal(left), first.refresh)).status === 200) return "ended";
    const again = await renew(servers[1], first.refresh);
    // The token was used up. A second use may be that of a thief, so the login has ended as a whole.
    if (again.status !== 200) assert.deepEqual([await isValid(first.access), again.access], [false, ""]);
    assert.notEqual((await renew(servers[0], first.refresh)).status, 200);
    assert.equal(await isValid(again.access), false);
    return "killed";
  });
  assert.ok(steps >= 3, `${steps} steps`);
  assert.ok(await isValid(other.access));
});

test("a process that ends anywhere in a revocation leaves the login whole or ended, and a repetition ends it", async () => {
  await using started = await start();
  const { servers, room, openMortal } = started;
  const isValid = async (text: string) => !!(await room.identity.verify({ text, origin: "", resource: RESOURCE }));
  for (const which of ["access", "refresh"] as const) {
    const steps = await killEverywhere(async (left) => {
      const login = await redeem(servers[0], await getCode(servers));
      const revoke = (server: AuthorizationServer) => post(server, "/oauth/revoke", { token: login[which] });
      if ((await revoke(await openMortal(left))).status === 200) return "ended";
      const isWhole = await isValid(login.access);
      assert.equal((await revoke(servers[1])).status, 200);
      assert.equal(await isValid(login.access), false, `${which} after ${left.left}`);
      assert.notEqual((await renew(servers[0], login.refresh)).status, 200, `${which}, whole: ${isWhole}`);
      return "killed";
    });
    assert.ok(steps >= 3, `${steps} steps`);
  }
});

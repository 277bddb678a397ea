/** When a token is taken from the store, renewed, or given up. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";

import type { Login, LoginStore } from "./login-store.ts";
import { createTokenSource } from "./token-source.ts";

const ID = parseConnectorId("up");
assert.ok(ID);
const id = ID;
const URL_OF_UPSTREAM = "https://up.example/mcp";
const LOGIN: Login = {
  upstream: id,
  issuer: "https://login.example",
  resource: URL_OF_UPSTREAM,
  client: { id: "glovebox" },
  tokenEndpoint: { url: "https://login.example/token", authMethods: ["none"] },
  access: new Secret("old"),
  refresh: new Secret("refresh"),
  expiresAt: 100_000,
};

/** A store of one login, a token endpoint with this answer, and a clock that the test sets. */
class Bench {
  time = 0;
  requests = 0;
  stored: Login | undefined;
  readonly source;

  constructor(login: Login | undefined, answer: Response) {
    this.stored = login;
    const logins: LoginStore = {
      find: async () => this.stored,
      keep: async (kept) => void (this.stored = kept),
      drop: async () => true,
      alone: (_upstream, work) => work(),
    };
    const fetch = async (): Promise<Response> => {
      this.requests += 1;
      return answer.clone();
    };
    this.source = createTokenSource({ id, url: URL_OF_UPSTREAM, logins, fetch, now: () => this.time });
  }

  async current(): Promise<string | undefined> {
    return (await this.source.current())?.reveal();
  }
}

const renewed = Response.json({ access_token: "new", token_type: "bearer", expires_in: 60 });

test("a token is used until 30 s before it expires, then renewed once for concurrent callers", async () => {
  const bench = new Bench(LOGIN, renewed);
  bench.time = 69_999;
  assert.deepEqual([await bench.current(), bench.requests], ["old", 0]);
  bench.time = 70_000;
  assert.deepEqual(await Promise.all([bench.current(), bench.current()]), ["new", "new"]);
  assert.deepEqual([bench.requests, bench.stored?.expiresAt], [1, 130_000]);
});

test("a token that another process replaced is not renewed again", async () => {
  const bench = new Bench(LOGIN, renewed);
  assert.equal(await bench.current(), "old");
  bench.stored = { ...LOGIN, access: new Secret("theirs") };
  assert.equal((await bench.source.renew(new Secret("old")))?.reveal(), "theirs");
  assert.equal(bench.requests, 0);
});

test("a refresh token that the server rejects for good is dropped, and no token is left until the next login", async () => {
  const bench = new Bench(LOGIN, Response.json({ error: "invalid_grant" }, { status: 400 }));
  assert.equal(await bench.source.renew(new Secret("old")), undefined);
  assert.equal(bench.stored?.refresh, undefined);
});

test("a failed renewal that may work later keeps the refresh token and rejects", async () => {
  const bench = new Bench(LOGIN, Response.json({ error: "server_error" }, { status: 500 }));
  await assert.rejects(bench.source.renew(new Secret("old")), { code: "UPSTREAM_AUTH_REQUIRED" });
  assert.equal(bench.stored?.refresh?.reveal(), "refresh");
});

test("without a login, or with one for another resource, the source has no token", async () => {
  assert.equal(await new Bench(undefined, renewed).current(), undefined);
  assert.equal(await new Bench({ ...LOGIN, resource: "https://other.example/mcp" }, renewed).current(), undefined);
});

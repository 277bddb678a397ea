/** What an entry of `mcpServers` becomes, and which are refused or left out. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { FOLDER, parse, refusal } from "./fixtures/parse.ts";
import { parseSettings } from "./index.ts";

test("a server with a command is started, with its folder and its secrets left as references", () => {
  const env = { TOKEN: "Bearer ${secret:API_KEY}", HOME: "${HOME}", EMPTY: "" };
  const server = { type: "stdio", command: "npx", args: ["-y", "${PKG:-files}"], env, cwd: "sub" } as const;
  const { upstreams } = parse({ mcpServers: { "my files": server } }, { HOME: "/home/me" });
  const expected = {
    transport: "stdio",
    command: "npx",
    args: ["-y", "files"],
    env: { TOKEN: ["Bearer ", { secret: "API_KEY" }], HOME: ["/home/me"], EMPTY: [] },
    cwd: "/srv/app/sub",
    startMs: 30_000,
    start: "eager",
  };
  assert.deepEqual([...upstreams], [["my files", expected]]);
});

test("a server with a url is reached over HTTP under every name that clients give the transport", () => {
  const url = "https://mcp.example.com/mcp";
  const headers = { "X-Key": [{ secret: "K" }] };
  const oauth = { scopes: [], grants: [] };
  const expected = { transport: "http", url, headers, oauth, network: { tools: [] }, startMs: 1000, start: "lazy" };
  for (const type of ["http", "streamable-http", "streamableHttp", undefined] as const) {
    const server = { type, url, headers: { "X-Key": "${secret:K}" }, startupTimeoutMs: 1000, start: "lazy" as const };
    assert.deepEqual([...parse({ mcpServers: { remote: server } }).upstreams.values()], [expected]);
  }
});

test("a url is a server of the old SSE transport only when the type says so, and a command never is", () => {
  const url = "https://example.com/sse";
  const transportOf = (type: "sse" | undefined): unknown =>
    parse({ mcpServers: { old: { type, url } } })
      .upstreams.values()
      .next().value?.transport;
  assert.deepEqual([transportOf("sse"), transportOf(undefined)], ["sse", "http"]);
  assert.equal(
    refusal({ mcpServers: { old: { type: "sse", command: "x" } } }),
    'configuration mcpServers.old.type: "sse" needs url, but command is given; leave type out',
  );
});

test("a disabled server is left out, however broken it is, and an enabled one is not", () => {
  const broken = { type: "carrier-pigeon", url: "${MISSING}" };
  const mcpServers = { on: { command: "a", disabled: false }, off: { ...broken, disabled: true } };
  assert.deepEqual([...parseSettings({ mcpServers }, { folder: FOLDER }, {}).upstreams.keys()], ["on"]);
  assert.notEqual(refusal({ mcpServers: { off: broken } }), "accepted");
});

test("a server called constructor is a server, and one called __proto__ is refused", () => {
  assert.deepEqual([...parse({ mcpServers: { constructor: { command: "a" } } }).upstreams.keys()], ["constructor"]);
  const text = '{ "mcpServers": { "__proto__": { "command": "a" } } }';
  const message = "configuration mcpServers.__proto__: this name cannot be used; choose another";
  assert.equal(refusal(JSON.parse(text)), message);
  assert.equal(
    refusal(JSON.parse('{ "__proto__": { "server": { "port": 1 } } }')),
    "configuration __proto__: this name cannot be used; choose another",
  );
  assert.equal(Object.hasOwn(Object.prototype, "command"), false);
});

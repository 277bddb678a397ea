/** What an entry of `mcpServers` becomes, and which are refused or ignored. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../domain/index.ts";
import { FOLDER, parse, refusal } from "./fixtures/parse.ts";
import { parseSettings } from "./index.ts";

test("a server with a command becomes a stdio server with its folder and secret references", () => {
  const env = { TOKEN: "Bearer ${secret:API_KEY}", HOME: "${HOME}", EMPTY: "" };
  const server = { type: "stdio", command: "npx", args: ["-y", "${PKG:-files}"], env, cwd: "sub" } as const;
  const { upstreams } = parse({ mcpServers: { "my files": server } }, { HOME: "/home/me" });
  const expected = {
    transport: "stdio",
    command: "npx",
    args: ["-y", "files"],
    env: { TOKEN: ["Bearer ", { secret: "API_KEY" }], HOME: ["/home/me"], EMPTY: [] },
    cwd: "/srv/app/sub",
    folders: [{ key: "cwd", path: "/srv/app/sub" }],
    startMs: 30_000,
    start: "eager",
  };
  assert.deepEqual([...upstreams], [["my files", expected]]);
});

test("the folders of a server are its files and its cwd, if they are set", () => {
  const files = { read: ["docs", "/srv/data"], write: ["out"] };
  const foldersOf = (server: object): unknown => {
    const [found] = parse({ mcpServers: { a: { command: "a", ...server } } }).upstreams.values();
    return found && "folders" in found ? found.folders : undefined;
  };
  assert.equal(foldersOf({}), undefined);
  assert.deepEqual(foldersOf({ files, cwd: "." }), [
    { key: "files.read", path: "/srv/app/docs" },
    { key: "files.read", path: "/srv/data" },
    { key: "files.write", path: "/srv/app/out" },
    { key: "cwd", path: "/srv/app" },
  ]);
  assert.equal(
    refusal({ mcpServers: { a: { url: "https://example.com", files } } }),
    "configuration mcpServers.a.files: has an effect only together with command",
  );
});

test("a server with a url is an HTTP server for every transport name of clients", () => {
  const url = "https://mcp.example.com/mcp";
  const headers = { "X-Key": [{ secret: "K" }] };
  const oauth = { scopes: [], grants: [] };
  const expected = { transport: "http", url, headers, oauth, network: { tools: [] }, startMs: 1000, start: "lazy" };
  for (const type of ["http", "streamable-http", "streamableHttp", undefined] as const) {
    const server = { type, url, headers: { "X-Key": "${secret:K}" }, startupTimeoutMs: 1000, start: "lazy" as const };
    assert.deepEqual([...parse({ mcpServers: { remote: server } }).upstreams.values()], [expected]);
  }
});

test("a server with a url uses SSE only with type sse, and a command never does", () => {
  const url = "https://example.com/sse";
  const transportOf = (type: "sse" | undefined): unknown =>
    parse({ mcpServers: { old: { type, url } } })
      .upstreams.values()
      .next().value?.transport;
  assert.deepEqual([transportOf("sse"), transportOf(undefined)], ["sse", "http"]);
  assert.equal(
    refusal({ mcpServers: { old: { type: "sse", command: "x" } } }),
    'configuration mcpServers.old.type: "sse" needs url, but the entry has command; remove type',
  );
});

test("a disabled server is ignored even if it is invalid, and an enabled one is not", () => {
  const broken = { type: "carrier-pigeon", url: "${MISSING}" };
  const mcpServers = { on: { command: "a", disabled: false }, off: { ...broken, disabled: true } };
  assert.deepEqual([...parseSettings({ mcpServers }, { folder: FOLDER }, {}).upstreams.keys()], ["on"]);
  assert.notEqual(refusal({ mcpServers: { off: broken } }), "accepted");
});

test("a server can have the name constructor, but not __proto__", () => {
  assert.deepEqual([...parse({ mcpServers: { constructor: { command: "a" } } }).upstreams.keys()], ["constructor"]);
  const text = '{ "mcpServers": { "__proto__": { "command": "a" } } }';
  const message = "configuration mcpServers.__proto__: this name is not allowed; choose another";
  assert.equal(refusal(JSON.parse(text)), message);
  assert.equal(
    refusal(JSON.parse('{ "__proto__": { "server": { "port": 1 } } }')),
    "configuration __proto__: this name is not allowed; choose another",
  );
  assert.equal(Object.hasOwn(Object.prototype, "command"), false);
});

const readOauth = (oauth: unknown, server: object = { url: "https://notes.example/mcp" }): unknown => {
  const id = parseConnectorId("notes");
  const settings = parseSettings({ mcpServers: { notes: { ...server, oauth } } }, { folder: "/tmp" }, { ID: "x" });
  const upstream = id && settings.upstreams.get(id);
  return upstream && "oauth" in upstream ? upstream.oauth : undefined;
};

test("oauth has defaults for every setting", () => {
  assert.deepEqual(readOauth(undefined), { scopes: [], grants: [] });
});

test("every oauth setting is read, and the client secret stays a reference", () => {
  const url = "https://operator.example/glovebox.json";
  const written = { clientId: "${ID}", clientSecret: "${secret:S}", clientMetadataUrl: url, scopes: ["a:b"] };
  assert.deepEqual(readOauth({ ...written, grants: ["10.0.0.5:443"] }), {
    clientId: "x",
    clientSecret: [{ secret: "S" }],
    clientMetadataUrl: url,
    scopes: ["a:b"],
    grants: [{ host: "10.0.0.5", port: 443 }],
  });
});

test("invalid oauth settings are refused at their key", () => {
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [{ clientSecret: "s" }, /oauth\.clientSecret.*only together with clientId/s],
    [{ clientId: "${secret:S}" }, /oauth\.clientId.*is allowed only in/s],
    [{ clientMetadataUrl: "http://operator.example/a" }, /expected an https URL with a path/],
    [{ clientMetadataUrl: "https://operator.example/" }, /expected an https URL with a path/],
    [{ scopes: ["two words"] }, /expected a scope/],
    [{ grants: ["10.0.0.5"] }, /"host:port"/],
    [{ clientID: "x" }, /clientId/],
  ];
  for (const [oauth, message] of refused) assert.throws(() => readOauth(oauth), message, JSON.stringify(oauth));
  assert.throws(() => readOauth({ clientId: "x" }, { command: "true" }), /only together with url/);
});

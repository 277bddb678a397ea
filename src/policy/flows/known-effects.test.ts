/** Reviewed effects: by the configured package and the exact name, and for nothing else. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { parseSettings } from "../../config/index.ts";
import { parseConnectorId } from "../../domain/index.ts";
import { REVIEWED_SERVERS, createEffectReview } from "./known-effects.ts";
import { KNOWN_SERVERS } from "./known-servers.ts";

const id = parseConnectorId("it") ?? assert.fail();

function effectOf(remoteName: string, ...[command = "npx", ...args]: readonly string[]) {
  const settings = parseSettings({ mcpServers: { it: { command, args } } }, { folder: "/" }, {});
  return createEffectReview(settings)({ connector: id, remoteName });
}

it("createEffectReview knows tools of a server that the operator configured by its package", () => {
  const files = "@modelcontextprotocol/server-filesystem";
  for (const command of [
    ["npx", "-y", files, "/work"],
    ["npx", `${files}@2026.8.31`, "/work"],
    ["node", `/app/node_modules/${files}/dist/index.js`, "/work"],
    ["docker", "run", "-i", "mcp/filesystem:latest", "/work"],
    ["mcp-server-filesystem", "/work"],
    ["/usr/local/bin/mcp-server-filesystem", "/work"],
    ["node", "/app/node_modules/.bin/mcp-server-filesystem", "/work"],
    ["C:\\app\\node_modules\\.bin\\mcp-server-filesystem.cmd", "/work"],
  ])
    assert.equal(effectOf("write_file", ...command), "write", command.join(" "));
  assert.equal(effectOf("browser_navigate", "npx", "@playwright/mcp"), "write");
  assert.equal(effectOf("browserHover", "npx", "@playwright/mcp"), "write");
  assert.equal(effectOf("browser_snapshot", "npx", "@playwright/mcp"), "read");
  assert.equal(effectOf("fetch", "uvx", "mcp_server_fetch"), "read");
});

it("createEffectReview knows nothing about other tools, other servers and folders with such names", () => {
  assert.equal(effectOf("write_file", "npx", "my-files"), undefined);
  assert.equal(effectOf("write_files", "npx", "@modelcontextprotocol/server-filesystem"), undefined);
  assert.equal(effectOf("browser_click", "npx", "@playwright/mcp"), undefined);
  assert.equal(effectOf("fetch", "node", "evil.js", "/work/mcp-server-fetch"), undefined);
  assert.equal(effectOf("fetch", "npx", "@modelcontextprotocol/server-filesystem", "mcp-server-fetch"), undefined);
  assert.equal(effectOf("write_file", "node", "evil.js", "/work/bin/mcp-server-filesystem"), undefined);
  assert.equal(effectOf("write_file", "/work/mcp-server-filesystem", "/work"), undefined);
});

it("reviewed servers are known servers, with names that have no separators", () => {
  const known = new Set(KNOWN_SERVERS.flatMap(({ packages }) => packages));
  for (const { packages, tools } of REVIEWED_SERVERS) {
    for (const name of packages.filter((one) => !/time/.test(one))) assert.ok(known.has(name), name);
    for (const name of tools.keys()) assert.match(name, /^[a-z]+$/);
  }
});

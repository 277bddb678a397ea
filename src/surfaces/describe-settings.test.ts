/** What an operator sees of settings: all of them, with their source, and no credential. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSettings } from "../config/index.ts";
import { describeSettings } from "./describe-settings.ts";

const PLAIN = "gh-4f9a8b7c6d5e4f3a2b1c";

test("each setting has its source, and credentials are not among the values", () => {
  const settings = parseSettings(
    {
      mcpServers: {
        crm: {
          url: "https://crm.example.com/mcp",
          headers: { Authorization: "Bearer ${secret:CRM}", "X-Other": PLAIN },
        },
        files: { command: "serve", args: [`--token=${PLAIN}`, "docs"], env: { KEY: PLAIN } },
      },
      sandbox: { limits: { wallMs: 5_000 } },
      server: { proxyToken: `${PLAIN}${PLAIN}` },
    },
    { folder: "/work" },
    {},
  );
  const described = new Map(describeSettings(settings).map(({ key, value, source }) => [key, [value, source]]));
  assert.deepEqual(described.get("sandbox.limits.wallMs"), ["5000", "configuration"]);
  assert.deepEqual(described.get("sandbox.limits.cpuMs"), ["10000", "default"]);
  assert.deepEqual(described.get("mcpServers.crm.headers.Authorization"), ['"${secret:CRM}"', "configuration"]);
  assert.deepEqual(described.get("mcpServers.crm.headers.X-Other"), ['"(set)"', "configuration"]);
  assert.deepEqual(described.get("mcpServers.files.args"), ['["--token=(set)","docs"]', "configuration"]);
  assert.deepEqual(described.get("server.auth"), ['"local"', "default"]);
  assert.equal(JSON.stringify([...described]).includes(PLAIN), false);
});

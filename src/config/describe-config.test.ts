/** What a person sees before consent: every value of the configuration, the dangerous ones by kind. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { digestOf } from "../text/index.ts";
import { describeConfig } from "./index.ts";

function describe(text: string, isCode = false): readonly string[] {
  return describeConfig({ path: "/p/c.json", realPath: "/p/c.json", text, digest: digestOf(text), isCode });
}

test("describeConfig lists commands, modules, addresses, references and every other setting", () => {
  const text = String.raw`{
    "mcpServers": {
      "files": { "command": "sh", "args": ["-c", "curl x | sh"], "env": { "KEY": "\u0024{secret:KEY}" } },
      "remote": { "url": "https://remote.example.com/mcp", "headers": { "A": "Bearer ${"$"}{TOKEN}" } },
    },
    "adapters": ["./adapter.mjs"],
    "policy": { "profile": "open" }, // comment
    "sandbox": { "isolation": "process" },
  }`;
  assert.deepEqual(describe(text), [
    "commands that it starts:",
    '  files: "sh" "-c" "curl x | sh"',
    "modules that it loads:",
    '  adapters[0]: "./adapter.mjs"',
    "addresses:",
    '  mcpServers.remote.url: "https://remote.example.com/mcp"',
    "references to the environment and to secrets:",
    "  ${secret:KEY}",
    "  ${TOKEN}",
    "other settings:",
    '  mcpServers.files.env.KEY: "${secret:KEY}"',
    '  mcpServers.remote.headers.A: "Bearer ${TOKEN}"',
    '  policy.profile: "open"',
    '  sandbox.isolation: "process"',
  ]);
});

test("describeConfig shows nothing for an empty configuration, and the whole source of code", () => {
  assert.deepEqual(describe("{}"), []);
  assert.deepEqual(describe("run();\r\nexport default {};", true), [
    "code that runs with your rights:",
    "  run();",
    "  export default {};",
  ]);
});

test("describeConfig throws CONFIG_INVALID for text that is not JSON", () => {
  assert.throws(() => describe("{"), { code: "CONFIG_INVALID" });
});

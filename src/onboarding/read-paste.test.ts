import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { readPaste } from "./read-paste.ts";

const server = (name: string, entry: object, isGuess = false) => ({
  section: "mcpServers",
  entries: { [name]: entry },
  isGuess,
});

describe("readPaste", () => {
  const npx = { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem@1.2", "."] };
  const pasted: readonly (readonly [string, readonly string[], object])[] = [
    [
      "a command as words",
      ["npx", "-y", "@modelcontextprotocol/server-filesystem@1.2", "."],
      server("filesystem", npx),
    ],
    ["a command as one string", ["npx -y @modelcontextprotocol/server-filesystem@1.2 ."], server("filesystem", npx)],
    [
      "a container",
      ["docker", "run", "-i", "--rm", "ghcr.io/acme/mcp-weather:2"],
      server("weather", { command: "docker", args: ["run", "-i", "--rm", "ghcr.io/acme/mcp-weather:2"] }),
    ],
    [
      "a script",
      ["node", "/srv/tools/dist/index.js"],
      server("tools", { command: "node", args: ["/srv/tools/dist/index.js"] }),
    ],
    [
      "a program",
      ["/opt/bin/github-mcp-server"],
      server("github", { command: "/opt/bin/github-mcp-server", args: [] }),
    ],
    ["the URL of a server", ["https://mcp.acme.com/mcp"], server("acme", { url: "https://mcp.acme.com/mcp" }, true)],
    [
      "a URL with a name",
      ["https://example.com/github/mcp"],
      server("github", { url: "https://example.com/github/mcp" }, true),
    ],
    [
      "the URL of a document",
      ["https://petstore.example.com/v3/openapi.json"],
      {
        section: "openapi",
        entries: { petstore: { document: "https://petstore.example.com/v3/openapi.json" } },
        isGuess: true,
      },
    ],
    [
      "the path of a document",
      ["./crm.yaml"],
      { section: "openapi", entries: { crm: { document: "./crm.yaml" } }, isGuess: false },
    ],
    ["a client's file", [`{"mcpServers":{"a":{"command":"x"}}}`], server("a", { command: "x" })],
    [
      "a section of VS Code",
      [`{"servers":{"a":{"url":"https://a.example"}}}`],
      server("a", { url: "https://a.example" }),
    ],
    ["servers by name", [`{"a":{"command":"x"}}`], server("a", { command: "x" })],
    ["one entry", [`{"command":"npx","args":["mcp-time"]}`], server("time", { command: "npx", args: ["mcp-time"] })],
  ];
  for (const [what, words, expected] of pasted)
    it(`recognizes ${what}`, () => assert.deepEqual(readPaste(words), expected));

  for (const [what, text, message] of [
    ["JSON that is cut off", `{"mcpServers":`, /cannot be parsed/],
    ["JSON without a server", `{"theme":"dark"}`, /has no server/],
    ["nothing", "", /Nothing was pasted/],
  ] as const)
    it(`refuses ${what}`, () => assert.throws(() => readPaste([text]), message));
});

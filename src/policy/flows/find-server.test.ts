import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import { findServer, findServerPlaces } from "./find-server.ts";
import type { ServerPlace } from "./find-server.ts";
import { KNOWN_SERVERS } from "./known-servers.ts";

const command = (...words: readonly string[]): ServerPlace => {
  const [first = "", ...args] = words;
  return { kind: "command", command: first, args };
};
const url = (text: string): ServerPlace => ({ kind: "url", url: text });

/** The first package identifies the server. */
const nameOf = (place: ServerPlace): string | undefined => findServer(place)?.packages[0];

describe("findServer recognizes a server by", () => {
  for (const [how, place, server] of [
    [
      "its npm package",
      command("npx", "-y", "@modelcontextprotocol/server-github"),
      "@modelcontextprotocol/server-github",
    ],
    ["a package with a version", command("npx", "@playwright/mcp@0.0.40"), "@playwright/mcp"],
    [
      "a package without its scope's version",
      command("npx", "@playwright/mcp@latest", "--headless"),
      "@playwright/mcp",
    ],
    [
      "a path into node_modules",
      command("node", "/a/node_modules/@modelcontextprotocol/server-memory/dist/index.js"),
      "@modelcontextprotocol/server-memory",
    ],
    ["the program of a reference server", command("mcp-server-memory"), "@modelcontextprotocol/server-memory"],
    ["the path of such a program", command("/usr/local/bin/mcp-server-brave-search"), "mcp-server-fetch"],
    ["a path of Windows", command("C:\\tools\\GitHub-MCP-Server.exe", "stdio"), "@modelcontextprotocol/server-github"],
    [
      "an image",
      command("docker", "run", "-i", "ghcr.io/github/github-mcp-server:v1.2"),
      "@modelcontextprotocol/server-github",
    ],
    ["a Python package", command("uvx", "mcp-server-fetch==2025.4.7"), "mcp-server-fetch"],
    ["a Python module", command("python", "-m", "mcp_server_git"), "mcp-server-git"],
    ["an option with the package", command("uvx", "--from=mcp-server-git", "x"), "mcp-server-git"],
    ["the host of its URL", url("https://mcp.linear.app/mcp"), "mcp-linear"],
    ["a host below a known one", url("https://copilot-api.acme.ghe.com/mcp"), "@modelcontextprotocol/server-github"],
    [
      "a URL that a command is given",
      command("npx", "mcp-remote", "https://mcp.notion.com/sse"),
      "@notionhq/notion-mcp-server",
    ],
    [
      "the package before the folders",
      command("npx", "@modelcontextprotocol/server-filesystem", "/src/github-mcp-server"),
      "@modelcontextprotocol/server-filesystem",
    ],
  ] as const) {
    it(how, () => assert.equal(nameOf(place), server));
  }
});

describe("findServer recognizes nothing in", () => {
  for (const place of [
    command("node", "server.js"),
    command("npx", "@evil/server-github"),
    command("npx", "my-github-mcp-server-fork"),
    command("npx", "@modelcontextprotocol/server-github-evil"),
    url("https://mcp.linear.app.example.com/mcp"),
    url("https://example.com/?host=mcp.linear.app"),
    url("https://ghe.com/mcp"),
    url("not a url"),
  ]) {
    it(JSON.stringify(place), () => assert.equal(nameOf(place), undefined));
  }
});

it("every known server can be recognized and is spelled in normalized form", () => {
  for (const server of KNOWN_SERVERS) {
    for (const name of server.packages) {
      assert.equal(findServer(command("npx", name)), server, name);
      assert.equal(name, name.toLowerCase().replaceAll("_", "-"));
    }
    for (const host of server.hosts) assert.equal(findServer(url(`https://${host.replace("*", "a")}/`)), server, host);
  }
});

describe("findServerPlaces", () => {
  const id = (name: string) => {
    const parsed = parseConnectorId(name);
    assert.ok(parsed);
    return parsed;
  };
  const common = { network: { tools: [] }, startMs: 1, headers: {} };
  const api = { ...common, auth: {}, include: [], exclude: [] };

  it("returns the command of a child server and the URL of a remote one", () => {
    const stdio = { transport: "stdio", command: "npx", args: ["-y"], env: {}, cwd: "/" } as const;
    const http = { ...common, transport: "http", url: "https://example.com/mcp" } as const;
    const start = { startMs: 1, start: "lazy" } as const;
    const oauth = { scopes: [], grants: [] };
    const upstreams = new Map([
      [id("local"), { ...stdio, ...start }],
      [id("remote"), { ...http, ...start, oauth }],
    ]);
    const places = findServerPlaces({ upstreams, apis: new Map() });
    const local = places.get(id("local"));
    assert.equal(local?.kind === "command" && `${local.command} ${local.args.join(" ")}`, "npx -y");
    assert.deepEqual(places.get(id("remote")), { kind: "url", url: "https://example.com/mcp" });
  });

  it("returns the base URL of an API, else the URL of its document, else nothing", () => {
    const file = { kind: "file", path: "/api.yaml" } as const;
    const document = { kind: "url", url: "https://docs.example/api.yaml" } as const;
    const apis = new Map([
      [id("based"), { ...api, document: file, baseUrl: "https://api.example" }],
      [id("documented"), { ...api, document, baseUrl: undefined }],
      [id("unknown"), { ...api, document: file, baseUrl: undefined }],
    ]);
    assert.deepEqual(
      [...findServerPlaces({ upstreams: new Map(), apis })],
      [
        ["based", { kind: "api", url: "https://api.example" }],
        ["documented", { kind: "api", url: "https://docs.example/api.yaml" }],
      ],
    );
  });
});

/** The built product imports the servers of clients, a client starts what was written, and everything is undone. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { before, describe, it } from "node:test";
import { spawnSync } from "node:child_process";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { HOMES, makeHome } from "../../../src/onboarding/fixtures/homes.ts";
import { LAUNCHER, runGlovebox } from "../../fixtures/product.ts";
import { runAtTerminal, withoutTerminal } from "../../fixtures/terminal.ts";

const SERVER = join("test/fixtures/servers", "never-started.js");
const CURSOR = `{
  // mine
  "mcpServers": { "quiet": { "command": "node", "args": ["${SERVER}"], "env": { "API_KEY": "key-0123456789" } } }
}
`;
const CODEX = `# mine\n[mcp_servers.other]\ncommand = "node"\nargs = ["other.js"]\nenabled = false\n`;
const FILES_OF_CODEX = { ".codex/config.toml": CODEX };
const FILES = { ".cursor/mcp.json": CURSOR, ...FILES_OF_CODEX };

describe("glovebox init and eject", () => {
  const { home } = makeHome(FILES);
  const configPath = join(home, ".config/glovebox/glovebox.config.json");
  const run = (...args: readonly string[]) => runGlovebox([...args, "--home", home], { folder: home });
  const read = (path: string): string => readFileSync(join(home, path), "utf8");

  it("changes nothing without a terminal or --yes, and names the flag", async () => {
    const { code, stderr } = await run("init");
    assert.equal(code, 2);
    assert.match(stderr, /--dry-run, then pass --yes/);
    for (const [path, text] of Object.entries(FILES)) assert.equal(read(path), text);
    assert.equal(existsSync(configPath), false);
  });

  it("shows the changes without the secrets in them", async () => {
    const { code, stdout } = await run("init", "--dry-run");
    assert.equal(code, 0);
    assert.match(stdout, /the secret API_KEY moves to the vault/);
    assert.match(stdout, /\+ \[mcp_servers\.glovebox\]/);
    assert.doesNotMatch(stdout, /key-0123456789/);
  });

  describe("after init --yes", () => {
    before(async () => {
      const { code, stdout, stderr } = await run("init", "--yes", "--json");
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout).secrets, ["API_KEY"]);
    });

    it("a client starts the entry that was written, and finds four tools", async () => {
      const { command, args } = JSON.parse(read(".cursor/mcp.json").replace("// mine", "")).mcpServers.glovebox;
      const client = new Client({ name: "test", version: "1.0.0" });
      const env = { PATH: process.env["PATH"] ?? "", HOME: home };
      await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
      try {
        const { tools } = await client.listTools();
        assert.deepEqual(tools.map(({ name }) => name).toSorted(), ["describe", "execute", "resume", "search"]);
      } finally {
        await client.close();
      }
    });

    it("the secret is in the vault, and in no file in clear", async () => {
      const { stdout } = await runGlovebox(["secrets", "--config", configPath, "--json"], {
        folder: home,
        environment: { XDG_STATE_HOME: join(home, ".local/state") },
      });
      assert.deepEqual(
        JSON.parse(stdout).secrets.map(({ name }: { name: string }) => name),
        ["API_KEY"],
      );
      const found = spawnSync("grep", ["-rl", "key-0123456789", home], { encoding: "utf8" });
      assert.equal(found.stdout, "");
    });

    it("eject restores every byte", async () => {
      const { code } = await run("eject", "--yes");
      assert.equal(code, 0);
      for (const [path, text] of Object.entries(FILES)) assert.equal(read(path), text);
      assert.equal(existsSync(configPath), false);
      const again = await run("eject", "--yes", "--json");
      assert.deepEqual(JSON.parse(again.stdout).files, []);
    });
  });
});

describe("glovebox init with every client", () => {
  const files = Object.assign({}, ...Object.values(HOMES)) as Record<string, string>;
  const { home } = makeHome(files);
  const run = (...args: readonly string[]) => runGlovebox([...args, "--home", home], { folder: home });

  it("writes a configuration that is valid, and eject works after it was broken by hand", async () => {
    const { code, stderr, stdout } = await run("init", "--yes", "--json");
    assert.equal(code, 0, stderr);
    const { config, servers } = JSON.parse(stdout);
    assert.ok(servers.length > 10, stdout);
    const listed = await runGlovebox(["policy", "--config", config], { folder: home });
    assert.equal(listed.code, 0, listed.stderr);
    writeFileSync(config, readFileSync(config, "utf8").replace("{", "{ broken"));
    const eject = await run("eject", "--yes");
    assert.equal(eject.code, 0, eject.stderr);
    for (const [path, text] of Object.entries(files)) assert.equal(readFileSync(join(home, path), "utf8"), text, path);
  });
});

describe("glovebox init at a terminal", { skip: withoutTerminal }, () => {
  const memory = resolve("node_modules/@modelcontextprotocol/server-memory/dist/index.js");
  const notes = { command: process.execPath, args: [memory] };
  const { home } = makeHome({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { notes } }), ...FILES_OF_CODEX });
  const state = { XDG_STATE_HOME: join(home, ".local/state") };
  const toEntry = () => JSON.parse(readFileSync(join(home, ".cursor/mcp.json"), "utf8")).mcpServers.glovebox;

  /** What a client does first: it starts the entry, and a program calls a tool. */
  async function callTool(): Promise<void> {
    const { command, args } = toEntry();
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, ...state };
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
    try {
      const { structuredContent } = await client.callTool({
        name: "execute",
        arguments: { code: "return await notes.readGraph({})" },
      });
      assert.equal(Object(structuredContent).state, "completed", JSON.stringify(structuredContent));
    } finally {
      await client.close();
    }
  }

  it("asks for each client, shows the changes, and ends with the first call of a client", async () => {
    const { shown, code } = await runAtTerminal([process.execPath, LAUNCHER, "init", "--home", home], {
      folder: home,
      answers: [
        { after: /Register Glovebox in Cursor, import notes .*\[y\/N\] /, type: "y\n" },
        { after: /Register Glovebox in Codex.*\[y\/N\] /, type: "n\n" },
        { after: /Write these changes\? \[y\/N\] /, type: "y\n" },
        { after: /Waiting for the first call/, type: () => callTool().then(() => "") },
      ],
    });
    assert.equal(code, 0, shown);
    assert.match(shown, /It works: a client has called notes\.readGraph\./);
    assert.equal(readFileSync(join(home, ".codex/config.toml"), "utf8"), CODEX);
  });

  it("eject asks, and a no changes nothing", async () => {
    const eject = (answer: string) =>
      runAtTerminal([process.execPath, LAUNCHER, "eject", "--home", home], {
        folder: home,
        answers: [{ after: /Undo this\? \[y\/N\] /, type: answer }],
      });
    assert.equal((await eject("n\n")).code, 1);
    assert.ok(toEntry());
    assert.equal((await eject("y\n")).code, 0);
    assert.equal(readFileSync(join(home, ".cursor/mcp.json"), "utf8"), JSON.stringify({ mcpServers: { notes } }));
  });
});

describe("glovebox servers add, test and remove", () => {
  const { home } = makeHome({ "glovebox.config.json": "{\n  // mine\n}\n" });
  const config = join(home, "glovebox.config.json");
  const run = (...args: readonly string[]) => runGlovebox([...args, "--config", config, "--json"], { folder: home });
  const memory = ["node", resolve("node_modules/@modelcontextprotocol/server-memory/dist/index.js")];

  it("a pasted server is tried, shown with effects, and written with its secret in the vault", async () => {
    const pasted = { command: memory[0], args: [memory[1]], env: { API_KEY: "key-0123456789" } };
    const dry = await run("servers", "add", JSON.stringify({ mcpServers: { notes: pasted } }), "--dry-run");
    assert.equal(dry.code, 0, dry.stderr);
    assert.equal(readFileSync(config, "utf8"), "{\n  // mine\n}\n");
    const { code, stdout, stderr } = await run(
      "servers",
      "add",
      JSON.stringify({ mcpServers: { notes: pasted } }),
      "--yes",
    );
    assert.equal(code, 0, stderr);
    const { servers } = JSON.parse(stdout);
    assert.equal(servers[0].state, "ready");
    assert.ok(
      servers[0].tools.some(
        ({ name, effect }: { name: string; effect: string }) => name === "notes.readGraph" && effect === "read",
      ),
    );
    assert.deepEqual(servers[0].secrets, ["API_KEY"]);
    const text = readFileSync(config, "utf8");
    assert.match(text, /\/\/ mine/);
    assert.match(text, /\$\{secret:API_KEY\}/);
    assert.doesNotMatch(text, /key-0123456789/);
  });

  it("a server of the configuration is tested alone, with its secret", async () => {
    const { code, stdout } = await run("servers", "test", "notes");
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).server.state, "ready");
  });

  it("a name that is taken, a server that does not start and an unknown name are refused or reported", async () => {
    const again = await run("servers", "add", "--name", "notes", "--yes", "--", ...memory);
    assert.match(again.stderr, /has a server "notes"/);
    const broken = await run("servers", "add", "--dry-run", "--", "glovebox-no-such-command");
    assert.equal(broken.code, 1);
    assert.match(broken.stdout, /command not found/);
    const unknown = await run("servers", "remove", "other", "--yes");
    assert.match(unknown.stderr, /no server \\?"other/);
  });

  it("remove leaves the rest of the file as it was", async () => {
    const { code } = await run("servers", "remove", "notes", "--yes");
    assert.equal(code, 0);
    assert.equal(readFileSync(config, "utf8"), '{\n  "mcpServers": {}\n  // mine\n}\n');
  });
});

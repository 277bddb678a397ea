/** The built product imports the servers of clients, a client starts what was written, and everything is undone. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { spawnSync } from "node:child_process";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { makeHome } from "../../../src/onboarding/fixtures/homes.ts";
import { runGlovebox } from "../../fixtures/product.ts";

const SERVER = join("test/fixtures/servers", "never-started.js");
const CURSOR = `{
  // mine
  "mcpServers": { "quiet": { "command": "node", "args": ["${SERVER}"], "env": { "API_KEY": "key-0123456789" } } }
}
`;
const CODEX = `# mine\n[mcp_servers.other]\ncommand = "node"\nargs = ["other.js"]\nenabled = false\n`;
const FILES = { ".cursor/mcp.json": CURSOR, ".codex/config.toml": CODEX };

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

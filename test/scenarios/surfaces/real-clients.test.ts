/**
 * Real clients read what `init` wrote for them, each in a home folder of its own. Skipped where they are not installed:
 * `npm install --global @anthropic-ai/claude-code @openai/codex @google/gemini-cli`.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, it } from "node:test";

import { runGlovebox } from "../../fixtures/product.ts";

const LIST_MS = 120_000;

/** What a client says about a server that it knows. Claude Code connects; the others read their files. */
const CLIENTS = [
  { command: "claude", id: "claude-code", known: /glovebox: .*Connected/ },
  { command: "codex", id: "codex", known: /^glovebox .* enabled/m },
  { command: "gemini", id: "gemini-cli", known: /glovebox: / },
];

function findCommand(name: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** What `mcp list` of the client prints. */
function listServers(command: string, home: string): Promise<string> {
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  const options = { cwd: home, env: { HOME: home, PATH: path, CI: "1" }, timeout: LIST_MS };
  return new Promise((resolve) => {
    const child = execFile(command, ["mcp", "list"], options, (_, stdout, stderr) => resolve(stdout + stderr));
    child.stdin?.end();
  });
}

describe("the clients that init registers Glovebox in", () => {
  for (const { command, id, known } of CLIENTS) {
    const path = findCommand(command);
    const skip = path === undefined && `${command} is not installed`;
    it(`${command} mcp list knows Glovebox after init, and not before or after eject`, { skip }, async () => {
      assert.ok(path !== undefined);
      const home = mkdtempSync(join(tmpdir(), "glovebox-client-"));
      try {
        assert.doesNotMatch(await listServers(path, home), known);
        const init = await runGlovebox(["init", "--yes", "--client", id, "--home", home], { folder: home });
        assert.equal(init.code, 0, init.stderr);
        assert.match(await listServers(path, home), known);
        const eject = await runGlovebox(["eject", "--yes", "--home", home], { folder: home });
        assert.equal(eject.code, 0, eject.stderr);
        assert.doesNotMatch(await listServers(path, home), known);
      } finally {
        rmSync(home, { recursive: true, force: true, maxRetries: 10 });
      }
    });
  }
});

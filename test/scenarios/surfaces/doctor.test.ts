/** `glovebox doctor` from outside: a healthy installation ends with 0, a broken one ends with 1 and a remedy. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { INVENTORY, makeFolder, probe, runGlovebox } from "../../fixtures/product.ts";

interface Check {
  readonly name: string;
  readonly state: string;
  readonly message: string;
  readonly hint?: string;
}

function parseChecks(stdout: string): readonly Check[] {
  const { version, checks } = JSON.parse(stdout) as { version: string; checks: Check[] };
  assert.match(version, /^\d+\.\d+\.\d+/);
  return checks;
}

const find = (checks: readonly Check[], name: string): Check | undefined => checks.find((check) => check.name === name);

describe("doctor", { concurrency: 2 }, () => {
  test("doctor reports a healthy installation and names the isolation level", async (context) => {
    const folder = makeFolder(context, { mcpServers: { inventory: INVENTORY } });
    const { code, stdout, stderr } = await runGlovebox(["doctor"], { folder });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^ok {6}node: Node \d+/m);
    assert.match(stdout, /^ok {6}configuration: \S+glovebox\.config\.json \(1 upstreams\)$/m);
    assert.match(stdout, /^ok {6}store: \S+glovebox\.db$/m);
    for (const engine of ["quickjs", "isolate"])
      assert.match(stdout, new RegExp(`^ok {6}sandbox: ${engine} engine ran a program in [\\d.]+ ms$`, "m"));
    assert.match(stdout, /^(ok {6}|warning )isolation: (strict|confined|process)/m);
    assert.match(stdout, /^ok {6}upstream inventory: 5 tools; confine off$/m);
    assert.doesNotMatch(stdout, /FAILED/);
  });

  test("doctor --json has the same checks as one object", async (context) => {
    const folder = makeFolder(context, { mcpServers: { inventory: INVENTORY } });
    const { code, stdout } = await runGlovebox(["doctor", "--json"], { folder });
    const checks = parseChecks(stdout);
    assert.equal(code, 0);
    const names = checks.map(({ name }) => name).filter((name) => !name.startsWith("layer "));
    const upstreams = ["upstream inventory", "confinement"];
    assert.deepEqual(names, [
      "node",
      "configuration",
      "store",
      "sandbox",
      "sandbox",
      "isolation",
      ...upstreams,
      "ledger",
    ]);
    assert.deepEqual(find(checks, "confinement")?.message, "not confined, so with your rights: inventory");
    assert.deepEqual(
      checks.filter(({ state }) => state === "failed"),
      [],
    );
    assert.match(find(checks, "isolation")?.message ?? "", /^(strict|confined|process)/);
  });

  test("doctor reports where a configuration is broken", async (context) => {
    const folder = makeFolder(context);
    writeFileSync(join(folder, "glovebox.config.json"), '{\n  "sandbx": {}\n}\n');
    const { code, stdout } = await runGlovebox(["doctor", "--json"], { folder });
    assert.equal(code, 1);
    assert.deepEqual(find(parseChecks(stdout), "configuration"), {
      name: "configuration",
      state: "failed",
      message: `${join(folder, "glovebox.config.json")}:2:3 sandbx: unknown key; did you mean "sandbox"?`,
      hint: "Correct the configuration and start again. glovebox.schema.json describes every key",
    });
  });

  test("doctor reports why the store cannot be created", async (context) => {
    const folder = makeFolder(context, { store: { url: "sqlite:./taken/glovebox.db" } });
    writeFileSync(join(folder, "taken"), "a file where the folder should be");
    const { code, stdout } = await runGlovebox(["doctor", "--json"], { folder });
    assert.equal(code, 1);
    assert.deepEqual(find(parseChecks(stdout), "store"), {
      name: "store",
      state: "failed",
      message: `Cannot create the store at ${join(folder, "taken/glovebox.db")}: a part of the path is a file`,
      hint: "Set a file in a folder that this user can write to in `store.url`",
    });
  });

  test("doctor names the cause and the remedy for a failed upstream, and reports the others as healthy", async (context) => {
    const folder = makeFolder(context, {
      mcpServers: { inventory: INVENTORY, gone: { command: "no-such-command" }, crash: probe("--crash") },
      sandbox: { engine: "quickjs" },
    });
    const { code, stdout } = await runGlovebox(["doctor", "--json"], { folder });
    const checks = parseChecks(stdout);
    assert.equal(code, 1);
    const sandboxes = checks.filter(({ name }) => name === "sandbox").map(({ message }) => message.split(" ", 1)[0]);
    assert.deepEqual(sandboxes, ["quickjs"]);
    assert.deepEqual(
      checks.filter(({ name }) => name.startsWith("upstream ")),
      [
        { name: "upstream inventory", state: "ok", message: "5 tools; confine off" },
        {
          name: "upstream gone",
          state: "failed",
          message: "command not found: no-such-command",
          hint: "Check that no-such-command is installed and on the PATH of the gateway, and that the folder ~ exists",
        },
        {
          name: "upstream crash",
          state: "failed",
          message: "the server exited with code 3; its last output: reading settings | cannot find the database",
          hint: "`glovebox servers` shows its last output",
        },
      ],
    );
  });

  test("doctor refuses strict isolation where it is not reached, and names the level that was", async (context) => {
    const folder = makeFolder(context, { sandbox: { isolation: "strict" } });
    const { code, stdout } = await runGlovebox(["doctor", "--json"], { folder });
    const checks = parseChecks(stdout);
    const reached = find(checks, "isolation");
    if (reached) assert.deepEqual([code, reached.message.split(":", 1)[0]], [0, "strict"]);
    else {
      assert.equal(code, 1);
      const refused = checks.find(({ state }) => state === "failed");
      assert.match(refused?.message ?? "", /not "strict"/);
      assert.match(refused?.hint ?? "", /sandbox\.isolation/);
    }
  });
});

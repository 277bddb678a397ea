/** A configuration that is found in a project, seen from outside: nothing in it takes effect before consent. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { passingStore } from "../../fixtures/passing-store.ts";
import { makeFolder, runGlovebox } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

interface Project {
  readonly folder: string;
  readonly config: string;
  readonly state: string;
  /** Whether the command of the configuration, or its code, has run. */
  hasRun(): boolean;
  run(...args: readonly string[]): Promise<CommandResult>;
}

/** A project whose configuration leaves a mark when it takes effect, and a user who has consented to nothing. */
function makeProject(context: TestContext, name = "glovebox.config.json"): Project {
  const folder = makeFolder(context);
  const state = makeFolder(context);
  const mark = join(folder, "mark");
  const upstream = { command: "touch", args: [mark] };
  const content = JSON.stringify({ mcpServers: { marker: upstream }, store: passingStore() });
  const code = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(mark)}, "");\nexport default ${content};`;
  const config = join(folder, name);
  writeFileSync(config, name.endsWith(".ts") ? code : content);
  return {
    folder,
    config,
    state,
    hasRun: () => existsSync(mark),
    run: (...args) => runGlovebox(args, { folder, input: "return 1", environment: { XDG_STATE_HOME: state } }),
  };
}

function assertUntrusted({ code, stdout, stderr }: CommandResult, project: Project): void {
  assert.deepEqual([code, stdout], [2, ""], stderr);
  assert.match(stderr, /was found in a project, is not trusted, and is not used \[CONFIG_UNTRUSTED\]/);
  assert.ok(stderr.includes(`hint: Read it, then run \`glovebox trust ${project.config}\` once`), stderr);
  assert.equal(project.hasRun(), false);
}

describe("a configuration that is found in a project", { concurrency: 2 }, () => {
  const COMMANDS = [["run", "-"], ["serve", "--port", "0"], ["mcp"], ["tools"], ["servers"], ["doctor"]] as const;
  for (const args of COMMANDS) {
    test(`glovebox ${args[0]} refuses a configuration without consent and starts nothing`, async (context) => {
      for (const name of ["glovebox.config.json", "glovebox.config.ts"]) {
        const project = makeProject(context, name);
        assertUntrusted(await project.run(...args), project);
        assert.deepEqual(readdirSync(project.folder), [name]);
        assert.deepEqual(readdirSync(project.state), []);
      }
    });
  }

  test("glovebox trust is consent until the file changes or moves", async (context) => {
    const project = makeProject(context);
    const trusted = await project.run("trust");
    assert.deepEqual([trusted.code, trusted.stdout], [0, `${project.config} is trusted until it changes\n`]);
    assert.match(trusted.stderr, /commands that it starts:\n {2}marker: "touch" "/);
    assert.equal(project.hasRun(), false);
    const ran = await project.run("run", "-");
    assert.deepEqual([ran.code, ran.stdout, project.hasRun()], [0, "1\n", true], ran.stderr);
    writeFileSync(project.config, JSON.stringify({ store: passingStore(), policy: { profile: "open" } }));
    assert.match((await project.run("run", "-")).stderr, /CONFIG_UNTRUSTED/);
    assert.equal((await project.run("trust", "--json", project.config)).code, 0);
    assert.equal((await project.run("run", "-")).code, 0);
    const inner = join(project.folder, "inner");
    mkdirSync(inner);
    renameSync(project.config, join(inner, "glovebox.config.json"));
    const environment = { XDG_STATE_HOME: project.state };
    const moved = await runGlovebox(["run", "-"], { folder: inner, input: "return 1", environment });
    assert.match(moved.stderr, /CONFIG_UNTRUSTED/);
  });

  test("--config is consent to code and commands, for this start only", async (context) => {
    const project = makeProject(context, "glovebox.config.ts");
    const named = await project.run("run", "-", "--config", "glovebox.config.ts");
    assert.deepEqual([named.code, project.hasRun()], [0, true], named.stderr);
    assert.equal((await project.run("run", "-")).code, 2);
  });

  test("a configuration in the user's own folder needs no consent", async (context) => {
    const project = makeProject(context);
    const own = join(project.folder, ".config/glovebox");
    mkdirSync(own, { recursive: true });
    renameSync(project.config, join(own, "glovebox.config.json"));
    const ran = await project.run("run", "-");
    assert.deepEqual([ran.code, project.hasRun()], [0, true], ran.stderr);
  });

  test("commands that start nothing need no consent and run no code", async (context) => {
    const data = makeProject(context);
    writeFileSync(data.config, JSON.stringify({ policy: { profile: "strict" } }));
    assert.match((await data.run("policy")).stdout, /^profile strict$/m);
    const code = makeProject(context, "glovebox.config.ts");
    for (const args of [["policy"], ["executions"], ["audit"]]) {
      const { stderr, code: exit } = await code.run(...args);
      assert.notEqual(exit, 2, stderr);
      assert.match(stderr, /^warning: .*is not trusted, and was not run: default settings apply$/m);
    }
    assert.equal(code.hasRun(), false);
  });

  test("glovebox trust names the problem of a folder without a configuration and of a broken one", async (context) => {
    const project = makeProject(context);
    writeFileSync(project.config, "{");
    assert.match((await project.run("trust")).stderr, /CONFIG_INVALID/);
    assert.deepEqual(readdirSync(project.state), []);
    const elsewhere = await project.run("trust", project.state);
    assert.equal(elsewhere.code, 2);
    assert.match(elsewhere.stderr, /no configuration was found \[CONFIG_INVALID\]/);
  });
});

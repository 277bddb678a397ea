/**
 * The launcher under an older Node: it starts the bundled Node, or prints in one line what to do; and its compile
 * cache.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { passingStore } from "../../fixtures/passing-store.ts";
import {
  CLONE_LAUNCHER,
  cleanEnvironment,
  makeFolder,
  probe,
  untilEnded,
  waitForOutput,
} from "../../fixtures/product.ts";
import { isAlive, listDescendants, untilGone } from "../../fixtures/processes.ts";

const OLDEST_MAJOR = 22;

/** The first `node` on this machine that is too old to run the product. */
function findOldNode(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"];
  return folders
    .map((folder) => join(folder, "node"))
    .filter((file) => existsSync(file))
    .find((file) => {
      const { stdout } = spawnSync(file, ["--version"], { encoding: "utf8" });
      return Number(/^v(\d+)/.exec(stdout)?.[1] ?? OLDEST_MAJOR) < OLDEST_MAJOR;
    });
}

const OLD = findOldNode();
const options = { skip: OLD === undefined && `no Node older than ${OLDEST_MAJOR} is installed here` };

interface Launch {
  readonly context: TestContext;
  readonly folder: string;
  readonly launcher?: string;
}

function launch(
  args: readonly string[],
  { context, folder, launcher = CLONE_LAUNCHER }: Launch,
): ChildProcessWithoutNullStreams {
  assert.ok(OLD);
  const child = spawn(OLD, [launcher, ...args], { cwd: folder, env: cleanEnvironment(folder) });
  context.after(() => child.kill("SIGKILL"));
  return child;
}

async function finish(child: ChildProcessWithoutNullStreams, input = "") {
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), untilEnded(child)]);
  return { code, stdout, stderr };
}

test("the launcher starts the bundled Node from an old Node", options, async (context) => {
  const folder = makeFolder(context);
  const { code, stdout, stderr } = await finish(launch(["--version"], { context, folder }));
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test("the launcher passes input, output and exit codes through", options, async (context) => {
  const rest = { store: passingStore(), approvals: { graceMs: 0 } };
  const folder = makeFolder(context, { mcpServers: { probe: probe() }, ...rest });
  const good = await finish(launch(["run", "-"], { context, folder }), "return (await probe.echo({ n: 41 })).n + 1");
  assert.deepEqual([good.code, good.stdout], [0, "42\n"]);
  const thrown = await finish(launch(["run", "-"], { context, folder }), "throw 1");
  assert.deepEqual([thrown.code, thrown.stdout], [1, ""]);
  const wrong = await finish(launch(["rum"], { context, folder }));
  assert.equal(wrong.code, 2);
  const paused = await finish(launch(["run", "-"], { context, folder }), "await probe.destroy({})");
  assert.equal(paused.code, 3);
  const refused = await finish(launch(["run", "-"], { context, folder }), 'await fetch("http://127.0.0.1")');
  assert.equal(refused.code, 4);
});

test("the launcher prints in one line what to do without the bundled Node", options, async (context) => {
  const folder = makeFolder(context);
  cpSync(resolve("bin"), join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const launcher = join(folder, "bin", "glovebox.js");
  const { code, stdout, stderr } = await finish(launch(["--version"], { context, folder, launcher }));
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^Glovebox needs Node 22\.19 or newer and this is \d+\.\d+\.\d+: install a newer Node\n$/);
});

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`${signal} to the old launcher ends the gateway and all of its children`, options, async (context) => {
    const folder = makeFolder(context, { mcpServers: { probe: probe("--family") } });
    const child = launch(["serve", "--json", "--port", "0"], { context, folder });
    await waitForOutput(child, /\}\n$/);
    const family = listDescendants(child.pid ?? 0);
    assert.ok(family.length >= 4);
    assert.deepEqual(
      family.filter((pid) => !isAlive(pid)),
      [],
    );
    const ended = untilEnded(child);
    child.kill(signal);
    assert.deepEqual(await untilGone(family), []);
    assert.equal(await ended, signal === "SIGTERM" ? 0 : "SIGKILL");
  });
}

/** Runs the launcher under this Node, with a separate folder for compiled code; returns what it keeps there. */
async function keepIn(context: TestContext, mode: number): Promise<readonly string[]> {
  const folder = makeFolder(context);
  const kept = join(folder, "glovebox", "compiled");
  mkdirSync(kept, { recursive: true });
  chmodSync(kept, mode);
  const env = { ...cleanEnvironment(folder), XDG_CACHE_HOME: folder };
  const { code, stderr } = await finish(spawn(process.execPath, [CLONE_LAUNCHER, "--version"], { cwd: folder, env }));
  assert.deepEqual([code, stderr], [0, ""]);
  return readdirSync(kept);
}

test("the launcher keeps compiled code in a folder of this user", async (context) => {
  assert.notDeepEqual(await keepIn(context, 0o700), []);
});

test("the launcher does not keep compiled code where others may write", async (context) => {
  assert.deepEqual(await keepIn(context, 0o770), []);
});

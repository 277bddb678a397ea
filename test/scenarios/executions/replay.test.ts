/**
 * Replays from the outside: by id, up to a call, with other code, and on another machine from an export. The server is
 * removed first, so that nothing can be sent to it.
 */

import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { replay } from "glovebox";
import type { ExecutionResult, Replayed } from "glovebox";

import { makeFolder, parseJsonLines, runGlovebox, serveFor } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

/** Five calls, two at once, a timer, random values and time. */
const PROGRAM = `
console.log("begin", Date.now(), Math.random());
const [one, two] = await Promise.all([counting.add({ n: 1 }), counting.add({ n: 2 })]);
await new Promise((done) => setTimeout(done, 5));
for (const n of [3, 4]) { console.log("next", n); await counting.add({ n }); }
const missing = await counting.add({ n: "x" }).catch((error) => error.code);
return { one, two, missing, at: new Date().toISOString(), random: Math.random(), id: crypto.randomUUID() };`;

interface Project {
  readonly folder: string;
  readonly effects: () => readonly string[];
  readonly run: (code: string) => Promise<ExecutionResult>;
  readonly executions: (...args: readonly string[]) => Promise<CommandResult>;
}

function makeProject(context: TestContext, config: object = {}): Project {
  const folder = makeFolder(context);
  const server = join(folder, "server.mjs");
  const file = join(folder, "effects");
  writeFileSync(server, readFileSync(resolve("test/fixtures/servers/counting-server.mjs")));
  writeFileSync(file, "");
  const mcpServers = { counting: { command: process.execPath, args: [server, file] } };
  const analysis = { types: "off" };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify({ mcpServers, analysis, ...config }));
  return {
    folder,
    effects: () => readFileSync(file, "utf8").trim().split("\n"),
    run: async (input) =>
      JSON.parse((await runGlovebox(["run", "--json"], { folder, input })).stdout) as ExecutionResult,
    executions: (...args) => runGlovebox(["executions", ...args], { folder }),
  };
}

test("replay of a past execution", async (suite) => {
  const project = makeProject(suite);
  const first = await project.run(PROGRAM);
  assert.equal(first.state, "completed", first.error?.message);
  assert.deepEqual(project.effects(), ["1", "2", "3", "4"]);
  const file = join(project.folder, "export.json");
  rmSync(join(project.folder, "server.mjs"));

  await suite.test("replay returns the same result and repeats no effect", async () => {
    const { code, stdout, stderr } = await project.executions("replay", first.execution, "--json");
    assert.equal(code, 0, stderr);
    const { same, result } = JSON.parse(stdout) as Replayed & { same: boolean };
    assert.equal(same, true);
    assert.equal(JSON.stringify(result.value), JSON.stringify(first.value));
    const texts = (one: ExecutionResult): readonly string[] => one.logs.map(({ text }) => text);
    assert.deepEqual(texts(result), texts(first));
    assert.deepEqual(result.calls, first.calls);
    assert.deepEqual(project.effects(), ["1", "2", "3", "4"]);
  });
  await suite.test("replay returns the same result on another engine, and refuses an unknown engine", async () => {
    for (const engine of ["quickjs", "workerd"]) {
      const { code, stdout, stderr } = await project.executions(
        "replay",
        first.execution,
        "--engine",
        engine,
        "--json",
      );
      const { same, result } = JSON.parse(stdout) as Replayed & { same: boolean };
      assert.deepEqual([code, same, result.engine], [0, true, engine], stderr);
      assert.equal(JSON.stringify(result.value), JSON.stringify(first.value));
    }
    assert.equal((await project.executions("replay", first.execution, "--engine", "v8")).code, 2);
  });
  await suite.test("replay --until stops after the response to a call", async () => {
    const { code, stderr } = await project.executions("replay", first.execution, "--until", "3");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^begin .*\nnext 3\nnext 4\n/);
    assert.match(stderr, /\n {2}3 counting\.add ok\n {2}4 counting\.add no answer yet\n/);
    const never = await project.executions("replay", first.execution, "--until", "9");
    assert.deepEqual([never.code, /no reply to call 9/.test(never.stderr)], [2, true], never.stderr);
  });
  await suite.test("replay --code runs other code as long as it makes the same calls", async () => {
    writeFileSync(join(project.folder, "good.ts"), "return 10 + Number(await counting.add({ n: 4 }));");
    writeFileSync(join(project.folder, "bad.ts"), "return await counting.add({ n: 5 });");
    const good = await project.executions("replay", first.execution, "--code", "good.ts");
    assert.deepEqual([good.code, good.stdout], [0, "14\n"], good.stderr);
    const bad = await project.executions("replay", first.execution, "--code", "bad.ts");
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /Call 1, counting\.add\(\{"n":5\}\), is not in the recording .*\[REPLAY_DIVERGED\]/);
    assert.deepEqual(project.effects(), ["1", "2", "3", "4"]);
  });
  await suite.test(
    "an execution is exported to one file for its owner, and replayed where nothing else exists",
    async (context) => {
      const exported = await project.executions("export", first.execution, file);
      assert.equal(exported.code, 0, exported.stderr);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal((await project.executions("export", first.execution, file)).code, 2, "it is never written over");
      const elsewhere = makeFolder(context);
      const again = await runGlovebox(["executions", "replay", file, "--json"], { folder: elsewhere });
      assert.equal(again.code, 0, again.stderr);
      const { same, result } = JSON.parse(again.stdout) as Replayed & { same: boolean };
      assert.deepEqual([same, JSON.stringify(result.value)], [true, JSON.stringify(first.value)]);
      const text = readFileSync(file, "utf8");
      writeFileSync(join(elsewhere, "forged.json"), text.replace("counting.add", "counting.sub"));
      const forged = await runGlovebox(["executions", "replay", "forged.json"], { folder: elsewhere });
      assert.deepEqual([forged.code, /The export was changed/.test(forged.stderr)], [2, true], forged.stderr);
      const { value } = (await replay(JSON.parse(text), { code: "return await counting.add({ n: 3 })" })).result;
      assert.equal(value, "3");
      assert.equal((await replay(JSON.parse(text))).difference, undefined);
      const other = await replay(JSON.parse(text), { engine: "quickjs" });
      assert.deepEqual([other.difference, other.result.engine], [undefined, "quickjs"]);
    },
  );
  await suite.test("the ledger records who replayed and exported an execution", async () => {
    const { stdout } = await runGlovebox(["audit", "export"], { folder: project.folder });
    const looked = parseJsonLines(stdout).filter(({ action }) =>
      /^execution\.(exported|replayed)$/.test(String(action)),
    );
    assert.ok(looked.some(({ action }) => action === "execution.replayed"));
    assert.deepEqual(
      [...new Set(looked.map(({ actor, subject }) => `${String(actor)} ${String(subject)}`))],
      [`operator ${first.execution}`],
    );
  });
});

test("a failed execution is replayed, but one that never ran is not", async (context) => {
  const project = makeProject(context);
  const failed = await project.run(`await counting.add({ n: 1 }); throw new Error("no");`);
  assert.equal(failed.error?.code, "PROGRAM_THREW");
  const shown = await project.executions("replay", failed.execution);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stderr, /error: Error: no \(line 1, .*\[PROGRAM_THREW\][^]*the result is the same/);
  const broken = await project.run("const = 1");
  const none = await project.executions("replay", broken.execution);
  assert.deepEqual([none.code, /did not start a program \(PROGRAM_SYNTAX\)/.test(none.stderr)], [2, true], none.stderr);
});

test("a suspended execution is replayed up to its approval, and in full after it resumed", async (context) => {
  const rules = [{ decision: "ask", tools: ["counting.add"], reason: "money" }];
  const project = makeProject(context, { policy: { rules }, approvals: { graceMs: 0 } });
  const paused = await project.run(`
    console.log("before", Math.random());
    const made = await counting.add({ n: 1 });
    console.log("after", Math.random());
    return made;`);
  assert.equal(paused.state, "paused");
  const early = await project.executions("replay", paused.execution);
  assert.equal(early.code, 0, early.stderr);
  assert.match(early.stderr, /^before [^]*\npaused in [^]*the result is the same/);
  const approved = await runGlovebox(["approve", paused.approvals?.[0] ?? "", "--yes"], { folder: project.folder });
  assert.equal(approved.code, 0, approved.stderr);
  await serveFor(context, project.folder);
  const showIt = async () =>
    JSON.parse((await project.executions("show", paused.execution, "--json")).stdout) as { state: string };
  while ((await showIt()).state !== "completed");
  const { code, stdout, stderr } = await project.executions("replay", paused.execution);
  assert.deepEqual([code, stdout, project.effects()], [0, "1\n", ["1"]], stderr);
  assert.match(stderr, /^before [^]*\nafter [^]*the result is the same/);
});

test("an execution whose journal is not kept can be neither replayed nor exported", async (context) => {
  const project = makeProject(context, { journal: { keepMs: 0 } });
  const { execution } = await project.run("return await counting.add({ n: 1 })");
  await project.run("return 1"); // a later start removes expired journals
  for (const command of ["replay", "export"]) {
    const { code, stderr } = await project.executions(command, execution);
    assert.deepEqual([code, /is no longer kept/.test(stderr)], [1, true], stderr);
  }
});

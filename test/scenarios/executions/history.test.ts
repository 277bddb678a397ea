/** `glovebox executions`: past executions for people and for scripts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { makeUntypedFolder, probe, runGlovebox } from "../../fixtures/product.ts";

const CONFIG = { mcpServers: { probe: probe() }, analysis: { rules: { "no-nested-loops": "warn" } } };
const PROGRAM = [
  "// \u001b[31mred\u001b[0m",
  "for (const a of [1]) for (const b of [2]) console.log('seen', a + b);",
  "await probe.echo({});",
  "return { done: true };",
].join("\n");

interface Line {
  readonly id: string;
  readonly state: string;
  readonly errorCode: string | null;
}

async function openHistory(context: TestContext) {
  const folder = makeUntypedFolder(context, CONFIG);
  const ask = (...args: readonly string[]) => runGlovebox(["executions", ...args], { folder });
  const list = async (...args: readonly string[]): Promise<readonly Line[]> =>
    (JSON.parse((await ask("--json", ...args)).stdout) as { readonly executions: readonly Line[] }).executions;
  const run = (input: string) => runGlovebox(["run", "-", "--json"], { folder, input });
  return { folder, ask, list, run };
}

test("executions lists past executions by state and number, and shows one in full", async (context) => {
  const { ask, list, run } = await openHistory(context);
  const done = JSON.parse((await run(PROGRAM)).stdout) as { readonly execution: string };
  await run("throw new Error('broken \u001b[31mred')");

  const lines = (await list()).map(({ state, errorCode }) => [state, errorCode]);
  assert.deepEqual(lines, [
    ["failed", "PROGRAM_THREW"],
    ["completed", null],
  ]);
  assert.deepEqual((await list("--limit", "1")).length, 1);
  assert.deepEqual(
    (await list("--state", "completed")).map(({ id }) => id),
    [done.execution],
  );
  assert.deepEqual(await list("--state", "running"), []);

  const text = await ask();
  assert.match(text.stdout, /^ex_[0-9a-f]{24} failed \S+Z, \d+ ms, by operator \[PROGRAM_THREW\]\nex_/);

  const { stdout, code } = await ask("show", done.execution);
  assert.equal(code, 0);
  assert.ok(!stdout.includes("\u001b"));
  const parts = stdout.split("\n\n").map((part) => part.split("\n")[0]);
  assert.deepEqual(parts, [
    `${done.execution} completed, by operator`,
    "source:",
    "calls:",
    "logs:",
    "result:",
    parts[5],
  ]);
  assert.match(stdout, / {2}2 \| for \(const a of .*\n {4}\^ warn: .* \(no-nested-loops\)\n/);
  assert.match(stdout, /\n {2}1 probe\.echo, read, allow: ok, [\d.]+ ms\n/);

  const { source, result, ...line } = JSON.parse((await ask("show", done.execution, "--json")).stdout);
  assert.deepEqual([source, result], [PROGRAM, done]);
  assert.deepEqual([line.id, line.state, line.approvals], [done.execution, "completed", []]);
});

test("executions reports an unknown id, and an unknown state is a usage error", async (context) => {
  const { folder, ask } = await openHistory(context);
  const none = await ask();
  assert.deepEqual([none.code, none.stdout], [1, ""]);
  assert.match(none.stderr, /The store .* does not exist.*\[REQUEST_NOT_FOUND\]/);
  await runGlovebox(["run", "-"], { folder, input: "1" });
  for (const word of ["show", "cancel"]) {
    const unknown = await ask(word, `ex_${"0".repeat(24)}`);
    assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
    assert.match(unknown.stderr, /The execution "ex_0{24}" does not exist \[REQUEST_NOT_FOUND\]/);
  }
  assert.equal((await ask("--state", "lost")).code, 2);
  assert.equal((await ask("--limit", "0")).code, 2);
});

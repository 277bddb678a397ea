/** `glovebox run` from outside: one program, standard input, batches, exit codes and typed errors for each exit. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";

import type { ExecutionResult } from "../../../src/domain/index.ts";
import { passingStore } from "../../fixtures/passing-store.ts";
import { EVERYTHING, INVENTORY, makeFolder, parseJsonLines, runGlovebox } from "../../fixtures/product.ts";

/** Its condition looks as if it could end, so that analysis accepts it. */
const ENDLESS = "let n = 1; while (n > 0) n = (n % 7) + 1;";

const CONFIG = { mcpServers: { everything: EVERYTHING, inventory: INVENTORY } };

test("the demo program calls a real upstream without a configuration", async (context) => {
  const folder = makeFolder(context);
  const { code, stdout, stderr } = await runGlovebox(["run", resolve("examples/demo.ts")], { folder });
  assert.equal(code, 0, stderr);
  const value = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual(Object.keys(value), ["stockByCategory", "soldOut", "pendingOrders"]);
  assert.match(stderr, /30 products and 60 orders read/);
});

test("run --json - returns the whole object of the contract", async (context) => {
  const folder = makeFolder(context, CONFIG);
  const input = 'console.warn("w");\nconst sum = await everything.getSum({ a: 2, b: 3 });\nreturn { sum };';
  const { code, stdout } = await runGlovebox(["run", "--json", "-"], { folder, input });
  const result = JSON.parse(stdout) as Record<string, never>;
  const { execution, stats, logs, calls, ...rest } = result as Record<string, unknown>;
  assert.match(String(execution), /^ex_[0-9a-f]{24}$/);
  assert.deepEqual(Object.keys(stats as object).toSorted(), [
    "calls",
    "cpuMs",
    "outputBytes",
    "peakMemoryBytes",
    "queueMs",
    "switches",
    "wallMs",
  ]);
  assert.deepEqual(
    (logs as { level: string; text: string }[]).map(({ level, text }) => ({ level, text })),
    [{ level: "warn", text: "w" }],
  );
  assert.deepEqual(
    (calls as { ms: number }[]).map(({ ms: _, ...call }) => call),
    [{ seq: 1, tool: "everything.getSum", effect: "read", decision: "allow", outcome: "ok" }],
  );
  assert.equal(rest["state"], "completed");
  assert.deepEqual(rest["value"], { sum: "The sum of 2 and 3 is 5." });
  assert.deepEqual(rest["findings"], []);
  assert.equal(rest["engine"], "quickjs");
  assert.ok(["strict", "confined", "process"].includes(String(rest["isolation"])));
  assert.equal(code, 0);
});

test("run --plan prints what a program can call and calls nothing", async (context) => {
  const folder = makeFolder(context, CONFIG);
  const input = "for (const a of [1, 2]) await everything.getSum({ a, b: 3 })";
  const told = await runGlovebox(["run", "--plan", "-"], { folder, input });
  assert.equal(told.stdout, 'everything.getSum (read, possibly many times, maybe) at 1:31 {"b":3}\n');
  assert.equal(told.code, 0, told.stderr);
  const json = await runGlovebox(["run", "--plan", "--json", "-"], { folder, input: "globalThis[input]" });
  assert.deepEqual(JSON.parse(json.stdout), { ok: true, plan: { exact: false, calls: [] }, findings: [] });
  const refused = await runGlovebox(["run", "--plan", "-"], { folder, input: "const" });
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
});

test("a program that reaches a tool which its source does not show is stopped, unless analysis is off", async (context) => {
  const folder = makeFolder(context, CONFIG);
  const input = [
    'const shared = []["__pro" + "to__" + ""];',
    '["map"].forEach((n) => { shared[n] = function () { return this[0].getSum({ a: 1, b: 2 }) } });',
    'return await [everything].map((s) => s.echo({ message: "x" }))',
  ].join("\n");
  const held = JSON.parse((await runGlovebox(["run", "--json", "-"], { folder, input })).stdout);
  assert.equal(held.error.message, "everything.getSum is not in the program's call plan");
  assert.deepEqual([held.error.code, held.error.line, held.calls[0].outcome], ["PROGRAM_FORBIDDEN", 2, "denied"]);
  const free = await runGlovebox(["run", "--no-analysis", "-"], { folder, input });
  assert.equal(free.stdout, "The sum of 1 and 2 is 3.\n");
});

const EXITS: readonly { name: string; code: string; error: string; exit: number; args?: string[] }[] = [
  { name: "a syntax error", code: "return 1 +", error: "PROGRAM_SYNTAX", exit: 1 },
  { name: "an import", code: 'import fs from "node:fs"; return 1', error: "PROGRAM_FORBIDDEN", exit: 1 },
  { name: "an exception", code: 'throw new Error("no")', error: "PROGRAM_THREW", exit: 1 },
  {
    name: "a circular result",
    code: "const a = {}; a.a = a; return a",
    error: "PROGRAM_RESULT_UNSERIALIZABLE",
    exit: 1,
  },
  { name: "an unknown tool", code: "await everything.nope({})", error: "PROGRAM_TYPES", exit: 1 },
  {
    name: "an unknown tool without a type check",
    code: "await everything.nope({})",
    error: "TOOL_NOT_FOUND",
    exit: 1,
    args: ["--no-types"],
  },
  {
    name: "an argument that is missing without analysis",
    code: "await everything.getSum({ a: 1 })",
    error: "TOOL_ARGUMENTS_INVALID",
    exit: 1,
    args: ["--no-analysis"],
  },
  { name: "a failing tool", code: 'await inventory.getProduct({ sku: "none" })', error: "UPSTREAM_FAILED", exit: 1 },
  { name: "a loop that can never end", code: "for (;;);", error: "PROGRAM_FORBIDDEN", exit: 1 },
  { name: "an endless loop", code: ENDLESS, error: "LIMIT_TIME", exit: 1, args: ["--wall-ms", "500"] },
  { name: "too much processor time", code: ENDLESS, error: "LIMIT_TIME", exit: 1, args: ["--cpu-ms", "200"] },
  {
    name: "a memory bomb",
    code: "const a = []; while (a.length >= 0) a.push(new Array(1e5).fill(1.5))",
    error: "LIMIT_MEMORY",
    exit: 1,
    args: ["--memory-mb", "32"],
  },
  {
    name: "too many calls",
    code: 'for (let i = 0; i < 3; i++) await everything.echo({ message: "x" })',
    error: "LIMIT_CALLS",
    exit: 1,
    args: ["--calls", "2"],
  },
  { name: "too much output", code: 'return "x".repeat(20_000_000)', error: "LIMIT_SIZE", exit: 1 },
  { name: "the network", code: 'await fetch("http://127.0.0.1")', error: "EGRESS_DENIED", exit: 4 },
];

/** Starts only the servers that the program mentions. */
function onlyNamed(code: string): unknown {
  const named = Object.entries(CONFIG.mcpServers).filter(([name]) => code.includes(`${name}.`));
  return { mcpServers: Object.fromEntries(named), store: passingStore(), approvals: { graceMs: 0 } };
}

describe("exit codes of glovebox run", { concurrency: 2 }, () => {
  for (const { name, code, error, exit, args = [] } of EXITS) {
    test(`${name} ends with ${error} and exit ${exit}`, async (context) => {
      const folder = makeFolder(context, onlyNamed(code));
      const finished = await runGlovebox(["run", "--json", ...args, "-"], { folder, input: code });
      const result = JSON.parse(finished.stdout) as { state: string; error: { code: string; message: string } };
      assert.equal(result.state, "failed");
      assert.equal(result.error.code, error, JSON.stringify(result.error));
      assert.equal(finished.code, exit);
    });
  }
});

test("a destructive tool needs approval: run ends with exit code 3", async (context) => {
  const code = 'await inventory.deleteProduct({ sku: "A" })';
  const folder = makeFolder(context, onlyNamed(code));
  const finished = await runGlovebox(["run", "--json", "-"], { folder, input: code });
  const { state, approvals, calls } = JSON.parse(finished.stdout) as ExecutionResult;
  assert.deepEqual(
    [finished.code, state, approvals?.length, calls[0]?.decision, calls[0]?.outcome],
    [3, "paused", 1, "ask", "pending"],
  );
});

test("an error of a program names the line and column in the author's source", async (context) => {
  const folder = makeFolder(context, CONFIG);
  writeFileSync(
    join(folder, "program.ts"),
    "interface A { b: number }\nconst a = null as unknown as A;\n\na.b.toFixed();\n",
  );
  const { stdout } = await runGlovebox(["run", "--json", "program.ts"], { folder });
  const { error } = JSON.parse(stdout) as { error: { code: string; line: number; column: number; frame: string } };
  assert.deepEqual([error.code, error.line, error.column], ["PROGRAM_THREW", 4, 3]);
  assert.match(error.frame, /> 4 \| a\.b\.toFixed/);
});

function errorCode(result: Record<string, unknown> | undefined): unknown {
  return (result?.["error"] as { code: string } | undefined)?.code;
}

test("a batch answers every line with its id, in one process", async (context) => {
  const folder = makeFolder(context, CONFIG);
  const lines = [
    { id: "one", code: "return 1" },
    { id: 2, code: ENDLESS, limits: { wallMs: 300 } },
    { id: "three", code: 'return (await everything.echo({ message: "hi" })).length' },
    { id: "four", code: "const x: number = 4; x" },
  ];
  writeFileSync(join(folder, "batch.jsonl"), [...lines.map((line) => JSON.stringify(line)), "not json", ""].join("\n"));
  const { code, stdout } = await runGlovebox(["run", "--batch", "batch.jsonl", "--parallel", "3"], { folder });
  const byId = new Map(parseJsonLines(stdout).map((result) => [result["id"], result]));
  assert.equal(code, 0);
  assert.equal(byId.size, 5);
  assert.deepEqual(byId.get("one")?.["value"], 1);
  assert.equal(errorCode(byId.get(2)), "LIMIT_TIME");
  assert.equal(byId.get("three")?.["value"], 8);
  assert.equal(byId.get("four")?.["value"], 4);
  const { error: _, ...refused } = byId.get(null) ?? {};
  assert.equal(errorCode(byId.get(null)), "REQUEST_INVALID");
  assert.deepEqual(Object.keys(refused), ["id", "execution", "state", "logs", "calls", "findings", "stats"]);
});

test("wrong usage ends with 2 and prints the right usage", async (context) => {
  const folder = makeFolder(context, CONFIG);
  const wrong: [string[], RegExp][] = [
    [["rum"], /unknown command 'rum'[\s\S]*run/],
    [["run", "--wall-ms", "soon", "-"], /integer/],
    [["run", "missing.ts"], /missing\.ts cannot be read/],
    [["run", "--batch", "missing.jsonl"], /missing\.jsonl cannot be read/],
    [["run", "--engine", "eval", "-"], /isolate/],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await runGlovebox(args, { folder });
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, message);
  }
});

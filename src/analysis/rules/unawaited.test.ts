/** Calls that may change something and are not awaited, each with a program that looks alike and waits for the call. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect } from "../../domain/index.ts";
import { judge } from "./fixtures/judge.ts";

function judgeAs(source: string, effect: Effect): readonly string[] {
  return judge(source, { effects: { "tools.echo": effect } });
}

/** A program that loses the promise, then programs that do not. */
const TWINS: readonly (readonly [lost: string, ...waiting: string[]])[] = [
  ["tools.echo(1); return 2", "await tools.echo(1); return 2", "tools.echo(1)"],
  [
    "Promise.all([tools.echo(1), tools.echo(2)]); return 3",
    "await Promise.all([tools.echo(1), tools.echo(2)]); return 3",
    "return Promise.all([tools.echo(1), tools.echo(2)])",
    "const both = Promise.all([tools.echo(1)]); await both; return 3",
  ],
  [
    "Promise.allSettled(ids.map((id) => tools.echo(id))); return 3",
    "await Promise.allSettled(ids.map((id) => tools.echo(id))); return 3",
  ],
  [
    "Promise.race([tools.echo(1), later]); return 3",
    "await Promise.race([tools.echo(1), later]); return 3",
    "return await Promise.any([tools.echo(1), tools.echo(2)])",
  ],
  [
    "tools.echo(1).then((r) => r); return 2",
    "await tools.echo(1).then((r) => r); return 2",
    "const r = tools.echo(1).then((r) => r); return { r: await r }",
    "await new Promise((resolve, reject) => { tools.echo(1).then(resolve, reject) })",
  ],
  ["tools.echo(1).catch(() => {}); return 2", "await tools.echo(1).catch(() => {}); return 2"],
  ["tools.echo(1).then(f).catch(g).finally(h); return 2", "return tools.echo(1).then(f).catch(g).finally(h)"],
  [
    "const p = tools.echo(1); return 2",
    "const p = tools.echo(1); f(); await p; return 2",
    "const p = tools.echo(1); return p",
    "const p = tools.echo(1); return { p }",
    "const p = tools.echo(1); return [await Promise.all([p])]",
  ],
  ["let p; p = tools.echo(1); return 2", "let p; p = tools.echo(1); return await p"],
  [
    "const jobs = []; for (const id of ids) jobs.push(tools.echo(id)); return jobs.length",
    "const jobs = []; for (const id of ids) jobs.push(tools.echo(id)); await Promise.all(jobs); return jobs.length",
    "const jobs = []; for (const id of ids) jobs.push(tools.echo(id)); return jobs",
    "const jobs = input; for (const id of ids) jobs.push(tools.echo(id)); return 1",
  ],
  ["ids.forEach((id) => tools.echo(id)); return 2", "for (const id of ids) await tools.echo(id); return 2"],
  [
    "ids.forEach(async (id) => { await tools.echo(id) }); return 2",
    "await Promise.all(ids.map(async (id) => { await tools.echo(id) })); return 2",
  ],
  [
    "ids.map(async (id) => { await tools.echo(id) }); return 2",
    "const jobs = ids.map(async (id) => { await tools.echo(id) }); await Promise.all(jobs); return 2",
  ],
  [
    "const jobs = ids.map(async (id) => { await tools.echo(id) }); return jobs.length",
    "const jobs = ids.map(async (id) => { await tools.echo(id) }); for (const job of jobs) await job; return 1",
  ],
  [
    "Promise.all(ids.map(async (id) => { await tools.echo(id) })); return 2",
    "return Promise.all(ids.map(async (id) => { await tools.echo(id) }))",
  ],
  [
    "async function save() { await tools.echo(1) } save(); return 2",
    "async function save() { await tools.echo(1) } await save(); return 2",
    "async function save() { await tools.echo(1) } save()",
  ],
  [
    "async function save() { await tools.echo(1) } const p = save(); return 2",
    "async function save() { await tools.echo(1) } const p = save(); await p; return 2",
  ],
  [
    "const save = async () => { await put() }; const put = () => tools.echo(1); save(); return 2",
    "const save = async () => { await put() }; const put = () => tools.echo(1); await save(); return 2",
  ],
  ["(async () => { await tools.echo(1) })(); return 2", "await (async () => { await tools.echo(1) })(); return 2"],
  [
    "const save = (id) => tools.echo(id); save(1); return 2",
    "const save = (id) => tools.echo(id); await save(1); return 2",
    "const save = (id) => tools.echo(id); return await Promise.all(ids.map(save))",
  ],
  [
    "function save(id) { return tools.echo(id) } ids.forEach(save); return 2",
    "function save(id) { return tools.echo(id) } for (const id of ids) await save(id); return 2",
  ],
  [
    "setTimeout(() => tools.echo(1), 10); return 2",
    "await new Promise((done) => setTimeout(done, 10)); await tools.echo(1); return 2",
  ],
  [
    "setTimeout(async () => { await tools.echo(1) }, 10); return 2",
    "await new Promise((done) => setTimeout(async () => { await tools.echo(1); done() }, 10)); return 2",
  ],
  ["if (tools.echo(1)) return 2; return 3", "if (await tools.echo(1)) return 2; return 3"],
  ["return `done ${tools.echo(1)}`", "return `done ${await tools.echo(1)}`"],
];

for (const [lost, ...waiting] of TWINS) {
  test(`a change that is not awaited is an error: ${lost}`, () => {
    for (const effect of ["write", "destroy", "unknown"] as const) {
      const [outcome, ...findings] = judgeAs(lost, effect);
      assert.equal(outcome, "PROGRAM_FORBIDDEN", `${effect} ${findings.join()}`);
    }
    assert.equal(judgeAs(lost, "read")[0], "ran");
  });
  for (const source of waiting) {
    test(`a change that is awaited runs: ${source}`, () => assert.equal(judgeAs(source, "write")[0], "ran"));
  }
}

test("a read that is dropped on purpose gets no finding, any other one a warning", () => {
  assert.deepEqual(judgeAs("void tools.echo(1); return 2", "read"), ["ran"]);
  assert.deepEqual(judgeAs("tools.echo(1).catch(() => {}); return 2", "read"), ["ran"]);
  assert.deepEqual(judgeAs("tools.echo(1); return 2", "read"), ["ran", "no-unawaited-call warn 1:1"]);
  const all = "Promise.all([tools.echo(1)]); return 2";
  assert.deepEqual(judgeAs(all, "read"), ["ran", "no-unawaited-call warn 1:14"]);
});

test("void says that the program does not wait for a change, which is a warning", () => {
  assert.deepEqual(judgeAs("void tools.echo(1); return 2", "write"), ["ran", "no-unawaited-call warn 1:6"]);
  assert.deepEqual(judgeAs("void (await tools.echo(1)); return 2", "write"), ["ran"]);
  const own = "async function save() { await tools.echo(1) } void save(); return 2";
  assert.deepEqual(judgeAs(own, "write"), ["ran", "no-unhandled-async warn 1:52"]);
  assert.deepEqual(judgeAs(own, "read"), ["ran"]);
});

test("void at the end of a program is awaited like its value", () => {
  assert.deepEqual(judgeAs("async function main() { await tools.echo(1) }\nvoid main()", "write"), ["ran"]);
});

test("one mistake has one finding", () => {
  assert.deepEqual(judgeAs("tools.echo(1).then((r) => r); return 2", "write"), [
    "PROGRAM_FORBIDDEN",
    "no-unawaited-call error 1:1",
  ]);
  assert.deepEqual(judgeAs("ids.forEach(async (id) => { await tools.echo(id) }); return 2", "write"), [
    "PROGRAM_FORBIDDEN",
    "no-unhandled-async error 1:13",
  ]);
});

test("promises that an async callback stores are awaited where they are stored", () => {
  const source = "const jobs = []; ids.forEach(async (id) => { jobs.push(tools.echo(id)) }); await Promise.all(jobs)";
  assert.deepEqual(judgeAs(source, "write"), ["ran", "no-unhandled-async warn 1:30"]);
});

test("a level that the operator sets counts for changes too", () => {
  const effects = { "tools.echo": "write" } as const;
  const judged = (level: "warn" | "off"): readonly string[] =>
    judge("tools.echo(1); return 2", { effects, rules: { "no-unawaited-call": level } });
  assert.deepEqual([judged("warn"), judged("off")], [["ran", "no-unawaited-call warn 1:1"], ["ran"]]);
});

test("a tool that the server does not have is left to the type check", () => {
  const judged = judge("tools.ecko(1); return 2", { effects: { "tools.echo": "write" } });
  assert.deepEqual(judged, ["ran", "no-unawaited-call warn 1:1"]);
});

test("a computed name may be a tool that changes something", () => {
  assert.equal(judgeAs("tools[input](1); return 2", "write")[0], "PROGRAM_FORBIDDEN");
  assert.equal(judgeAs("await tools[input](1); return 2", "write")[0], "ran");
  assert.equal(judgeAs("tools[input](1); return 2", "read")[0], "ran");
});

test("the promise of a read as a condition is a warning", () => {
  const tested = "if (tools.echo(1)) return 2; return 3";
  assert.deepEqual(judgeAs(tested, "read"), ["ran", "no-unawaited-call warn 1:5"]);
  assert.deepEqual(judgeAs(tested.replace("tools", "await tools"), "read"), ["ran"]);
});

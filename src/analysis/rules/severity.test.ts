import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { DEFAULT_RULES } from "./check-rules.ts";
import { judge } from "./fixtures/judge.ts";

/** For each rule one source that breaks it and no other, and can still run. */
const BROKEN: Readonly<Record<string, string>> = {
  "no-dynamic-import": "await import('a')",
  "no-eval": "eval('1')",
  "no-dangerous-globals": "process.exit()",
  "no-prototype-pollution": "Object.prototype.x = 1",
  "no-infinite-loop": "for (;;);",
  "no-nested-loops": "for (const a of b) for (const c of a);",
  "no-tool-in-loop": "for (const a of b) await tools.echo(a)",
  "no-unhandled-async": "b.forEach(async () => {})",
  "no-unawaited-call": "tools.echo(1); 2",
  "no-invisible-characters": "'\u202e'",
  "max-source-size": `'${"x".repeat(2_500)}'`,
};

for (const [rule, source] of Object.entries(BROKEN)) {
  test(`${rule} blocks as error, warns as warn and is silent as off`, () => {
    const [error, finding] = judge(source, { rules: { [rule]: "error" } });
    assert.equal(error, "PROGRAM_FORBIDDEN");
    assert.ok(finding?.startsWith(`${rule} error `), finding);
    const warned = judge(source, { rules: { [rule]: "warn" } });
    assert.deepEqual([warned[0], warned.length], ["ran", 2]);
    assert.ok(warned[1]?.startsWith(`${rule} warn `));
    assert.deepEqual(judge(source, { rules: { [rule]: "off" } }), ["ran"]);
  });
}

test("no-external-import refuses at every level, since such a program cannot run", () => {
  const judged = (["error", "warn", "off"] as const).map((level) =>
    judge("import 'a'", { rules: { "no-external-import": level } }),
  );
  assert.deepEqual(judged, [
    ["PROGRAM_FORBIDDEN", "no-external-import error 1:1"],
    ["PROGRAM_FORBIDDEN", "no-external-import warn 1:1"],
    ["PROGRAM_FORBIDDEN"],
  ]);
});

test("every rule has a level, a case in this test and a documentation page", () => {
  const rules = Object.keys(DEFAULT_RULES);
  assert.deepEqual([...Object.keys(BROKEN), "no-external-import"].toSorted(), rules.toSorted());
  for (const rule of rules) {
    const page = new URL(`../../../docs/rules/${rule}.md`, import.meta.url);
    assert.ok(existsSync(page), rule);
    assert.match(readFileSync(page, "utf8"), new RegExp(`^# ${rule}\n\nLevel: \`${DEFAULT_RULES[rule]}\``), rule);
  }
});

test("max-source-size objects above a quarter of the limit", () => {
  assert.deepEqual(judge(`'${"x".repeat(2_497)}'`), ["ran"]);
  assert.deepEqual(judge(`'${"x".repeat(2_498)}'`), ["ran"]);
  assert.deepEqual(judge(`'${"x".repeat(2_499)}'`), ["ran", "max-source-size warn 1:1"]);
});

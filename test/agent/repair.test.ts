/** The bench repairs a program with nothing but what the answer says. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../../src/domain/index.ts";
import { repairProgram } from "../../bench/agent/repair.ts";
import type { Task } from "../../bench/agent/task.ts";

const TASK: Task = { name: "a", ask: "b", needs: [], searches: [], program: "", expected: null, plain: [] };

function repair(code: string, content: JsonObject, task: Task = TASK): string | undefined {
  const answer = { text: "", structured: "", content, isError: true };
  return repairProgram(task, { code }, answer, "/work")?.code;
}

const failed = (message: string, more: JsonObject = {}): JsonObject => ({
  error: { message, line: 1, column: 1, ...more },
});

test("an answer that names no remedy repairs nothing", () => {
  const code = 'const r = await a.b({ c: "1" });\nreturn r.d[0].text;';
  assert.equal(repair(code, failed("TypeError: Cannot read properties of undefined")), undefined);
  assert.equal(repair(code, { state: "completed", value: null }), undefined);
});

test("a new program is taken only if the answer names the cause", () => {
  const task = { ...TASK, rewrite: { when: /Python/, program: "return 1" } };
  assert.equal(repair("x = 1", failed("Expected ','"), task), undefined);
  assert.equal(repair("x = 1", failed("This is Python"), task), "return 1");
});

test("a line that the answer writes replaces the one that it resembles", () => {
  const code = "const note = a.b({});\nreturn note.text;";
  const told = failed("note is a promise", { line: 2, hint: "Write: const note = await a.b({});" });
  assert.equal(repair(code, told), "const note = await a.b({});\nreturn note.text;");
});

test("names, values, arguments and fields come from the answer", () => {
  assert.equal(
    repair("await a.read_b({})", failed("no tool", { column: 9, hint: "Did you mean a.readB, a.b?" })),
    "await a.readB({})",
  );
  const choice = `Type '"Red"' is not assignable to type '"red"'. Did you mean '"red"'?`;
  assert.equal(repair('await a.b({ c: "Red" })', failed(choice)), 'await a.b({ c: "red" })');
  const hint = "The call is a.b({ path: string; count?: number; })";
  assert.equal(repair('await a.b("x")', failed("", { hint })), 'await a.b({ path: "x" })');
  const unknown = failed("'file' does not exist in type '{ path: string; }'", { hint });
  assert.equal(repair('await a.b({ file: "x", count: "2" })', unknown), 'await a.b({ path: "x", count: 2 })');
  const fields = failed("r has no items", { hint: "b(): Promise<{ rows: Array<{ id: string; }>; total: number; }>;" });
  assert.equal(repair("r.items.map((row) => row.id)", fields), "r.rows.map((row) => row.id)");
});

test("a missing await, a line to remove and paths come from the answer", () => {
  const finding = { rule: "r", severity: "warn", message: "is not awaited", line: 1, column: 1 };
  assert.equal(
    repair("a.b({});", { state: "completed", findings: [{ ...finding, message: "await it" }] }),
    "await a.b({});",
  );
  assert.equal(repair('import x from "x";\nreturn 1;', failed("Remove the line: no imports")), "return 1;");
  assert.equal(repair('["/w/a", "/w/b"]', failed("ENOENT: open '/w/a'")), '["/w/b"]');
  const outside = failed("Access denied - path outside allowed directories: /x/a/b not in /work");
  assert.equal(repair('read("/x/a/b")', outside), 'read("/work/a/b")');
});

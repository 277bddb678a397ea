import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJavascript } from "./parse-javascript.ts";

function messageOf(source: string): string {
  const parsed = parseJavascript(source);
  return parsed.ok ? "ok" : parsed.message;
}

test("parseJavascript accepts the body of a strict async function", () => {
  for (const source of [
    "await a; return b",
    "return",
    "",
    "for await (const a of b);",
    "await using a = b",
    "'\u2028'",
  ]) {
    assert.equal(messageOf(source), "ok");
  }
});

test("parseJavascript refuses syntax that is invalid in a strict async function", () => {
  for (const source of ["with (a) {}", "010", "delete a", "new.target", "super.a", "let await", "\n--> a", "#a in b"]) {
    assert.notEqual(messageOf(source), "ok");
  }
});

test("parseJavascript detects every kind of duplicate declaration", () => {
  for (const source of [
    "let a; let a",
    "var a; let a",
    "let a; { var a }",
    "function a() {} let a",
    "class a {} const a = 1",
  ]) {
    assert.equal(messageOf(source), "Identifier 'a' has already been declared");
  }
  for (const source of ["let a; { let a }", "var a; var a", "try {} catch (a) { var a }", "(a) => { { let a } }"]) {
    assert.equal(messageOf(source), "ok");
  }
});

/** Processor time of this thread for so many names in all: a busy machine does not decide, nor does a coarse clock. */
function cost(names: number): number {
  const source = `let ${Array.from({ length: names }, (_, index) => `a${index}`).join()}`;
  const start = process.threadCpuUsage();
  for (let parsed = 0; parsed < NAMES; parsed += names) assert.equal(messageOf(source), "ok");
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}
const NAMES = 64_000;

test("parseJavascript takes time linear in the number of declarations", () => {
  // Searching a list would make it 16 times as much. The best of several leaves out what else the machine does.
  const best = (count: number): number => Math.min(...Array.from({ length: 5 }, () => cost(count)));
  assert.ok(best(16_000) < best(1_000) * 5);
});

test("parseJavascript refuses a name that the engine would refuse", () => {
  assert.equal(messageOf("\u{3d000}"), "Unexpected character in a name");
  for (const source of ["ñandú", "名前", "\\u{61}b", "a\u200db", "class A { #é; }", "𝒜"])
    assert.equal(messageOf(source), "ok");
});

test("accepts a regular expression at the length limit and refuses a longer one", () => {
  assert.equal(messageOf(`/${"a".repeat(8_192)}/`), "ok");
  assert.equal(messageOf(`/${"a".repeat(8_193)}/`), "Regular expression literal too long");
});

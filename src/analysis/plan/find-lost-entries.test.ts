/** `JSON.stringify` of maps and sets, and calls that look alike and keep what is in them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS } from "../../domain/index.ts";
import { analyze } from "../analyze.ts";
import { DEFAULT_RULES } from "../rules/check-rules.ts";

function messagesOf(source: string): readonly string[] {
  const options = { enabled: true, blockOnError: true, rules: DEFAULT_RULES, limits: DEFAULT_LIMITS };
  const analyzed = analyze(source, { namespaces: [] }, options);
  assert.ok(analyzed.ok, source);
  const found = analyzed.program.findings.filter(({ rule }) => rule === "lost-entries");
  return found.map(({ severity, message, line, column }) => `${severity} ${line}:${column} ${message}`);
}

const MAP = "JSON.stringify of a Map gives {}; write Object.fromEntries(map) in its place";
const SET = "JSON.stringify of a Set gives {}; write [...set] in its place";

for (const [source, message] of [
  ["const m = new Map([[1, 2]]);\nm.set(3, 4);\nreturn JSON.stringify(m)", `warn 3:8 ${MAP}`],
  ["return JSON.stringify(new Set([1]))", `warn 1:8 ${SET}`],
  ["const s = new Set<string>(); return JSON.stringify({ all: s, n: 1 }, null, 2)", `warn 1:37 ${SET}`],
  ["const seen = new Set(); console.log(JSON.stringify({ seen }))", `warn 1:37 ${SET}`],
] as const) {
  test(`names what is lost: ${source}`, () => assert.deepEqual(messagesOf(source), [message]));
}

for (const source of [
  "const m = new Map(); return m",
  "const m = new Map(); return JSON.stringify([...m])",
  "const m = new Map(); return JSON.stringify(Object.fromEntries(m))",
  "const m = new Map(); return JSON.stringify(m, (key, value) => (value instanceof Map ? [...value] : value))",
  "let m = new Map(); m = { a: 1 }; return JSON.stringify(m)",
  "class Map {} const m = new Map(); return JSON.stringify(m)",
  "const JSON = { stringify: (x) => x.size }; return JSON.stringify(new Map())",
  "return JSON.stringify(new Date(0))",
]) {
  test(`says nothing: ${source}`, () => assert.deepEqual(messagesOf(source), []));
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS, parseConnectorId } from "../../domain/index.ts";
import { DEFAULT_RULES, analyze } from "../index.ts";

const connector = parseConnectorId("github");
assert.ok(connector);
const namespaces = [{ name: "github", connector, summary: "", tools: ["listIssues"] }];

function check(source: string): {
  readonly javascript: string;
  readonly checkable: string;
  readonly calls: readonly string[];
  readonly notes: readonly string[];
} {
  const options = { enabled: true, blockOnError: true, rules: DEFAULT_RULES, limits: DEFAULT_LIMITS };
  const analyzed = analyze(source, { namespaces }, options);
  assert.ok(analyzed.ok, JSON.stringify(analyzed));
  const { javascript, checkable, calls, findings } = analyzed.program;
  return {
    javascript,
    checkable,
    calls: calls.map(({ namespace, address }) => `${namespace ?? ""} ${address}`),
    notes: findings.map(({ severity, message, line, column }) => `${severity} ${line}:${column} ${message}`),
  };
}

const DROPPED = "The parameter was removed: tools and `input` are globals";
const UNCALLED =
  "The function takes arguments, so it was not called; tools and `input` are globals: remove the parameters, or call it";

const CALLED: readonly (readonly [source: string, javascript: string])[] = [
  ["async (input) => { return input.a }", "return (async (     ) => { return input.a })()"],
  ["input => input.a", "return (()    => input.a)()"],
  [
    "(async function ({ github, input, }) { return 1 })",
    "return ((async function (                  ) { return 1 }))()",
  ],
  ["const run = async ({ github }) => 1", "const run = async (          ) => 1;return run();"],
  [
    "export default async function main({ github }) { return 1 }",
    "               async function main(          ) { return 1 };return main();",
  ],
  ["export default async ({ github }) => 1", "               return (async (          ) => 1)()"],
];

for (const [source, javascript] of CALLED) {
  test(`calls ${JSON.stringify(source)}, which only takes globals`, () => {
    const checked = check(source);
    assert.equal(checked.javascript, javascript);
    assert.deepEqual(check(javascript).javascript, javascript);
    assert.ok(checked.notes.some((note) => note.startsWith("info") && note.endsWith(DROPPED)));
  });
}

test("finds tools behind a removed parameter and removes its type too", () => {
  const source = "async ({ github }: { github: any }) => { return await github.listIssues({}) }";
  const bare = "async (                           ) => { return await github.listIssues({}) }";
  assert.deepEqual(check(source), {
    javascript: `return (${bare})()`,
    checkable: bare,
    calls: check("github.listIssues({})").calls,
    notes: [`info 1:8 ${DROPPED}`, "info 1:1 The function was called"],
  });
});

for (const source of [
  "async (event) => 1",
  "async function handler(event, context) { return 1 }",
  "const run = async ({ gitlab }) => 1",
  "const run = async ({ github: gh }) => 1",
  "const run = async ({ github, ...others }) => 1",
  "export default async function main(tools) { return tools }",
  "async (input) => { input = 1; return input }",
  "async (input) => { for (input of [1]) input; return input }",
  "async function run(input) { return arguments.length }",
  "const github = 1\nconst run = ({ github }) => 1",
]) {
  test(`warns that ${JSON.stringify(source)} is not called`, () => {
    const { notes } = check(source);
    assert.equal(notes.filter((note) => note.startsWith("warn") && note.endsWith(UNCALLED)).length, 1);
  });
}

test("does not warn about a function with parameters that the program calls, or that is one of several", () => {
  for (const source of [
    "const add = (a, b) => a + b\nadd(1, 2)",
    "add(1, 2)\nfunction add(a, b) { return a + b }",
    "[1].map((a) => a)",
    "function add(a) { return a }\nconst b = add(1)",
  ]) {
    assert.deepEqual(check(source).notes, [], source);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConnectorId } from "../../domain/index.ts";
import type { Namespace } from "../../domain/index.ts";
import { readSyntax } from "../program-syntax.ts";
import { findCalls } from "./find-calls.ts";
import { createLocator } from "../locate.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { readTree } from "../read-tree.ts";

function namespace(name: string, tools: readonly string[]): Namespace {
  const connector = parseConnectorId(name);
  assert.ok(connector);
  return { name, connector, summary: "", tools };
}

const NAMESPACES = [namespace("github", ["createIssue", "listIssues"]), namespace("mail", ["send"])];

function callsIn(source: string): readonly string[] {
  const parsed = parseJavascript(source);
  assert.ok(parsed.ok, source);
  const tree = readTree(parsed.root);
  const syntax = readSyntax({
    source,
    tree,
    api: { namespaces: NAMESPACES },
    sourceBytes: source.length,
    toAuthor: (at) => at,
  });
  const calls = findCalls(syntax, { namespaces: NAMESPACES, locate: createLocator(source) });
  return calls.map(({ address, namespace, line, column }) => {
    const reached = address === "dynamic" && namespace !== undefined ? `${namespace}.*` : address;
    return `${reached} ${line}:${column}`;
  });
}

const CASES: Readonly<Record<string, readonly string[]>> = {
  "github.listIssues()": ["github.listIssues 1:1"],
  'github["listIssues"]()': ["github.listIssues 1:1"],
  "github[`listIssues`]()": ["github.listIssues 1:1"],
  "(github)?.listIssues?.()": ["github.listIssues 1:2"],
  "g\\u0069thub.listIssues()": ["github.listIssues 1:1"],
  "mail.send();\n  github.createIssue()": ["mail.send 1:1", "github.createIssue 2:3"],
  "xs.map(github.listIssues)": ["github.listIssues 1:8"],
  "const { listIssues, createIssue: make } = github": ["github.listIssues 1:9", "github.createIssue 1:21"],
  "const f = ({ send } = mail) => send()": ["mail.send 1:14"],
  "github.noSuchTool()": ["github.noSuchTool 1:1"],
  "typeof github": [],
  "github[name]()": ["github.* 1:1"],
  'github["list" + "Issues"]()': ["github.listIssues 1:1"],
  "github.valueOf()": ["github.* 1:1"],
  "github.$x()": ["github.* 1:1"],
  "const { [name]: f } = github": ["github.* 1:9"],
  "const { listIssues, ...rest } = github": ["github.listIssues 1:9"],
  "const g = github; g.listIssues()": ["github.listIssues 1:19"],
  "f(github)": ["github.* 1:3"],
  "({ ...github }).listIssues()": ["github.listIssues 1:2"],
  "f({ ...github })": ["github.* 1:3"],
  "({ github }).github.listIssues()": ["github.listIssues 1:1"],
  "x = ({ listIssues } = github)": ["github.* 1:1", "github.listIssues 1:8"],
  "for (const k in github) github[k]()": ["github.* 1:25"],
  "throw github": ["github.* 1:7"],
  "async function* f() { yield github }": ["github.* 1:23"],
  "function* f() { yield github } for (const g of f()) g.listIssues()": ["github.listIssues 1:53"],
  "const o = { g: github }; o.f = function () {}; o.f()": ["github.* 1:48"],
  "globalThis.github.listIssues()": ["github.listIssues 1:1"],
  "this.github.listIssues()": ["github.listIssues 1:1"],
  "() => this": ["dynamic 1:7"],
  "class A { [this[x]] = 1 }": ["dynamic 1:12"],
  "(() => {}).constructor('')": ["dynamic 1:1"],
  "const { constructor: c } = f": ["dynamic 1:7"],
  "(0, eval)('')": ["dynamic 1:5"],
  "new Function('')": ["dynamic 1:5"],
  "switch (github.listIssues()) { case 1: let github }": ["github.listIssues 1:9"],
  "function f(a = github.listIssues()) { var github }": ["github.listIssues 1:16"],
  "{ let github } github.listIssues()": ["github.listIssues 1:16"],
  "(function github() {}); github.listIssues()": ["github.listIssues 1:25"],
  "try {} catch (github) {} github.listIssues()": ["github.listIssues 1:26"],
};

for (const [source, expected] of Object.entries(CASES)) {
  test(`finds ${expected.join(" and ") || "nothing"} in ${source}`, () => assert.deepEqual(callsIn(source), expected));
}

for (const source of [
  "const github = 1; github.listIssues()",
  "github.listIssues(); var github",
  "(github) => github.listIssues()",
  "({ github }) => github.listIssues()",
  "([a, ...github]) => github.listIssues()",
  "function github() { github.listIssues() }",
  "(class github { static a = github.b })",
  "{ class github {} github.listIssues() }",
  "for (const github of xs) github.listIssues()",
  "try {} catch ({ github }) { github.listIssues() }",
  "(function github() { github.listIssues() })",
  "if (x) { var github } github.listIssues()",
  "x.github.listIssues()",
  "({ github: 1 }).github",
  "github: for (;;) break github",
  "'github.listIssues()'; // github.listIssues()",
  "(function () { return this })",
  "class A { a = this; static { this.b } c() { return this } }",
]) {
  test(`finds no tool in ${source}`, () => assert.deepEqual(callsIn(source), []));
}

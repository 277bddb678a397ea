import assert from "node:assert/strict";
import { test } from "node:test";
import { createConstantFolder } from "./fold.ts";
import type { Constant } from "./fold.ts";
import { parseJavascript } from "./parse-javascript.ts";
import { readTree } from "./read-tree.ts";
import { resolveScopes } from "./resolve-scopes.ts";

/** What is known of the argument of the call of `probe`. */
function probe(source: string): { values: readonly Constant[] | undefined; truth: boolean | undefined } {
  const parsed = parseJavascript(source);
  assert.ok(parsed.ok, source);
  const tree = readTree(parsed.root);
  const folder = createConstantFolder({ tree, globals: resolveScopes(tree) });
  for (const node of tree.nodes) {
    if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || node.callee.name !== "probe") continue;
    const [argument] = node.arguments;
    assert.ok(argument);
    return { values: folder.valuesOf(argument), truth: folder.truthOf(argument) };
  }
  return assert.fail("no probe");
}

const KNOWN: Readonly<Record<string, readonly [readonly Constant[] | undefined, boolean | undefined]>> = {
  "probe(1)": [[1], true],
  "probe(!0)": [[true], true],
  "probe(!1)": [[false], false],
  "probe(![])": [undefined, false],
  'probe("a")': [["a"], true],
  'probe("")': [[""], false],
  "probe({})": [undefined, true],
  "probe(1 < 2)": [[true], true],
  "probe(void 0)": [[undefined], false],
  "probe(undefined)": [[undefined], false],
  "probe('list' + 'Issues')": [["listIssues"], true],
  "probe(`list${'Issues'}`)": [["listIssues"], true],
  "const a = 'x'; const b = a + 'y'; probe(b)": [["xy"], true],
  "probe(q ? 'a' : 'b')": [["a", "b"], true],
  "for (const k of ['a', 'b']) probe(k)": [["a", "b"], true],
  "const ks = ['a', 'b']; for (const k of ks) probe(k)": [["a", "b"], true],
  "const ks = ['a']; ks.push('c'); for (const k of ks) probe(k)": [undefined, undefined],
  "let i = 0; probe(i < 10)": [[true], true],
  "let i = 0; i++; probe(i < 10)": [undefined, undefined],
  "let i = 0; [i] = [2]; probe(i)": [undefined, undefined],
  "(a = 1) => probe(a)": [undefined, undefined],
  "probe(q || true)": [undefined, true],
  "probe(q && false)": [undefined, false],
  "probe(q)": [undefined, undefined],
  "const a = a + 1; probe(a)": [undefined, undefined],
  "probe((0, 1))": [undefined, true],
  "probe(10n)": [undefined, true],
};

for (const [source, [values, truth]] of Object.entries(KNOWN)) {
  test(`folds ${source} to ${JSON.stringify(values)}`, () => assert.deepEqual(probe(source), { values, truth }));
}

test("folding is fast for long chains and names that refer to names", () => {
  const names = Array.from({ length: 60 }, (_, at) => `const a${at + 1} = a${at} + a${at};`).join("");
  assert.equal(probe(`const a0 = 1; ${names} probe(a60)`).values, undefined);
  assert.equal(probe(`probe(${"a||".repeat(2_000)}b)`).truth, undefined);
  assert.equal(probe(`probe(${"1+".repeat(2_000)}1)`).values, undefined);
});

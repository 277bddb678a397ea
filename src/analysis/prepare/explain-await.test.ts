/** What a program with `await` in a function that is not async should be, and programs that fail for another reason. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS } from "../../domain/index.ts";
import { analyze } from "../analyze.ts";
import { DEFAULT_RULES } from "../rules/check-rules.ts";

const OPTIONS = { enabled: true, blockOnError: true, rules: DEFAULT_RULES, limits: DEFAULT_LIMITS };

function refusalOf(source: string): readonly [message: string, hint: string] {
  const analyzed = analyze(source, { namespaces: [] }, OPTIONS);
  assert.ok(!analyzed.ok, source);
  return [analyzed.error.message, analyzed.error.hint ?? ""];
}

const REPAIRED = [
  [
    "const all = [1, 2].map((id) => { const t = await get(id); return t.name; }); return all;",
    "const all = await Promise.all([1, 2].map(async (id) => { const t = await get(id); return t.name; })); return all;",
  ],
  [
    "return ids.map(id => await get(id)).length",
    "return (await Promise.all(ids.map(async id => await get(id)))).length",
  ],
  [
    "return await Promise.all(ids.map((id) => await get(id)))",
    "return await Promise.all(ids.map(async (id) => await get(id)))",
  ],
  [
    "const go = (id: number): string => {\n  return await get(id);\n};\nreturn await go(1)",
    "const go = async (id: number): string => {",
  ],
  [
    "function go(id) { return await get(id) } return await go(1)",
    "async function go(id) { return await get(id) } return await go(1)",
  ],
  [
    "class A { go() { return await get() } } return new A().go()",
    "class A { async go() { return await get() } } return new A().go()",
  ],
  [
    "const inc = ids.map((x) => x + 1);\nconst a = () => { await get() };\nconst b = () => { await a() };\nawait b()",
    "const a = async () => { await get() };\nconst b = async () => { await a() };",
  ],
] as const;

for (const [source, lines] of REPAIRED) {
  test(`says where async is missing: ${source}`, () => {
    assert.deepEqual(refusalOf(source), ["`await` works only in an async function", `Write: ${lines}`]);
  });
}

for (const method of ["forEach", "filter", "some"]) {
  test(`says that ${method} does not wait`, () => {
    assert.match(refusalOf(`return ids.${method}((id) => { await get(id) })`)[1], /does not wait .* use `for/u);
  });
}

for (const [source, words] of [
  ["const a = await ;", /Expression expected/u],
  ["for t in await x():\n  print(t)", /This is Python/u],
  ["const f = () => { await get( }", /./u],
] as const) {
  test(`leaves another error as it is: ${source}`, () => {
    const [message] = refusalOf(source);
    assert.match(message, words);
    assert.doesNotMatch(message, /async function/u);
  });
}

test("does not parse a long program again", () => {
  assert.doesNotMatch(refusalOf(`ids.map((id) => await get(id));${" ".repeat(8_000)}`)[0], /works only/u);
});

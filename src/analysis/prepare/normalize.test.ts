import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { normalize, toCheckable } from "./normalize.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { readTree } from "../read-tree.ts";

function normalized(source: string): string {
  const parsed = parseJavascript(source);
  assert.ok(parsed.ok, source);
  return normalize(source, readTree(parsed.root)).javascript;
}

/** Runs a text exactly as the sandbox compiles it. */
async function valueOf(javascript: string): Promise<unknown> {
  return runInNewContext(`(async () => {"use strict";\n${javascript}\n})`, { f: (x: unknown) => x, log: [] })();
}

const RETURNED: readonly (readonly [source: string, javascript: string, value: unknown])[] = [
  ["1 + 1", "return (1 + 1)", 2],
  ["1 + 1; // sum", "return (1 + 1); // sum", 2],
  ["const a = 2\na // two", "const a = 2\nreturn (a) // two", 2],
  ["const a = 2\na /* x */ ;;", "const a = 2\nreturn (a) /* x */ ;;", 2],
  ["f(1)\n;[1, 2].length", "f(1)\n;return ([1, 2].length)", 2],
  ["1, 2", "return (1, 2)", 2],
  ["(2)", "return ((2))", 2],
  ["`${1 +\n1}`", "return (`${1 +\n1}`)", "2"],
  ["'use strict'", "return ('use strict')", "use strict"],
  ["await f(2)", "return (await f(2))", 2],
  ["do {} while (0) f(2)", "do {} while (0) return (f(2))", 2],
  ["if (f(0)) return 1\n2", "if (f(0)) return 1\nreturn (2)", 2],
  ["async () => { return 2 }", "return (async () => { return 2 })()", 2],
  ["(async function () { return 2 });", "return ((async function () { return 2 }))();", 2],
  ["() => ({ a: 2 }).a", "return (() => ({ a: 2 }).a)()", 2],
  ["async function main() { return 2 }", "async function main() { return 2 };return main();", 2],
  ["async function work() { return 2 }", "async function work() { return 2 };return work();", 2],
  ["const main = async () => 2", "const main = async () => 2;return main();", 2],
  ["function work({ a = 2 } = {}) { return a }", "function work({ a = 2 } = {}) { return a };return work();", 2],
  [
    "const a = 2\nfunction main() { return a } // m",
    "const a = 2\nfunction main() { return a };return main(); // m",
    2,
  ],
  [
    "function main() { return g() }\nconst g = () => 2",
    "function main() { return g() }\nconst g = () => 2;return main();",
    2,
  ],
  ["if (f(1)) { 2 }", "if (f(1)) { return (2) }", 2],
  [
    "if (f(0)) 1; else if (f(1)) 2; else { 3 }",
    "if (f(0)) return (1); else if (f(1)) return (2); else { return (3) }",
    2,
  ],
  ["{ f(1); { 2 } }", "{ f(1); { return (2) } }", 2],
  ["try { 2 } catch { 3 }", "try { return await (2) } catch { return await (3) }", 2],
  [
    "try { f(Promise.reject(1)) } catch { 2 }",
    "try { return await (f(Promise.reject(1))) } catch { return await (2) }",
    2,
  ],
  ["try { 2 } finally { f(3) }", "try { return await (2) } finally { f(3) }", 2],
  [
    "switch (f(1)) { case 0: 5; case 1: f(1); 2; break; default: 3 }",
    "switch (f(1)) { case 0: 5; case 1: f(1); return (2); break; default: return (3) }",
    2,
  ],
  ["switch (f(1)) { case 1: { 2; break } }", "switch (f(1)) { case 1: { return (2); break } }", 2],
  ["const run = async () => 2; run()", "const run = async () => 2; return (run())", 2],
  ["await main(); async function main() { return 2 }", "return (await main()); async function main() { return 2 }", 2],
  [
    "main().catch(f);\nasync function main() { return 2 }",
    "return (main().catch(f));\nasync function main() { return 2 }",
    2,
  ],
  ["void main();\nasync function main() { return 2 }", "return (     main());\nasync function main() { return 2 }", 2],
  ["const main = async () => 2; void (main());", "const main = async () => 2; return (     (main()));", 2],
  [
    "g()\nfunction g() { return h() };function h() { return 2 }",
    "return (g())\nfunction g() { return h() };function h() { return 2 }",
    2,
  ],
  [
    "try { g() } catch { 3 }\nfunction g() { return 2 }",
    "try { return await (g()) } catch { return await (3) }\nfunction g() { return 2 }",
    2,
  ],
  ["() => g()\nfunction g() { return 2 }", "return (() => g())()\nfunction g() { return 2 }", 2],
  [
    "main()\nexport default function main() { return 2 }",
    "return (main())\n               function main() { return 2 }",
    2,
  ],
  ["'use strict'\nfunction main() { return 2 }", "'use strict'\nfunction main() { return 2 };return main();", 2],
  ["export default 2", "               return (2)", 2],
  ["f\nexport default (2)", "f\n               return ((2))", 2],
  ["export default { a: 1 }.a;", "               return ({ a: 1 }.a);", 1],
  ["export default async () => 2", "               return (async () => 2)()", 2],
  ["export default function () { return 2 }", "               return (function () { return 2 })()", 2],
  [
    "export default async function run() { return 2 }",
    "               async function run() { return 2 };return run();",
    2,
  ],
  [
    "export default () => g()\nfunction g() { return 2 }",
    "               return (() => g())()\nfunction g() { return 2 }",
    2,
  ],
  ["f\nexport default { a: 1 }\n2", "f\n               ;({ a: 1 });\nreturn (2)", 2],
];

for (const [source, javascript, value] of RETURNED) {
  test(`returns the value of ${JSON.stringify(source)}`, async () => {
    assert.equal(normalized(source), javascript);
    assert.equal(await valueOf(javascript), value);
  });
}

for (const source of [
  "",
  "// nothing",
  "return 1",
  "return 1 //",
  "const a = 1",
  "for (const a of [1]) a",
  "throw 1",
  "'use strict'\nfunction main(a) { return a }",
  "const a = f(1); function main() {}",
  "function main(a) { return a }",
  "function* main() {}",
  "function main() {} const a = f(1)",
  "function main() {} const a = main",
  "function main() {} function other() { main() }",
  "function one() {} function other() {}",
  "const other = (a) => a",
  "class A {}",
  "function f() { return 1 }\nreturn f()",
]) {
  test(`leaves ${JSON.stringify(source)} unchanged`, () => assert.equal(normalized(source), source));
}

test("normalize leaves a case that falls through, a loop and a labeled break unchanged", () => {
  for (const source of [
    "switch (f(1)) { case 1: 2; case 2: f(3); const a = 1 }",
    "while (f(0)) { 2 }",
    "a: { switch (f(1)) { case 1: 2; break a } }",
  ]) {
    assert.equal(normalized(source), source);
  }
});

test("normalize does not call a function that needs arguments, is one of several, or is a generator", () => {
  assert.equal(normalized("(a) => a"), "return ((a) => a)");
  assert.equal(normalized("f(1); () => 1"), "f(1); return (() => 1)");
  assert.equal(normalized("(function* () {})"), "return ((function* () {}))");
});

test("normalize records each insertion at its offset in the running text", () => {
  const parsed = parseJavascript("const a = 1\na");
  assert.ok(parsed.ok);
  assert.deepEqual(normalize("const a = 1\na", readTree(parsed.root)), {
    javascript: "const a = 1\nreturn (a)",
    insertions: [
      { offset: 12, length: 8 },
      { offset: 21, length: 1 },
    ],
    notes: [],
  });
});

const STATEMENTS = [
  "log.push(1)",
  "f(2);",
  "[3].length",
  "(4)",
  "`5`",
  "-6",
  "let a = 7",
  "function main() { return 8 }",
  "function other(a) { return a }",
  "void f(20)",
  "main()",
  "if (f(9)) { f(0) } else f(1)",
  "try { f(14) } catch { f(15) } finally { f(16) }",
  "switch (f(1)) { case 0: f(1); case 1: f(17); break; default: f(18) }",
  "{ f(10) }",
  "class A {}",
  "() => 11",
  ";",
  "/* c */",
  "// d",
  "var b = f\n(12)",
  "do f(0); while (0)",
  "label: for (;;) break label",
  "/13/.test('13')",
];

const program = fc.tuple(fc.shuffledSubarray(STATEMENTS), fc.constantFrom("\n", ";\n", "\n\n"));
const returning = fc.constantFrom(
  "return 99",
  "if (f(1)) return 99",
  "{ return 99 }",
  "try { return 99 } finally { f(0) }",
);

test("normalize never changes the value of a program that returns by itself", async () => {
  await fc.assert(
    fc.asyncProperty(program, returning, fc.nat(20), async ([statements, separator], end, at) => {
      const source = statements.toSpliced(at, 0, end).join(separator);
      fc.pre(parseJavascript(source).ok);
      assert.deepEqual(await outcomeOf(normalized(source)), await outcomeOf(source));
    }),
  );
});

test("normalize gives a function body that compiles, and is idempotent", () => {
  fc.assert(
    fc.property(program, fc.boolean(), ([statements, separator], exported) => {
      const source = statements.join(separator) + (exported ? `${separator}export default () => 1` : "");
      fc.pre(parseJavascript(source).ok);
      const once = normalized(source);
      assert.equal(normalized(once), once);
      runInNewContext(`(async () => {"use strict";\n${once}\n})`);
    }),
  );
});

/** A program may throw before it returns; then it must throw the same afterwards. */
async function outcomeOf(javascript: string): Promise<string> {
  try {
    return `value ${String(await valueOf(javascript))}`;
  } catch (thrown) {
    return `threw ${String(thrown)}`;
  }
}

for (const [source, checkable] of [
  ["const a: number = 1", "const a: number = 1"],
  ["f\nexport default (a: number) => a", "f\n;void          (a: number) => a"],
  ["export default function run() {}", "               function run() {}"],
] as const) {
  test(`gives the type checker ${JSON.stringify(source)} with nothing moved`, () => {
    const parsed = parseJavascript(source.replace(/: number/gu, "        "));
    assert.ok(parsed.ok);
    assert.equal(
      toCheckable(source, parsed, (offset) => offset),
      checkable,
    );
  });
}

/** `import` is taken out wherever it is one, and left where it is only a word. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { HEAD } from "./dynamic-worker.ts";
import { ImportRefused, WITHHELD, withholdImports } from "./withhold-imports.ts";

const within = (body: string): string => `${HEAD}${body}\n}; }`;
const withheld = (body: string): string => withholdImports(within(body)).slice(HEAD.length, -5);

const TAKEN = [
  ["await import('x')", `await ${WITHHELD}('x')`],
  ["import /* a */ ('x')", `${WITHHELD} /* a */ ('x')`],
  ["import('x', { with: {} })", `${WITHHELD}('x', { with: {} })`],
  ["return import.meta.url", `return ${WITHHELD}.meta.url`],
  ["`${import('x')}`", `\`\${${WITHHELD}('x')}\``],
  ["({ import: import('x') })", `({ import: ${WITHHELD}('x') })`],
  ["/[/]import/.test(import('x'))", `/[/]import/.test(${WITHHELD}('x'))`],
  ["import(import('x'))", `${WITHHELD}(${WITHHELD}('x'))`],
] as const;
for (const [body, expected] of TAKEN) {
  test(`${body} loads nothing, and is as long as before`, () => {
    assert.equal(withheld(body), expected);
    assert.equal(expected.length, body.length);
  });
}

const LEFT = [
  "'import(x)'",
  "a.import('x')",
  "/* import('x') */ 1",
  "({ import: 1 })",
  "`import('x')`",
  "function f() { new.target }",
];
for (const body of LEFT) test(`${body} is left as it is`, () => assert.equal(withheld(body), body));

const REFUSED = [
  "}; }\nimport 'x';\nfunction f() { return () => {",
  "}; }\nexport * from 'x'; // import\nfunction f() { return () => {",
  "import.source('x')",
  "import.defer('x')",
  "import",
  `const ${WITHHELD} = 1; import('x')`,
];
for (const body of REFUSED) test(`${body} is refused`, () => assert.throws(() => withheld(body), ImportRefused));

test("withholdImports refuses a program that nests deeper than the stack", () => {
  assert.throws(() => withheld(`import('x');${"[".repeat(100_000)}`), ImportRefused);
});

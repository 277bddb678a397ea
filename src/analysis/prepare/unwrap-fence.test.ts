import assert from "node:assert/strict";
import { test } from "node:test";
import { unwrapFence } from "./unwrap-fence.ts";

test("unwrapFence removes the fences and keeps every line and column", () => {
  assert.deepEqual(unwrapFence("```ts\nconst a = 1;\na\n```\n"), { text: "     \nconst a = 1;\na\n   \n", opened: 0 });
  assert.deepEqual(unwrapFence("\n  ~~~\r\nreturn 1\r\n~~~"), { text: "\n     \r\nreturn 1\r\n   ", opened: 3 });
  assert.deepEqual(unwrapFence("````js\n1\n````"), { text: "      \n1\n    ", opened: 0 });
});

for (const source of [
  "const a = 1",
  "```ts\nconst a = 1",
  "const a = 1\n```",
  "/*\n```ts\nexample\n```\n*/\nreturn 1",
  "const a = `x\n\\`\\`\\`\n`; // ```\nreturn a",
  "Here it is:\n```python\nprint(1)\n```",
  "Here it is:\n```ts\n1\n````x",
  "Here it is:\n~~~ts\n1\n~~~",
  "```ts\n1\n~~~",
  "````ts\n1\n```",
  "```a```",
  "`\n```\n`",
  "",
]) {
  test(`leaves ${JSON.stringify(source)} unchanged`, () => {
    assert.deepEqual(unwrapFence(source), { text: source, opened: undefined });
  });
}

test("unwrapFence drops the prose around a single block", () => {
  const prose = "Here's the `code` you asked for (it deletes nothing):\n";
  const source = `${prose}\n\`\`\`js\nawait a.b();\n\`\`\`\nThis calls \`a.b\`; let me know!\n`;
  const { text, opened, hadProse } = unwrapFence(source);
  assert.equal(text.trim(), "await a.b();");
  assert.deepEqual(
    [text.length, text.indexOf("await"), opened, hadProse],
    [source.length, source.indexOf("await"), 55, true],
  );
  assert.deepEqual(unwrapFence("Done\n```\nreturn 1\n```"), {
    text: "    \n   \nreturn 1\n   ",
    opened: 5,
    hadProse: true,
  });
});

test("unwrapFence refuses several blocks, also without prose between them", () => {
  for (const source of [
    "```ts\n1\n```\nand\n```ts\n2\n```",
    "Run\n```js\n1\n```\n```js\n2\n```",
    "a\n```\n1\n```\n```",
  ]) {
    assert.throws(() => unwrapFence(source), { code: "PROGRAM_SYNTAX" });
  }
});

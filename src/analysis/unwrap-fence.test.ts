import assert from "node:assert/strict";
import { test } from "node:test";
import { unwrapFence } from "./unwrap-fence.ts";

test("takes the fences off and leaves every line and column in place", () => {
  assert.deepEqual(unwrapFence("```ts\nconst a = 1;\na\n```\n"), { text: "     \nconst a = 1;\na\n   \n", opened: 0 });
  assert.deepEqual(unwrapFence("\n  ~~~\r\nreturn 1\r\n~~~"), { text: "\n     \r\nreturn 1\r\n   ", opened: 3 });
  assert.deepEqual(unwrapFence("````js\n1\n````"), { text: "      \n1\n    ", opened: 0 });
});

for (const source of [
  "const a = 1",
  "```ts\nconst a = 1",
  "const a = 1\n```",
  "Here it is:\n```ts\n1\n```",
  "```ts\n1\n```\nand\n```ts\n2\n```",
  "```ts\n1\n~~~",
  "````ts\n1\n```",
  "```a```",
  "`\n```\n`",
  "",
]) {
  test(`leaves ${JSON.stringify(source)} as it is`, () => {
    assert.deepEqual(unwrapFence(source), { text: source, opened: undefined });
  });
}

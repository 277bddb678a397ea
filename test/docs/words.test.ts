/** `check-words` finds planted phrases, spellings and long sentences, and leaves plain English alone. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { checkWords } from "../../scripts/check-words.ts";

function check(context: { after: (work: () => void) => void }, name: string, text: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "words-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return checkWords(folder, [name]);
}

test("check-words finds banned phrases in code, also across the lines of a comment", (context) => {
  const text = '/** Whoever asks. The value is\n * no URL. */\nconst a = "it goes on"; // the result is put\n// away\n';
  assert.deepEqual(check(context, "a.ts", text), [
    'a.ts:1 write plain English instead of "Whoever"',
    'a.ts:1 write plain English instead of "is no"',
    'a.ts:3 write plain English instead of "goes on"',
    'a.ts:3 write plain English instead of "put away"',
  ]);
});

test("check-words accepts the plain form of the same sentences", (context) => {
  const text = '/** The caller asks. The value is not a URL and is no longer used. */\nconst a = "it continues";\n';
  assert.deepEqual(check(context, "a.ts", text), []);
});

test("check-words finds British spelling and accepts American spelling", (context) => {
  assert.deepEqual(check(context, "a.ts", "// behaviour of labelled data\n"), [
    'a.ts:1 write plain English instead of "behaviour"',
    'a.ts:1 write plain English instead of "labelled"',
  ]);
  assert.deepEqual(check(context, "a.ts", "// behavior of labeled data in a cancelled analysis\n"), []);
});

test("check-words accepts a sentence of 30 words in a document and refuses one of 31", (context) => {
  const sentence = (words: number): string => `${Array.from({ length: words }, () => "word").join(" ")}.`;
  assert.deepEqual(check(context, "a.md", `# Title\n\n${sentence(30)} ${sentence(30)}\n`), []);
  assert.deepEqual(check(context, "a.md", `# Title\n\n${sentence(30)} ${sentence(31)}\n`), [
    "a.md:3 a sentence has 31 words, at most 30 are allowed",
  ]);
});

test("check-words does not count the words of an HTML comment", (context) => {
  const many = Array.from({ length: 29 }, () => "word").join(" ");
  assert.deepEqual(check(context, "a.md", `${many} 5<!-- const a.ts A -->.\n`), []);
  assert.equal(check(context, "a.md", `${many} 5 const.\n`).length, 1);
});

test("check-words counts a code span as one word and skips fenced blocks", (context) => {
  const many = Array.from({ length: 29 }, () => "word").join(" ");
  const block = `\n\`\`\`sh\n${many} ${many}.\n\`\`\`\n`;
  assert.deepEqual(check(context, "a.md", `${many} \`a b c d\`.\n${block}`), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectsText } from "./expects-text.ts";

for (const source of [
  "const data = JSON.parse(input); return data.a",
  "return JSON.parse ( input ).a",
  "return input.split(',')",
  "return input?.trim()",
  "return typeof input === 'string' ? JSON.parse(input) : input",
  "return /a/.test(input)",
  "await files.writeFile({ path: 'a.json', content: input })",
  "await notes.save({ text: input, tag: 'x' })",
]) {
  test(`a program takes its input for a string: ${source}`, () => assert.ok(expectsText(source)));
}

for (const source of [
  "return input.a",
  "const { a } = input; return a",
  "return input.map((x) => x.split(','))",
  "return input.length + input.slice(1).length",
  "return other.input.split(',')",
  "return JSON.parse(input.text)",
  "// JSON.parse(input)\nreturn 'typeof input' + input.a",
  "return f(input)",
  "await memory.createEntities({ entities: input })",
  "await files.writeFile({ path: 'a', content: input.text })",
  "return 1",
]) {
  test(`a program takes its input for any JSON: ${source}`, () => assert.ok(!expectsText(source)));
}

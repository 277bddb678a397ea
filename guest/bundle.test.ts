/** The guest's code as it is shipped: what its source must not contain, whatever a bundler makes of it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "acorn";

import { GUEST_SOURCE, GUEST_WORKER } from "../src/sandbox/guest.generated.ts";

/** Every template with a hole below `node`, as its place in the text. */
function findTemplates(node: unknown): readonly number[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(findTemplates);
  const { type, start, expressions } = node as { type?: string; start?: number; expressions?: readonly unknown[] };
  const here = type === "TemplateLiteral" && expressions?.length ? [start ?? 0] : [];
  return [...here, ...Object.values(node).flatMap(findTemplates)];
}

const find = (source: string): readonly number[] =>
  findTemplates(parse(source, { ecmaVersion: "latest", sourceType: "module" }));

test("the bundled guest contains no template with a hole, which a program could tamper with", () => {
  assert.deepEqual([...find(GUEST_SOURCE), ...find(GUEST_WORKER)], []);
});

test("the search finds a template with a hole (positive control)", () => {
  assert.deepEqual(find("const a = [`x`, () => `${1}`]"), [22]);
});

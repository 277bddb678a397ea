/** What a plan says about one call: the arguments that are fixed, and whether it is always reached. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS, parseConnectorId, parseDigest } from "../../domain/index.ts";
import { analyze } from "../analyze.ts";
import { DEFAULT_RULES } from "../index.ts";

const connector = parseConnectorId("shop");
const snapshot = parseDigest(`sha256:${"0".repeat(64)}`);
assert.ok(connector && snapshot);
const SURFACE = { snapshot, declarations: "", namespaces: [{ name: "shop", connector, summary: "", tools: ["get"] }] };

function contextOf(source: string): readonly unknown[] {
  const options = { enabled: true, blockOnError: true, rules: DEFAULT_RULES, limits: DEFAULT_LIMITS };
  const analyzed = analyze(source, SURFACE, options);
  assert.ok(analyzed.ok, source);
  const [call] = analyzed.program.calls;
  return [call?.args ?? null, call?.when];
}

const CASES: Readonly<Record<string, readonly unknown[]>> = {
  'return await shop.get({ id: "a" })': [{ id: "a" }, "always"],
  'const r = await shop.get({ id: "a", n: input }); return r': [{ id: "a" }, "always"],
  'return await shop.get({ id: "a", ["i" + "d"]: "b" })': [null, "always"],
  'return await shop.get({ id: "a", id: input })': [null, "always"],
  'return await shop.get({ id: "a", get id() { return "b" } })': [null, "always"],
  'return await shop.get({ id: "a", ...input })': [null, "always"],
  'if (input) return 1; return await shop.get({ id: "a" })': [{ id: "a" }, "maybe"],
};

for (const [source, expected] of Object.entries(CASES)) {
  test(`reports the arguments and certainty ${JSON.stringify(expected)} for ${source}`, () =>
    assert.deepEqual(contextOf(source), expected));
}

/** Which sources are analyzed once, and which again. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_RULES } from "./rules/check-rules.ts";
import { rememberAnalyses } from "./analyze.ts";

const LIMITS = { sourceBytes: 100_000 };
const VARYING = { limits: LIMITS, enabled: true };
const open = () => rememberAnalyses({ rules: DEFAULT_RULES, blockOnError: false });

describe("rememberAnalyses", () => {
  it("returns the same program again for the same source, tools and settings", () => {
    const analyze = open();
    const surface = { namespaces: [] };
    const first = analyze("return 1", surface, VARYING);
    assert.equal(first.ok, true);
    assert.equal(analyze("return 1", surface, VARYING), first);
  });

  it("analyzes a source again for other tools, settings or limits", () => {
    const analyze = open();
    const surface = { namespaces: [] };
    const first = analyze("return 1", surface, VARYING);
    assert.notEqual(analyze("return 1", { namespaces: [] }, VARYING), first);
    assert.notEqual(analyze("return 1", surface, { ...VARYING, enabled: false }), first);
    assert.equal(analyze("return 1", surface, { ...VARYING, limits: { sourceBytes: 3 } }).ok, false);
    assert.equal(analyze("return 1", surface, VARYING), first);
  });

  it("keeps neither refusals nor long sources", () => {
    const analyze = open();
    const surface = { namespaces: [] };
    const [bad, long] = ["return (", `return "${"x".repeat(9_000)}"`];
    for (const source of [bad, long]) {
      const [first, second] = [analyze(source, surface, VARYING), analyze(source, surface, VARYING)];
      assert.deepEqual([first === second, first], [false, second]);
    }
  });

  it("forgets a source after many others", () => {
    const analyze = open();
    const surface = { namespaces: [] };
    const first = analyze("return 1", surface, VARYING);
    for (let count = 0; count < 31; count += 1) analyze(`return "${count}"`, surface, VARYING);
    assert.equal(analyze("return 1", surface, VARYING), first);
    for (let count = 0; count < 32; count += 1) analyze(`return "${count}"`, surface, VARYING);
    assert.notEqual(analyze("return 1", surface, VARYING), first);
  });
});

/** What the error says is not said by a finding too. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { omitRepeatedFindings } from "./omit-repeated.ts";

test("a finding that only repeats the error is left out, any other stays", () => {
  const finding = { rule: "types", severity: "error", message: "a.b: wrong", line: 1, column: 5 } as const;
  const error = { code: "PROGRAM_TYPES", message: "a.b: wrong", retry: false, line: 1, column: 5 } as const;
  const others = [
    { ...finding, column: 6 },
    { ...finding, line: 2 },
    { ...finding, message: "a.c: wrong" },
  ];
  assert.deepEqual(omitRepeatedFindings({ findings: [finding, ...others], error }), others);
  assert.deepEqual(omitRepeatedFindings({ findings: [finding] }), [finding]);
});

test("a finding of the rule that the error names at its position is left out", () => {
  const finding = { rule: "no-eval", severity: "error", message: "Code is not evaluated", line: 1, column: 1 } as const;
  const at = { retry: false, line: 1, column: 1 } as const;
  const error = { code: "PROGRAM_FORBIDDEN", message: "no-eval: code is not evaluated", ...at } as const;
  assert.deepEqual(omitRepeatedFindings({ findings: [finding], error }), []);
  const other = { ...finding, rule: "no-external-import" };
  assert.deepEqual(omitRepeatedFindings({ findings: [other], error }), [other]);
});

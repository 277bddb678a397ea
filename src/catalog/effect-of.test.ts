/** The effects of all annotations, and guesses from names. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { applyReview, effectOf, guessEffect } from "./effect-of.ts";

it("derives the effect from annotations, and returns unknown without them", () => {
  assert.equal(effectOf({ readOnly: true }), "read");
  assert.equal(effectOf({ readOnly: true, destructive: true }), "read");
  assert.equal(effectOf({ destructive: true }), "destroy");
  assert.equal(effectOf({ readOnly: false, destructive: true }), "destroy");
  assert.equal(effectOf({ readOnly: false }), "write");
  assert.equal(effectOf({ destructive: false }), "write");
  assert.equal(effectOf({ readOnly: false, destructive: false }), "write");
  assert.equal(effectOf({ idempotent: true, openWorld: false }), "unknown");
  assert.equal(effectOf({}), "unknown");
});

it("guesses the effect from the words of a name in any style", () => {
  const destroys = ["delete_issue", "deleteIssue", "issues/delete", "IssueRemove", "rm", "drop-table", "purge"];
  assert.deepEqual([...new Set(destroys.map(guessEffect))], ["destroy"]);
  const writes = ["create_issue", "updateStock", "send", "issue.create"];
  assert.deepEqual([...new Set(writes.map(guessEffect))], ["write"]);
});

it("never guesses read, and matches whole words only", () => {
  const others = [
    "get_issue",
    "listDeleted",
    "list_deletes",
    "get_delete_log",
    "undeleted",
    "address",
    "x",
    "",
    "\u{1f9e4}",
  ];
  assert.deepEqual([...new Set(others.map(guessEffect))], ["unknown"]);
});

it("applies a reviewed effect with its source, and leaves a declared one that is the same", () => {
  const declared = { effect: "destroy" } as const;
  assert.deepEqual(applyReview(declared, "write"), { effect: "write", effectSource: "reviewed" });
  assert.equal(applyReview(declared, "destroy"), declared);
  assert.equal(applyReview(declared, undefined), declared);
  const guessed = { effect: "write", effectSource: "guess" } as const;
  assert.deepEqual(applyReview(guessed, "write"), { effect: "write", effectSource: "reviewed" });
});

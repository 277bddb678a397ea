/** What each kind of pattern reaches, and what only looks like a pattern. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { matchesTool } from "./matches-tool.ts";

const matched = (pattern: string, addresses: readonly string[]): readonly string[] =>
  addresses.filter((address) => matchesTool(pattern, address));

const ADDRESSES = ["git.push", "github.push", "github.pushAll", "files.push"];

it("matches everything with a star", () => {
  assert.deepEqual(matched("*", ADDRESSES), ADDRESSES);
});

it("matches one whole namespace and none that begins alike", () => {
  assert.deepEqual(matched("git.*", ADDRESSES), ["git.push"]);
  assert.deepEqual(matched("github.*", ADDRESSES), ["github.push", "github.pushAll"]);
});

it("matches one tool exactly", () => {
  assert.deepEqual(matched("github.push", ADDRESSES), ["github.push"]);
});

it("takes nothing else for a pattern", () => {
  for (const pattern of ["", "git*", "*.push", "*.*", ".*", "github.push*", "GITHUB.*", "github", "g.*"]) {
    assert.deepEqual(matched(pattern, ADDRESSES), [], pattern);
  }
});

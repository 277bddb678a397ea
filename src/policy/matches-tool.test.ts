/** What each kind of pattern matches, and what is not a pattern. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { matchesTool } from "./matches-tool.ts";

const matched = (pattern: string, addresses: readonly string[]): readonly string[] =>
  addresses.filter((address) => matchesTool(pattern, address));

const ADDRESSES = ["git.push", "github.push", "github.pushAll", "files.push"];

it("matchesTool matches every tool with a star", () => {
  assert.deepEqual(matched("*", ADDRESSES), ADDRESSES);
});

it("matchesTool matches one namespace and none with the same prefix", () => {
  assert.deepEqual(matched("git.*", ADDRESSES), ["git.push"]);
  assert.deepEqual(matched("github.*", ADDRESSES), ["github.push", "github.pushAll"]);
});

it("matchesTool matches one tool exactly", () => {
  assert.deepEqual(matched("github.push", ADDRESSES), ["github.push"]);
});

it("matchesTool treats nothing else as a pattern", () => {
  for (const pattern of ["", "git*", "*.push", "*.*", ".*", "github.push*", "GITHUB.*", "github", "g.*"]) {
    assert.deepEqual(matched(pattern, ADDRESSES), [], pattern);
  }
});

/** What each kind of pattern matches, by which names, and what is not a pattern. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { matchTool, pickByTool, toForms } from "./matches-tool.ts";
import type { ToolNames } from "./matches-tool.ts";

const tool = (address: string, more: Partial<ToolNames> = {}): ToolNames => ({
  address,
  server: null,
  remoteName: null,
  ...more,
});
const match = (pattern: string, names: ToolNames) => matchTool([pattern], toForms(names));
const matched = (pattern: string, addresses: readonly string[]): readonly string[] =>
  addresses.filter((address) => match(pattern, tool(address)) === "yes");

const ADDRESSES = ["git.push", "github.push", "github.pushAll", "files.push"];
const PAY = tool("myBank.transferFunds", { server: "my bank", remoteName: "transfer_funds" });
/** It came later: its name got digits, because another tool has the plain one. */
const TWIN = tool("myBank.transferFunds1a2b3c", {
  server: "my bank",
  remoteName: "transferFunds",
  plainName: "transferFunds",
});

it("matchTool matches every tool with a star", () => {
  assert.deepEqual(matched("*", ADDRESSES), ADDRESSES);
});

it("matchTool matches one namespace and none with the same prefix", () => {
  assert.deepEqual(matched("git.*", ADDRESSES), ["git.push"]);
  assert.deepEqual(matched("github.*", ADDRESSES), ["github.push", "github.pushAll"]);
});

it("matchTool matches one tool exactly", () => {
  assert.deepEqual(matched("github.push", ADDRESSES), ["github.push"]);
});

it("matchTool matches names with stars of one server or of all", () => {
  assert.deepEqual(matched("github.push*", ADDRESSES), ["github.push", "github.pushAll"]);
  assert.deepEqual(matched("github.*All", ADDRESSES), ["github.pushAll"]);
  assert.deepEqual(matched("*.push", ADDRESSES), ["git.push", "github.push", "files.push"]);
  assert.deepEqual(matched("*.push*", ADDRESSES), ADDRESSES);
  assert.deepEqual(matched("*.*All", ADDRESSES), ["github.pushAll"]);
  assert.deepEqual(matched("*.Push*", ADDRESSES), []);
  for (const pattern of ["myBank.transfer*", "my bank.*_funds", "*.transfer_*"])
    assert.equal(match(pattern, PAY), "yes");
});

it("matchTool finds a name with stars unclear where another tool may be meant", () => {
  assert.equal(match("myBank.*Funds", TWIN), "unclear");
  assert.equal(match("*.*Funds", TWIN), "unclear");
  assert.equal(match("myBank.transferFunds*", TWIN), "yes");
  assert.equal(match("a.b.c*", tool("aB.cD", { server: "a.b", remoteName: "cD" })), "unclear");
  assert.equal(match("aB.c*", tool("aB.cD", { server: "a.b", remoteName: "cD" })), "yes");
});

it("matchTool treats nothing else as a pattern", () => {
  for (const pattern of ["", "git*", "*.*", ".*", "git*.push", "GITHUB.*", "github", "g.*"]) {
    assert.deepEqual(matched(pattern, ADDRESSES), [], pattern);
  }
});

it("matchTool matches the names that the operator and the server use, in every combination", () => {
  for (const pattern of ["myBank.transferFunds", "myBank.transfer_funds", "my bank.transferFunds", "my bank.*"])
    assert.equal(match(pattern, PAY), "yes", pattern);
  for (const pattern of ["myBank.transferfunds", "my_bank.*", "bank.transfer_funds", "my bank.transfer"])
    assert.equal(match(pattern, PAY), "no", pattern);
});

it("matchTool finds a name unclear that another tool may have as its address", () => {
  assert.equal(match("myBank.transferFunds", TWIN), "unclear");
  assert.equal(match("my bank.transferFunds", TWIN), "unclear");
  assert.equal(match("myBank.transferFunds1a2b3c", TWIN), "yes");
  const other = tool("myBank.transferFunds4d5e6f", { server: "my bank", remoteName: "transfer_funds" });
  assert.equal(match("myBank.transferFunds", { ...other, plainName: "transferFunds" }), "unclear");
  assert.equal(match("myBank.transfer_funds", { ...other, plainName: "transferFunds" }), "yes");
});

it("matchTool finds a name unclear whose dots can be read in two ways", () => {
  const dotted = tool("aB.c", { server: "a.b", remoteName: "c" });
  assert.equal(match("a.b.c", dotted), "unclear");
  assert.equal(match("a.b.*", dotted), "yes");
  assert.equal(match("a.b.c", tool("a.bC", { server: "a", remoteName: "b.c" })), "yes");
  assert.equal(match("a.b.*", tool("a.b", { server: "a", remoteName: "b.*" })), "unclear");
});

it("pickByTool takes the narrowest pattern, of two names the strictest, and a doubtful one only if it is stricter", () => {
  const pick = (values: Record<string, number>, names: ToolNames) =>
    pickByTool(new Map(Object.entries(values)), toForms(names), { usual: 2, rank: (value) => value });
  assert.equal(pick({ "*": 5, "my bank.*": 1, "myBank.*": 3 }, PAY), 3);
  assert.equal(pick({ "myBank.*": 3, "myBank.transferFunds": 0, "myBank.transfer_funds": 1 }, PAY), 1);
  assert.equal(pick({ "myBank.transferFunds": 1 }, TWIN), undefined);
  assert.equal(pick({ "myBank.transferFunds": 2 }, TWIN), undefined);
  assert.equal(pick({ "myBank.transferFunds": 3 }, TWIN), 3);
  assert.equal(pick({ "myBank.transferFunds": 3, "myBank.*": 4 }, TWIN), 4);
});

it("pickByTool puts names with stars between the tool, its server and everything", () => {
  const pick = (values: Record<string, number>) =>
    pickByTool(new Map(Object.entries(values)), toForms(PAY), { usual: 0, rank: (value) => value });
  assert.equal(pick({ "*": 9, "*.transfer*": 1 }), 1);
  assert.equal(pick({ "*.transfer*": 9, "myBank.*": 1 }), 1);
  assert.equal(pick({ "myBank.*": 9, "myBank.transfer*": 1 }), 1);
  assert.equal(pick({ "myBank.transfer*": 9, "myBank.transferFunds": 1 }), 1);
  assert.equal(pick({ "myBank.transfer*": 1, "my bank.*_funds": 2 }), 2);
});

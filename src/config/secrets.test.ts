/** `sandbox.secrets`: what a grant becomes, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSettings } from "./index.ts";

const parse = (secrets: object, networkPolicy: object = { mode: "allowed", domains: ["api.example.com"] }) =>
  parseSettings({ sandbox: { networkPolicy, secrets } }, { folder: "/" }, {}).sandbox.secrets;
const refusalOf = (...args: Parameters<typeof parse>): string => {
  try {
    parse(...args);
    return "fine";
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};
const KEY = { hosts: ["api.example.com"] };

test("programs have no secrets without a grant", () => {
  assert.equal(parseSettings({}, { folder: "/" }, {}).sandbox.secrets.size, 0);
});

test("a grant is for headers and all principals by default", () => {
  const host = { written: "api.example.com", pattern: { name: "api.example.com", isBelow: false, port: null } };
  const hosts = [{ ...host, isPlain: false }];
  const more = { in: ["body", "header", "body"], principals: ["local"] };
  assert.deepEqual(
    [...parse({ KEY, OTHER: { ...KEY, ...more } })],
    [
      ["KEY", { hosts, places: ["header"], principals: [] }],
      ["OTHER", { hosts, places: ["body", "header"], principals: ["local"] }],
    ],
  );
});

test("invalid secret names, and grants that are empty or too wide, are refused", () => {
  for (const name of ["1A", "a-b", "then", "toJSON", "constructor", "hasOwnProperty"]) {
    assert.match(refusalOf({ [name]: KEY }), /expected the name of a secret/, name);
  }
  for (const name of ["A1", "then_", "_", "Token"]) assert.equal(refusalOf({ [name]: KEY }), "fine", name);
  assert.match(refusalOf({ KEY: { hosts: [] } }), /hosts/);
  assert.match(refusalOf({ KEY: { hosts: ["*"] } }), /expected "host"/);
  assert.match(refusalOf({ KEY: { hosts: ["*.co.uk"] } }), /narrower pattern/);
  assert.match(refusalOf({ KEY: { ...KEY, in: [] } }), /in/);
  assert.match(refusalOf({ KEY: { ...KEY, in: ["url"] } }), /header/);
  assert.match(refusalOf({ KEY: { ...KEY, principals: [] } }), /principals/);
});

test("a grant without a network is refused", () => {
  assert.match(refusalOf({ KEY }, {}), /has an effect only with sandbox.networkPolicy.mode/);
  assert.equal(refusalOf({}, {}), "fine");
  assert.equal(refusalOf({ KEY }, { mode: "unrestricted" }), "fine");
});

test("a value in place of a grant is not shown", () => {
  assert.equal(
    refusalOf({ KEY: "s3cr3t-value" }),
    "configuration sandbox.secrets.KEY: expected an object; found something else",
  );
});

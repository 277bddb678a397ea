/** The conformance suite of `Store["skills"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseDigest, parsePrincipalId, parseToolAddress } from "../domain/index.ts";

import type { NewSkillVersion } from "./skills.ts";
import type { Store } from "./store.ts";

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

const AUTHOR = certain(parsePrincipalId("ada"));

function sampleVersion(name: string, digit = "a", address = `skills.${name}`): NewSkillVersion {
  const digest = certain(parseDigest(`sha256:${digit.repeat(64)}`));
  return {
    name,
    address: certain(parseToolAddress(address)),
    digest,
    files: "{}",
    grants: "[]",
    origin: "{}",
    state: "pending_review",
    author: AUTHOR,
    createdAt: 5,
    bodies: new Map([[digest, new Uint8Array([1, 2])]]),
  };
}

export function describeSkills(open: () => Promise<Store>): void {
  void test("versions of one name are numbered from 1 and keep their files", async () => {
    await using store = await open();
    for (const digit of ["a", "b"]) await store.skills.insert(sampleVersion("one", digit));
    await store.skills.insert(sampleVersion("two", "a"));
    assert.deepEqual(
      (await store.skills.list()).map(({ name, version, state }) => [name, version, state]),
      [
        ["one", 1, "pending_review"],
        ["one", 2, "pending_review"],
        ["two", 1, "pending_review"],
      ],
    );
    assert.deepEqual(await store.skills.file(sampleVersion("one").digest), new Uint8Array([1, 2]));
    assert.equal(await store.skills.file(sampleVersion("one", "f").digest), undefined);
  });

  void test("two names cannot have one address, also if it differs in case", async () => {
    await using store = await open();
    assert.equal((await store.skills.insert(sampleVersion("one", "a", "skills.oneTwo"))).kind, "inserted");
    assert.equal((await store.skills.insert(sampleVersion("two", "b", "skills.onetwo"))).kind, "taken");
    assert.equal((await store.skills.insert(sampleVersion("three", "b"))).kind, "inserted");
    assert.equal((await store.skills.list()).length, 2);
  });

  void test("a state changes only from the state and digest that the caller saw", async () => {
    await using store = await open();
    const { skills } = store;
    for (const digit of ["a", "b"]) await skills.insert(sampleVersion("one", digit));
    const [first, second] = (await skills.versions("one")).map((row) => ({ row, by: AUTHOR, at: 9 }));
    const [one, two] = [certain(first), certain(second)];
    const wrong = { ...one, row: { ...one.row, digest: two.row.digest } };
    assert.equal(await skills.change({ ...wrong, state: "approved" }), false);
    const before = await skills.revision();
    assert.equal(await skills.change({ ...one, state: "approved", signature: "s", grants: "[1]" }), true);
    assert.equal(await skills.change({ ...one, state: "rejected" }), false);
    assert.notEqual(await skills.revision(), before);
    assert.equal(await skills.change({ ...two, state: "approved" }), true);
    assert.deepEqual(
      (await skills.versions("one")).map(({ state, grants, signature, decidedBy }) => [
        state,
        grants,
        signature,
        decidedBy,
      ]),
      [
        ["retired", "[1]", "s", "ada"],
        ["approved", "[]", null, "ada"],
      ],
    );
  });
}

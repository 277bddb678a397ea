/** Keys, exports and freezes: what proves an approval, for how long, and what ends it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";

import {
  ADA,
  AGENT,
  BOB,
  NAME,
  SKILL_MD,
  SKILL_TS,
  known,
  openApprovedSkill,
  openSkills,
  shopSnapshot,
  shopTool,
} from "./fixtures/open-skills.ts";
import { LOCK_FILE } from "./skill.ts";
import type { SkillFiles, TestRun } from "./skill.ts";
import { verifyFolder } from "./verify-folder.ts";

const DENIED = { code: "POLICY_DENIED" };
const FROZEN = { code: "SKILL_FROZEN" };

async function openApproved(context: TestContext, options: Parameters<typeof openSkills>[1] = {}) {
  const world = await openApprovedSkill(context, options);
  const stateOf = async (version: number) => {
    const listed = (await world.skills.list()).find((one) => one.version === version);
    return listed?.frozen ?? listed?.state;
  };
  return { ...world, stateOf };
}

function change(files: SkillFiles, path: string, text: string | undefined): SkillFiles {
  const changed = new Map(files);
  if (text === undefined) changed.delete(path);
  else changed.set(path, Buffer.from(text));
  return changed;
}

const textOf = (files: SkillFiles, path: string): string => Buffer.from(known(files.get(path))).toString();

describe("a new key", () => {
  it("signs what comes, and what former keys signed stays valid", async (context) => {
    const { desk, submit, stateOf, open } = await openApproved(context);
    const first = (await desk.show({ name: NAME })).approval?.key;
    const { from, to } = await desk.rotateKey(BOB);
    assert.deepEqual([from, await stateOf(1)], [first, "approved"]);
    await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
    await desk.approve({ name: NAME }, BOB);
    assert.deepEqual([(await desk.show({ name: NAME })).approval?.key, await stateOf(2)], [to, "approved"]);
    const third = await desk.rotateKey(BOB);
    assert.equal(third.from, to);
    assert.equal(await stateOf(2), "approved");
    assert.match((await open()).source, /shop\.list/);
  });
  it("ends a former one: what that signs afterwards is frozen", async (context) => {
    const { desk, store, stateOf, folder } = await openApproved(context);
    const leaked = await openSkills(context, {
      store: { ...store, meta: { ...store.meta, get: async () => undefined } },
      folder,
    });
    await desk.rotateKey(BOB);
    await leaked.submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
    await leaked.desk.approve({ name: NAME }, BOB);
    assert.match((await stateOf(2)) ?? "", /signed by the former key .* after that was replaced/);
  });
  it("is made by an operator only, and a list of keys that was changed approves nothing", async (context) => {
    const { desk, store } = await openApproved(context);
    await assert.rejects(desk.rotateKey(AGENT), DENIED);
    await assert.rejects(desk.rotateKey(ADA), DENIED);
    await desk.rotateKey(BOB);
    const text = known(await store.meta.get("skills.keys"));
    await store.meta.set("skills.keys", text.replace(/"until":\d+/, '"until":8'));
    await assert.rejects(desk.list(), { code: "STORE_UNAVAILABLE" });
    await store.meta.set("skills.keys", text);
    assert.equal((await desk.list())[0]?.frozen, undefined);
  });
});

describe("an exported skill", () => {
  it("is verified without a store: every file, the lock and the key", async (context) => {
    const { desk } = await openApproved(context);
    const { files } = await desk.exportFiles({ name: NAME });
    const { key, reviewer, version, selfReviewed } = await verifyFolder(files);
    assert.deepEqual([reviewer, version, selfReviewed], [BOB.id, 1, false]);
    assert.equal((await verifyFolder(files, key)).key, key);
    const lock = textOf(files, LOCK_FILE);
    const changed: Readonly<Record<string, readonly [SkillFiles, RegExp]>> = {
      "a byte": [change(files, "skill.ts", `${SKILL_TS} `), /^skill\.ts differs/],
      "a missing file": [change(files, "SKILL.md", undefined), /^SKILL\.md differs/],
      "another file": [change(files, "tests/x.json", "{}"), /^tests\/x\.json differs/],
      "the reviewer": [change(files, LOCK_FILE, lock.replace("person:bob", "person:eve")), /lock\.json was changed/],
      "the grants": [change(files, LOCK_FILE, lock.replace('"read"', '"destroy"')), /lock\.json was changed/],
      "the version": [change(files, LOCK_FILE, lock.replace('"version": 1', '"version": 2')), /lock\.json was changed/],
      "the time": [change(files, LOCK_FILE, lock.replace('"at": 7', '"at": 8')), /lock\.json was changed/],
    };
    for (const [what, [other, message]] of Object.entries(changed))
      await assert.rejects(verifyFolder(other), { ...FROZEN, message }, what);
    const other = await openApproved(context, { seed: 2 });
    const otherKey = (await verifyFolder((await other.desk.exportFiles({ name: NAME })).files)).key;
    await assert.rejects(verifyFolder(files, otherKey), { ...FROZEN, message: /another key/ });
    await assert.rejects(verifyFolder(files, "ed25519:x"), { code: "REQUEST_INVALID" });
    await assert.rejects(verifyFolder(change(files, LOCK_FILE, undefined)), { code: "REQUEST_INVALID" });
  });
  it("waits for review in another gateway, which shows who signed it and trusts no signature", async (context) => {
    const { desk } = await openApproved(context);
    const { files } = await desk.exportFiles({ name: NAME });
    const other = await openSkills(context, { seed: 2 });
    await other.skills.submit(files, ADA);
    const review = await other.desk.show({ name: NAME });
    const { key } = await verifyFolder(files);
    assert.deepEqual([review.state, review.approval], ["pending_review", undefined]);
    assert.deepEqual(Object(review.origin["signed"]).key, key);
    const forged = change(files, LOCK_FILE, textOf(files, LOCK_FILE).replace("person:bob", "person:eve"));
    await other.desk.reject({ name: NAME }, "no", BOB);
    await other.skills.submit(forged, ADA);
    assert.equal((await other.desk.show({ name: NAME })).origin["signed"], "skill.lock.json was changed");
  });
});

describe("a frozen skill", () => {
  it("names the version that was approved before, in the answer and in the list", async (context) => {
    const { desk, submit, world, takeSnapshot, skills } = await openApproved(context);
    await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
    await desk.approve({ name: NAME }, BOB);
    world.snapshot = shopSnapshot([shopTool("list", "other")]);
    const [refusal] = [...((await takeSnapshot()).refused?.values() ?? [])];
    assert.match(refusal?.hint ?? "", /glovebox skills rollback weekly-report --to 1/);
    assert.deepEqual(
      (await skills.list()).map(({ version, nearest }) => [version, nearest]),
      [
        [2, 1],
        [1, undefined],
      ],
    );
  });
  it("is reported once for each reason", async (context) => {
    const { world, takeSnapshot, actions } = await openApproved(context);
    const same = world.snapshot;
    const frozen = async () => (await actions()).filter((action) => action === "skill.frozen").length;
    await takeSnapshot();
    assert.equal(await frozen(), 0);
    for (const definition of ["other", "third"]) {
      world.snapshot = shopSnapshot([shopTool("list", definition)]);
      await takeSnapshot();
      await takeSnapshot();
    }
    while ((await frozen()) < 1) await setImmediate();
    world.snapshot = same;
    await takeSnapshot();
    world.snapshot = shopSnapshot([shopTool("remove")]);
    await takeSnapshot();
    while ((await frozen()) < 2) await setImmediate();
    assert.equal(await frozen(), 2);
  });
  it("is one whose tests fail when they are verified, until they pass and it is thawed", async (context) => {
    const now: { runs: readonly TestRun[] } = { runs: [] };
    const { desk, skills, stateOf, open, actions } = await openApproved(context, { runTests: async () => now.runs });
    now.runs = [{ file: "tests/a.json", engine: "isolate", problem: "it returns 2 instead of 1" }];
    assert.equal(await stateOf(1), "approved");
    assert.match((await desk.verify())[0]?.frozen ?? "", /tests\/a\.json fails: it returns 2/);
    assert.match((await stateOf(1)) ?? "", /tests\/a\.json fails/);
    await assert.rejects(open(), TypeError);
    await assert.rejects(skills.thaw(NAME, BOB), { code: "REQUEST_INVALID" });
    now.runs = [];
    await skills.thaw(NAME, BOB);
    assert.match((await open()).source, /shop\.list/);
    assert.deepEqual((await actions()).slice(2, 3), ["skill.frozen"]);
  });
});

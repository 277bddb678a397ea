/** Every way around the approval of a skill that is known, each beside the allowed way that is like it. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";

import { parseDigest } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import {
  ADA,
  AGENT,
  BOB,
  GUEST,
  NAME,
  SKILL_MD,
  SKILL_TS,
  known,
  openApprovedSkill,
  openSkills,
  shopSnapshot,
  shopTool,
} from "./fixtures/open-skills.ts";

const FROZEN = { code: "SKILL_FROZEN" };
const DENIED = { code: "POLICY_DENIED" };
const CONFLICT = { code: "REQUEST_CONFLICT" };

async function openApproved(context: TestContext, options: Parameters<typeof openSkills>[1] = {}) {
  const world = await openApprovedSkill(context, options);
  const file = (path: string): string => join(world.folder, NAME, path);
  const frozen = async (): Promise<string | undefined> => (await world.desk.list())[0]?.frozen;
  return { ...world, file, frozen };
}

describe("who approves", () => {
  it("is another person than the author, with the role reviewer or operator", async (context) => {
    const { desk, submit } = await openSkills(context);
    await submit();
    await assert.rejects(desk.approve({ name: NAME }, ADA), DENIED);
    await assert.rejects(desk.approve({ name: NAME }, GUEST), DENIED);
    assert.equal((await desk.approve({ name: NAME }, BOB)).state, "approved");
    assert.equal((await desk.show({ name: NAME })).approval?.selfReviewed, false);
  });
  it("is never an agent, whatever its roles are, and an agent submits nothing to this desk", async (context) => {
    const { desk, submit } = await openSkills(context);
    await assert.rejects(submit({}, AGENT), DENIED);
    await submit();
    for (const attempt of [
      desk.approve({ name: NAME }, AGENT),
      desk.reject({ name: NAME }, "no", AGENT),
      desk.revoke({ name: NAME }, AGENT),
      desk.rollback({ name: NAME }, AGENT),
      desk.restore({ name: NAME }, AGENT),
    ])
      await assert.rejects(attempt, DENIED);
    assert.equal((await desk.reject({ name: NAME }, "no", BOB)).state, "rejected");
  });
  it("may be the author in local mode, and the signature says so", async (context) => {
    const { desk, submit } = await openSkills(context, { auth: "local" });
    await submit({}, BOB);
    assert.equal((await desk.approve({ name: NAME }, BOB)).state, "approved");
    assert.equal((await desk.show({ name: NAME })).approval?.selfReviewed, true);
  });
});

describe("a decision", () => {
  it("is about the version that the reviewer saw: a second one that waits makes the choice necessary", async (context) => {
    const { desk, submit } = await openSkills(context);
    const { digest } = await submit();
    await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
    await assert.rejects(desk.approve({ name: NAME }, BOB), CONFLICT);
    await assert.rejects(desk.approve({ name: NAME, version: 2, digest }, BOB), { code: "REQUEST_NOT_FOUND" });
    assert.deepEqual([(await desk.approve({ name: NAME, digest }, BOB)).version], [1]);
  });
  it("has an effect once: the approval of an approved, rejected or revoked version is refused", async (context) => {
    const { desk, submit } = await openSkills(context);
    await submit();
    const choice = { name: NAME, version: 1 };
    await desk.reject(choice, "no", BOB);
    await assert.rejects(desk.approve(choice, BOB), { code: "REQUEST_NOT_FOUND" });
    await submit();
    await desk.approve({ name: NAME }, BOB);
    await desk.revoke({ name: NAME }, BOB);
    await assert.rejects(desk.approve({ name: NAME, version: 2 }, BOB), { code: "REQUEST_NOT_FOUND" });
  });
  it("of one of two reviewers at the same time is the one that counts", async (context) => {
    const { desk, submit, actions } = await openSkills(context);
    await submit();
    const both = await Promise.allSettled([
      desk.approve({ name: NAME }, BOB),
      desk.reject({ name: NAME }, "no", { ...BOB, id: ADA.id }),
    ]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
    assert.equal((await actions()).filter((action) => action === "skill.unchanged").length, 1);
  });
  it("is refused if the bytes that wait were changed in the store since the review", async (context) => {
    const { desk, store, folder, submit } = await openSkills(context);
    await submit();
    const rows = await store.skills.list();
    const changed = rows.map((row) => ({ ...row, files: row.files.replace(digestOf(SKILL_TS), digestOf(SKILL_MD)) }));
    const versions = async () => changed;
    const other = await openSkills(context, { folder, store: { ...store, skills: { ...store.skills, versions } } });
    await assert.rejects(other.desk.approve({ name: NAME }, BOB), FROZEN);
    assert.equal((await desk.approve({ name: NAME }, BOB)).state, "approved");
  });
  it("is in the ledger, with everything that came before", async (context) => {
    const { desk, actions, submit } = await openApproved(context);
    await desk.revoke({ name: NAME }, BOB);
    await desk.rollback({ name: NAME }, ADA);
    await submit();
    assert.deepEqual(await actions(), ["skill.submitted", "skill.approved", "skill.revoked", "skill.submitted"]);
  });
});

describe("what needs a new review", () => {
  const CHANGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    code: { "skill.ts": SKILL_TS.replace(".length", ".length + 1") },
    description: { "SKILL.md": SKILL_MD.replace("low", "high") },
    schema: { "skill.ts": SKILL_TS.replace('"number"', '"integer"') },
    grants: {
      "skill.ts": SKILL_TS.replace('["shop.list"]', '["shop.list", "shop.remove"]').replace(
        "(await",
        "(await shop.remove({}), await",
      ),
    },
    tests: { "tests/one.json": JSON.stringify({ input: {}, output: 0 }) },
  };
  for (const [what, change] of Object.entries(CHANGES))
    it(`is a changed ${what}: the approved version runs until the new one is approved`, async (context) => {
      const { desk, submit, open } = await openApproved(context);
      const before = (await open()).source;
      assert.deepEqual([(await submit(change)).state], ["pending_review"]);
      assert.equal((await open()).source, before);
      await desk.approve({ name: NAME }, BOB);
      assert.deepEqual(
        (await desk.list()).map(({ version, state }) => [version, state]),
        [
          [2, "approved"],
          [1, "retired"],
        ],
      );
    });
  it("is removed tests, and what was approved before: a rollback waits for review like any version", async (context) => {
    const { desk, submit, open } = await openSkills(context);
    await submit({ "tests/one.json": JSON.stringify({ input: {}, output: 0 }) });
    await desk.approve({ name: NAME }, BOB);
    assert.equal((await submit()).state, "pending_review");
    await desk.approve({ name: NAME, version: 2 }, BOB);
    const back = await desk.rollback({ name: NAME }, ADA);
    assert.deepEqual([back.version, back.state], [3, "pending_review"]);
    await desk.revoke({ name: NAME }, BOB);
    await assert.rejects(open(), TypeError);
    await desk.approve({ name: NAME, version: 3 }, BOB);
    assert.match((await open()).source, /shop\.list/);
  });
});

describe("an approved skill is frozen", () => {
  it("by a changed byte, a missing file, a new file and an edited lock, and names the file", async (context) => {
    const { desk, file, frozen, open } = await openApproved(context);
    const attempts: Readonly<Record<string, () => void>> = {
      "skill.ts": () => writeFileSync(file("skill.ts"), SKILL_TS.replace("length", "Length")),
      "SKILL.md": () => rmSync(file("SKILL.md")),
      "tests/dropped.json": () => (mkdirSync(file("tests")), writeFileSync(file("tests/dropped.json"), "{}")),
      "skill.lock.json": () =>
        writeFileSync(file("skill.lock.json"), readFileSync(file("skill.lock.json"), "utf8").replace("bob", "eve")),
    };
    for (const [path, attempt] of Object.entries(attempts)) {
      const snapshot = (await open()).source;
      attempt();
      assert.match((await frozen()) ?? "", new RegExp(`^${path.replaceAll(".", "\\.")} differs`));
      await desk.restore({ name: NAME }, BOB);
      assert.deepEqual([await frozen(), (await open()).source], [undefined, snapshot]);
    }
  });
  it("by a link in its folder, also if it leads to the same bytes", async (context) => {
    const { file, folder, frozen } = await openApproved(context);
    writeFileSync(join(folder, "same.ts"), SKILL_TS);
    rmSync(file("skill.ts"));
    symlinkSync(join(folder, "same.ts"), file("skill.ts"));
    assert.match((await frozen()) ?? "", /skill\.ts is not a plain file/);
    rmSync(file("skill.ts"));
    writeFileSync(file("skill.ts"), SKILL_TS);
    assert.equal(await frozen(), undefined);
  });
  it("between the snapshot of a program and its call", async (context) => {
    const { file, offers, takeSnapshot } = await openApproved(context);
    const snapshot = await takeSnapshot();
    const [tool] = [...snapshot.tools.values()].filter(({ origin }) => origin.kind === "skill");
    assert.match((await offers.open(known(tool), snapshot)).source, /shop\.list/);
    writeFileSync(file("skill.ts"), `${SKILL_TS}\n`);
    await assert.rejects(offers.open(known(tool), snapshot), FROZEN);
  });
  it("by changed bytes, digests, grants, states or authors in the store", async (context) => {
    const { store, folder } = await openApproved(context);
    const rows = await store.skills.list();
    const { files } = known(rows[0]);
    const changes = {
      note: "not signed",
      grants: JSON.stringify([]),
      author: BOB.id,
      files: files.replace(digestOf(SKILL_TS), digestOf("other")),
      digest: known(parseDigest(`sha256:${"0".repeat(64)}`)),
    };
    for (const [column, value] of Object.entries(changes)) {
      const list = async () => rows.map((row) => ({ ...row, [column]: value }));
      const { desk } = await openSkills(context, { folder, store: { ...store, skills: { ...store.skills, list } } });
      const problem = (await desk.list())[0]?.frozen;
      assert.match(problem ?? "none", column === "note" ? /^none$/ : /its record was changed/, column);
    }
  });
  it("by the signature of another gateway", async (context) => {
    const { store, folder, desk } = await openApproved(context);
    const other = await openSkills(context, { store, folder, seed: 2 });
    assert.match((await other.desk.list())[0]?.frozen ?? "", /key ed25519:.* of another gateway/);
    assert.equal((await desk.list())[0]?.frozen, undefined);
  });
  it("by a tool that changed, is gone, is withheld or belongs to another server now, until it is thawed", async (context) => {
    const { desk, world, takeSnapshot, skills, open } = await openApproved(context);
    const [same, withheld] = [
      world.snapshot,
      new Map([...world.snapshot.tools.keys()].map((address) => [address, {} as never])),
    ];
    const changed = shopSnapshot([shopTool("list", "other")]);
    const refused = [
      { snapshot: changed, why: /its definition changed/ },
      { snapshot: shopSnapshot([shopTool("remove")]), why: /no longer offers it/ },
      { snapshot: { ...same, tools: new Map(), withheld }, why: /is withheld/ },
      { snapshot: shopSnapshot([shopTool("list", "list", "read", "evil")]), why: /its definition changed/ },
      { snapshot: { ...same, tools: new Map(), namespaces: [] }, why: /its server is not configured/ },
    ];
    for (const { snapshot, why } of refused) {
      world.snapshot = { ...snapshot, digest: digestOf(String(why)) };
      const [refusal] = [...((await takeSnapshot()).refused?.values() ?? [])];
      assert.deepEqual([refusal?.code, why.test(refusal?.message ?? "")], ["SKILL_FROZEN", true], String(why));
      world.snapshot = same;
      assert.match((await open()).source, /shop\.list/);
    }
    world.snapshot = changed;
    await assert.rejects(skills.thaw(NAME, ADA), DENIED);
    assert.equal((await skills.thaw(NAME, BOB)).frozen, undefined);
    assert.match((await open()).source, /shop\.list/);
    assert.equal((await desk.list())[0]?.version, 1);
  });
});

describe("a skill", () => {
  it("gets exactly the tools that were granted", async (context) => {
    const { submit, desk, open } = await openSkills(context);
    await submit({
      "skill.ts": SKILL_TS.replace('["shop.list"]', '["shop.list", "shop.remove"]').replace(
        "(await",
        "(await shop.remove({}), await",
      ),
    });
    await desk.approve({ name: NAME, without: ["shop.remove"] }, BOB);
    assert.deepEqual([...(await open()).snapshot.tools.keys()], ["shop.list"]);
  });
  it("that another one has the name of in programs is refused", async (context) => {
    const { submit } = await openSkills(context);
    await submit();
    await assert.rejects(submit({ "SKILL.md": SKILL_MD.replace(NAME, "weeklyreport") }), CONFLICT);
    assert.equal((await submit({ "SKILL.md": SKILL_MD.replace(NAME, "monthly-report") })).version, 1);
  });
  it("that was revoked is refused at the next call of a program that runs, and one that was replaced is not", async (context) => {
    const { desk, submit, offers, takeSnapshot } = await openApproved(context);
    const snapshot = await takeSnapshot();
    const tool = known([...snapshot.tools.values()].find(({ origin }) => origin.kind === "skill"));
    await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
    await desk.approve({ name: NAME }, BOB);
    assert.match((await offers.open(tool, snapshot)).source, /shop\.list/);
    await desk.revoke({ name: NAME, version: 1 }, BOB);
    await assert.rejects(offers.open(tool, snapshot), { code: "SKILL_NOT_APPROVED" });
  });
});

/**
 * Every way around an approval that is known, as a table. After each attempt the skill runs what was approved, or is
 * refused. The same change runs once a reviewer has approved it: so the attempt would have been seen.
 */

import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";

import { GloveboxError } from "../domain/index.ts";
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
  skillFiles,
} from "./fixtures/open-skills.ts";
import type { SkillRow } from "./skill.ts";

const EVIL = SKILL_TS.replace(".length", '.length + "evil".length');
const WIDE = SKILL_TS.replace('["shop.list"]', '["shop.list", "shop.remove"]').replace(
  "(await",
  '(await shop.remove({}), "evil", await',
);

type World = Awaited<ReturnType<typeof openWorld>>;
type Change = Readonly<Record<string, string | undefined>>;

/** Ada wrote the approved version; Bob approved it. */
async function openWorld(context: TestContext, options: Parameters<typeof openSkills>[1] = {}) {
  const world = await openApprovedSkill(context, options);
  const folder = join(world.folder, NAME);
  /** The same gateway after rows of its store were edited. */
  const edited = async (edit: (row: SkillRow, rows: readonly SkillRow[]) => Partial<SkillRow>) => {
    const change = async (rows: Promise<readonly SkillRow[]>) => {
      const all = await rows;
      return all.map((row) => ({ ...row, ...edit(row, all) }));
    };
    const { skills } = world.store;
    const list = () => change(skills.list());
    const versions = (name: string) => change(skills.versions(name));
    return openSkills(context, {
      ...options,
      ignoresFolder: true,
      store: { ...world.store, skills: { ...skills, list, versions } },
    });
  };
  return { ...world, edited, file: (path: string) => join(folder, path), context };
}

/** What a program would run; the code of the refusal if none. */
async function runs({ takeSnapshot, offers }: Pick<World, "takeSnapshot" | "offers">, address = "skills.weeklyReport") {
  const snapshot = await takeSnapshot();
  const tool = [...snapshot.tools.values()].find((one) => one.address === address);
  if (!tool) return [...(snapshot.refused?.values() ?? [])][0]?.code ?? "missing";
  try {
    const opened = await offers.open(tool, snapshot);
    return { source: opened.source, tools: [...opened.snapshot.tools.keys()] };
  } catch (thrown) {
    return thrown instanceof GloveboxError ? thrown.code : assert.fail(String(thrown));
  }
}

interface Attack {
  /** Returns the world in which programs run afterwards, by default the same. */
  readonly attempt: (world: World) => Promise<Pick<World, "takeSnapshot" | "offers"> | void>;
  /** What runs afterwards: by default what was approved. */
  readonly ends?: "SKILL_FROZEN" | "SKILL_NOT_APPROVED";
  /** The change that a reviewer approves for control; by default the evil code. */
  readonly change?: Change;
  readonly auth?: "local" | "required";
}

const refused = (code: string) => ({ code });
const submitEvil = (world: World, change: Change = { "skill.ts": EVIL }) => world.submit(change);
const onlyRow = (version: number, change: Partial<SkillRow>) => (row: SkillRow) =>
  row.version === version ? change : {};

const ATTACKS: Readonly<Record<string, Attack>> = {
  "a file is edited after the approval": {
    attempt: async ({ file }) => writeFileSync(file("skill.ts"), EVIL),
    ends: "SKILL_FROZEN",
  },
  "the folder of another skill is renamed to it": {
    attempt: async ({ folder, submit, desk }) => {
      await submit({ "SKILL.md": SKILL_MD.replace(NAME, "evil"), "skill.ts": EVIL });
      await desk.approve({ name: "evil" }, BOB);
      rmSync(join(folder, NAME), { recursive: true });
      renameSync(join(folder, "evil"), join(folder, NAME));
    },
    ends: "SKILL_FROZEN",
  },
  "a file becomes a link to other code": {
    attempt: async ({ folder, file }) => {
      writeFileSync(join(folder, "evil.ts"), EVIL);
      rmSync(file("skill.ts"));
      symlinkSync(join(folder, "evil.ts"), file("skill.ts"));
    },
    ends: "SKILL_FROZEN",
  },
  "the folder becomes a link": {
    attempt: async ({ folder }) => {
      renameSync(join(folder, NAME), join(folder, "moved"));
      symlinkSync(join(folder, "moved"), join(folder, NAME));
    },
    ends: "SKILL_FROZEN",
  },
  "a file is dropped beside the others": {
    attempt: async ({ file }) => (mkdirSync(file("tests")), writeFileSync(file("tests/evil.json"), "{}")),
    ends: "SKILL_FROZEN",
  },
  "the lock file is edited": {
    attempt: async ({ file }) => writeFileSync(file("skill.lock.json"), "{}"),
    ends: "SKILL_FROZEN",
  },
  "tests are removed from the folder": {
    attempt: async ({ submit, desk, file }) => {
      await submit({ "tests/one.json": JSON.stringify({ input: {}, output: 0 }) });
      await desk.approve({ name: NAME }, BOB);
      rmSync(file("tests"), { recursive: true });
    },
    ends: "SKILL_FROZEN",
  },
  "a name looks the same in another script": {
    attempt: async ({ submit }) =>
      assert.rejects(
        submit({ "SKILL.md": SKILL_MD.replace("weekly", "wееkly"), "skill.ts": EVIL }),
        refused("REQUEST_INVALID"),
      ),
  },
  "a name is the same in programs": {
    attempt: async ({ submit }) =>
      assert.rejects(
        submit({ "SKILL.md": SKILL_MD.replace(NAME, "weeklyreport"), "skill.ts": EVIL }),
        refused("REQUEST_CONFLICT"),
      ),
  },
  "a name is a property of every object": {
    attempt: async ({ submit }) => {
      for (const name of ["constructor", "then", "to-string"])
        await assert.rejects(
          submit({ "SKILL.md": SKILL_MD.replace(NAME, name), "skill.ts": EVIL }),
          refused("REQUEST_INVALID"),
        );
    },
  },
  "a path leaves the folder": {
    attempt: async ({ skills }) => {
      for (const path of ["../evil.ts", "/evil.ts", "tests/../../evil.json", "SKILL.MD", "skill.ts/"]) {
        const files = new Map([...skillFiles(), [path, Buffer.from(EVIL)]] as const);
        await assert.rejects(skills.submit(files, ADA), refused("REQUEST_INVALID"));
      }
    },
  },
  "code hides behind characters that cannot be seen": {
    attempt: async ({ submit }) =>
      assert.rejects(submit({ "skill.ts": `/* \u202e */${EVIL}` }), refused("REQUEST_INVALID")),
  },
  "only the description is changed": {
    attempt: async (world) => void (await submitEvil(world, { "SKILL.md": SKILL_MD.replace("low", "evil") })),
    change: { "SKILL.md": SKILL_MD.replace("low", "evil"), "skill.ts": EVIL },
  },
  "only the schema is changed": {
    attempt: async (world) => void (await submitEvil(world, { "skill.ts": SKILL_TS.replace('"number"', '"integer"') })),
  },
  "more tools are asked for": {
    attempt: async (world) => void (await submitEvil(world, { "skill.ts": WIDE })),
    change: { "skill.ts": WIDE },
  },
  "the same files come under another name in the store": {
    attempt: ({ edited }) => edited(onlyRow(1, { name: "evil" })),
    ends: "SKILL_FROZEN",
  },
  "another address is written in the store": {
    attempt: ({ edited }) => edited(onlyRow(1, { address: known(shopTool("list").address) })),
    ends: "SKILL_FROZEN",
  },
  "the digests of files are changed in the store": {
    attempt: async (world) => {
      await submitEvil(world);
      return world.edited((row, rows) => (row.version === 1 ? { files: known(rows[1]).files } : {}));
    },
    ends: "SKILL_FROZEN",
  },
  "the digests and the digest of the version are changed in the store": {
    attempt: async (world) => {
      await submitEvil(world);
      return world.edited((row, rows) => {
        const { files, digest } = known(rows[1]);
        return row.version === 1 ? { files, digest } : {};
      });
    },
    ends: "SKILL_FROZEN",
  },
  "the bytes of a file are replaced in the store": {
    attempt: async ({ store, context, folder }) => {
      const file = async () => new Uint8Array(Buffer.from(EVIL));
      return openSkills(context, {
        folder,
        ignoresFolder: true,
        store: { ...store, skills: { ...store.skills, file } },
      });
    },
    ends: "SKILL_FROZEN",
  },
  "grants are widened in the store": {
    attempt: async (world) => {
      await submitEvil(world, { "skill.ts": WIDE });
      return world.edited((row, rows) => (row.version === 1 ? { grants: known(rows[1]).grants } : {}));
    },
    ends: "SKILL_FROZEN",
    change: { "skill.ts": WIDE },
  },
  "an approval is copied to another version": {
    attempt: async (world) => {
      await submitEvil(world);
      return world.edited((row, rows) =>
        row.version === 2 ? { state: "approved", signature: known(rows[0]).signature } : { state: "retired" },
      );
    },
    ends: "SKILL_FROZEN",
  },
  "a version that waits is marked as approved": {
    attempt: async (world) => {
      await submitEvil(world);
      return world.edited((row) => (row.version === 2 ? { state: "approved" } : { state: "retired" }));
    },
    ends: "SKILL_FROZEN",
  },
  "another key signs it": {
    attempt: async ({ context, store, folder }) => openSkills(context, { store, folder, seed: 2 }),
    ends: "SKILL_FROZEN",
  },
  "the time, the reviewer or the author of the approval is changed": {
    attempt: async (world) => {
      const { signature } = known((await world.store.skills.list())[0]);
      for (const change of [
        { signature: known(signature ?? undefined).replace('"at":7', '"at":9') },
        { signature: known(signature ?? undefined).replace(BOB.id, ADA.id) },
        { author: BOB.id },
      ])
        assert.equal(await runs(await world.edited(onlyRow(1, change))), "SKILL_FROZEN");
      return world;
    },
  },
  "an earlier approved version is brought back": {
    attempt: async (world) => {
      await world.submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
      await world.desk.approve({ name: NAME }, BOB);
      return world.edited((row) => ({ state: row.version === 1 ? "approved" : "retired" }));
    },
    ends: "SKILL_FROZEN",
  },
  "a revoked version is marked as approved again": {
    attempt: async (world) => {
      await world.desk.revoke({ name: NAME }, BOB);
      return world.edited(onlyRow(1, { state: "approved" }));
    },
    ends: "SKILL_FROZEN",
  },
  "a rollback is taken for an approval": {
    attempt: async ({ submit, desk }) => {
      await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
      await desk.approve({ name: NAME }, BOB);
      await desk.revoke({ name: NAME }, BOB);
      assert.equal((await desk.rollback({ name: NAME, version: 1 }, ADA)).state, "pending_review");
    },
    ends: "SKILL_NOT_APPROVED",
  },
  "an agent approves with the right version and digest": {
    attempt: async ({ submit, desk }) => {
      const { version, digest } = await submit({ "skill.ts": EVIL });
      await assert.rejects(desk.approve({ name: NAME, version, digest }, AGENT), refused("POLICY_DENIED"));
    },
  },
  "a person without the role approves": {
    attempt: async ({ submit, desk }) => {
      await submit({ "skill.ts": EVIL });
      await assert.rejects(desk.approve({ name: NAME }, GUEST), refused("POLICY_DENIED"));
    },
  },
  "the author approves": {
    attempt: async ({ submit, desk }) => {
      await submit({ "skill.ts": EVIL });
      await assert.rejects(desk.approve({ name: NAME }, ADA), refused("POLICY_DENIED"));
    },
  },
  "another version is submitted while a reviewer reads": {
    attempt: async ({ submit, desk }) => {
      const seen = await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
      await submit({ "skill.ts": EVIL });
      await assert.rejects(desk.approve({ name: NAME }, BOB), refused("REQUEST_CONFLICT"));
      await desk.approve({ name: NAME, digest: seen.digest }, BOB);
    },
  },
  "an approval is made again for a version that was rejected": {
    attempt: async ({ submit, desk }) => {
      const { version } = await submit({ "skill.ts": EVIL });
      await desk.reject({ name: NAME, version }, "no", BOB);
      await assert.rejects(desk.approve({ name: NAME, version }, BOB), refused("REQUEST_NOT_FOUND"));
    },
  },
  "an approved export is imported with other code": {
    attempt: async ({ desk, skills }) => {
      const { files } = await desk.exportFiles({ name: NAME });
      const { state } = await skills.submit(new Map([...files, ["skill.ts", Buffer.from(EVIL)]]), ADA);
      assert.equal(state, "pending_review");
    },
  },
  "a call names the definition of a version that waits": {
    attempt: async (world) => {
      await submitEvil(world);
      const [, waiting] = await world.store.skills.versions(NAME);
      const snapshot = await world.takeSnapshot();
      const tool = known([...snapshot.tools.values()].find(({ origin }) => origin.kind === "skill"));
      const digest = digestOf([known(waiting).digest, known(waiting).grants]);
      await assert.rejects(world.offers.open({ ...tool, digest }, snapshot), refused("SKILL_NOT_APPROVED"));
    },
  },
  "a program holds the tool of a version that is revoked meanwhile": {
    attempt: async ({ takeSnapshot, desk, offers }) => {
      const snapshot = await takeSnapshot();
      const tool = known([...snapshot.tools.values()].find(({ origin }) => origin.kind === "skill"));
      await desk.revoke({ name: NAME }, BOB);
      await assert.rejects(offers.open(tool, snapshot), refused("SKILL_NOT_APPROVED"));
    },
    ends: "SKILL_NOT_APPROVED",
  },
  "a skill that it calls is replaced": {
    attempt: async ({ submit, desk }) => {
      const inner = { "SKILL.md": SKILL_MD.replace(NAME, "inner") };
      await submit(inner);
      await desk.approve({ name: "inner" }, BOB);
      const outer = SKILL_TS.replaceAll("shop.list", "skills.inner");
      await submit({ "skill.ts": outer });
      await desk.approve({ name: NAME }, BOB);
      await submit({ ...inner, "skill.ts": EVIL });
      await desk.approve({ name: "inner", version: 2 }, BOB);
    },
    ends: "SKILL_FROZEN",
  },
  "another server takes the name of a tool": {
    attempt: async ({ world }) => void (world.snapshot = shopSnapshot([shopTool("list", "list", "read", "evil")])),
    ends: "SKILL_FROZEN",
  },
  "the list of signing keys is removed": {
    attempt: async ({ desk, store, submit }) => {
      await desk.rotateKey(BOB);
      await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
      await desk.approve({ name: NAME }, BOB);
      await store.meta.erase("skills.keys");
    },
    ends: "SKILL_FROZEN",
  },
  "two reviewers decide at once": {
    attempt: async ({ submit, desk, takeSnapshot, offers }) => {
      await submit({ "SKILL.md": SKILL_MD.replace("low", "high") });
      const both = [desk.approve({ name: NAME }, BOB), desk.reject({ name: NAME }, "no", BOB)];
      const won = (await Promise.allSettled(both)).filter(({ status }) => status === "fulfilled");
      assert.equal(won.length, 1);
      return { takeSnapshot, offers };
    },
  },
};

describe("an attempt to run what was not approved", () => {
  for (const [what, { attempt, ends, change = { "skill.ts": EVIL }, auth = "required" }] of Object.entries(ATTACKS))
    it(`fails when ${what}`, async (context) => {
      const world = await openWorld(context, { auth });
      const approved = await runs(world);
      assert.match(typeof approved === "string" ? "" : approved.source, /shop\.list/);
      const after = await runs((await attempt(world)) ?? world);
      if (ends !== undefined) assert.equal(after, ends);
      else assert.deepEqual(after, approved);
      assert.doesNotMatch(JSON.stringify(after), /evil|shop\.remove/);
      // Positive control: a person approves the change, and it runs.
      const control = await openWorld(context, { auth });
      const { version } = await control.submit(change);
      await control.desk.approve({ name: NAME, version }, BOB);
      assert.match(JSON.stringify(await runs(control)), /evil/);
    });
  it("is made in at least 25 ways", () => assert.ok(Object.keys(ATTACKS).length >= 25));
});

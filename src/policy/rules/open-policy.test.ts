/** The policy in force: a change of the rule file takes effect only if it is valid and recorded. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { LedgerEntry } from "../../ledger/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { CatalogSnapshot, PolicyRule } from "../../domain/index.ts";
import { AGENT, policyOf, decisionCase, rule, toolOf } from "./fixtures/decision-case.ts";
import { digestPolicy, openPolicy } from "./open-policy.ts";
import type { Policy } from "./open-policy.ts";

const READ = toolOf("files.read", "read");
const DENY = rule("no-reads", "deny", { effects: ["read"] });

function setUp() {
  const file = { rules: [] as readonly PolicyRule[] | Error | undefined };
  const written: LedgerEntry[] = [];
  const warned: unknown[] = [];
  const kept = new Map<string, string>();
  let isFull = false;
  const open = (rules: readonly PolicyRule[] = []) =>
    openPolicy({
      settings: policyOf({ rules }),
      file: {
        path: "/rules.json",
        read: async () => {
          const { rules: next } = file;
          file.rules = undefined;
          if (next instanceof Error) throw next;
          return next;
        },
      },
      everyMs: 60_000,
      record: async (entry) => {
        if (isFull) throw new GloveboxError("STORE_UNAVAILABLE", "The disk is full");
        written.push(entry);
      },
      meta: {
        get: async (key) => kept.get(key),
        set: async (key, value) => void kept.set(key, value),
      },
      warn: (thrown) => warned.push(thrown),
    });
  const fill = (full: boolean): void => {
    isFull = full;
  };
  return { file, open, written, warned, fill };
}

const kindNow = (policy: Policy): string => policy.decide(decisionCase(READ, [])).kind;

const toDigest = (...rules: readonly PolicyRule[]): string => digestPolicy(policyOf({ rules }));

describe("openPolicy with a rule file", () => {
  it("applies a change at the next poll and records the digests before and after", async () => {
    const { file, open, written } = setUp();
    await using policy = await open();
    let heard = 0;
    policy.onChange(() => (heard += 1));
    file.rules = [DENY];
    assert.equal(kindNow(policy), "allow");
    await policy.refresh();
    assert.equal(kindNow(policy), "deny");
    assert.equal(heard, 1);
    const detail = { before: toDigest(), after: toDigest(DENY), profile: "balanced", rules: 1 };
    assert.deepEqual(written, [{ actor: "operator", action: "policy.changed", subject: "policy", detail }]);
  });
  it("keeps the rules when the file is invalid, warns the operator and records it", async () => {
    const { file, open, written, warned } = setUp();
    file.rules = [DENY];
    await using policy = await open();
    const wrong = new GloveboxError("CONFIG_INVALID", "/rules.json:3:1 rules[0]: expected an object");
    file.rules = wrong;
    await policy.refresh();
    assert.equal(kindNow(policy), "deny");
    await policy.refresh(); // nothing new is read, so the problem remains
    assert.equal(policy.problem(), wrong);
    assert.deepEqual(warned, [wrong]);
    const detail = { message: "/rules.json:3:1 rules[0]: expected an object" };
    assert.deepEqual(written, [{ actor: "operator", action: "policy.rejected", subject: "/rules.json", detail }]);
    file.rules = [];
    await policy.refresh();
    assert.equal(kindNow(policy), "allow");
    assert.equal(policy.problem(), undefined);
  });
  it("openPolicy with a rule file does not apply a change before it is recorded", async () => {
    const { file, open, warned, fill } = setUp();
    await using policy = await open();
    file.rules = [DENY];
    fill(true);
    await policy.refresh();
    assert.deepEqual([kindNow(policy), warned.length], ["allow", 1]);
    fill(false);
    await policy.refresh();
    assert.equal(kindNow(policy), "deny");
  });
  it("rejects when the file is invalid at the start", async () => {
    const { file, open } = setUp();
    file.rules = new GloveboxError("CONFIG_INVALID", "wrong");
    await assert.rejects(open(), { code: "CONFIG_INVALID" });
  });
});

describe("openPolicy after a restart", () => {
  it("records changed rules, and nothing for the same rules", async () => {
    const { open, written } = setUp();
    await (await open())[Symbol.asyncDispose]();
    await (await open())[Symbol.asyncDispose]();
    assert.deepEqual(written, []);
    await (await open([DENY]))[Symbol.asyncDispose]();
    assert.deepEqual(
      written.map(({ action, detail }) => [action, detail]),
      [["policy.changed", { before: toDigest(), after: toDigest(DENY), profile: "balanced", rules: 1 }]],
    );
  });
});

describe("Policy.view", () => {
  const drop = toolOf("files.drop", "unknown");
  const snapshot: CatalogSnapshot = {
    digest: READ.digest,
    takenAt: 0,
    tools: new Map([READ, drop].map((tool) => [tool.address, tool])),
    namespaces: [{ name: "files", connector: READ.origin.connector, summary: "2 tools", tools: ["drop", "read"] }],
  };

  it("hides tools that are always denied and still decides them", async () => {
    const { open } = setUp();
    await using policy = await open([DENY]);
    const view = policy.view(snapshot, AGENT);
    assert.deepEqual([...view.tools.keys()], ["files.drop"]);
    assert.deepEqual([...(view.hidden?.keys() ?? [])], ["files.read"]);
    assert.deepEqual(view.namespaces, [
      {
        name: "files",
        connector: "files-server",
        summary: "2 tools; 1 of them not shown: policy denies them",
        tools: ["drop"],
      },
    ]);
    assert.notEqual(view.digest, snapshot.digest);
    assert.equal(policy.view(snapshot, AGENT), view);
  });
  it("returns the snapshot itself if nothing is denied", async () => {
    const { open } = setUp();
    await using policy = await open([{ ...DENY, principals: ["other else"] }]);
    assert.equal(policy.view(snapshot, AGENT), snapshot);
  });
  it("applies the operator's effects by the narrowest pattern", async () => {
    const { open } = setUp();
    const effectsOf = async (effects: Record<string, "read" | "destroy">) => {
      const settings = policyOf({ effects: new Map(Object.entries(effects)) });
      const base = { everyMs: 60_000, record: async () => undefined, warn: () => undefined };
      await using policy = await openPolicy({
        ...base,
        settings,
        meta: { get: async () => undefined, set: async () => undefined },
      });
      return [...policy.view(snapshot, AGENT).tools.values()].map(({ effect, effectSource }) => [effect, effectSource]);
    };
    assert.deepEqual(await effectsOf({ "*": "read", "files.*": "destroy", "files.read": "read" }), [
      ["read", "operator"],
      ["destroy", "operator"],
    ]);
    assert.deepEqual(await effectsOf({ "other.*": "destroy" }), [
      ["read", undefined],
      ["unknown", undefined],
    ]);
    await using policy = await open();
    assert.equal(policy.view(snapshot, AGENT), snapshot);
  });
});

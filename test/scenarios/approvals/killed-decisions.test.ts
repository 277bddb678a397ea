/**
 * `kill -9` while a person decides: at every commit of the command, and around the replacement of the rule file. A decision
 * is whole or absent, a rule is listed or not, and the same command works afterwards.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, utimesSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { loadSettings } from "../../../src/config/index.ts";
import type { Settings } from "../../../src/config/index.ts";
import type { Approval } from "../../../src/domain/index.ts";
import { OPERATOR } from "../../../src/identity/index.ts";
import { openOperatorRecords, readRecords } from "../../../src/open-records.ts";
import { requestApprovals, withQueue } from "../../fixtures/approval-gateway.ts";
import { LAUNCHER, cleanEnvironment, makeUntypedFolder } from "../../fixtures/product.ts";

const DYING = resolve("test/durable/kills/die-at-commit.mjs");
/** Earlier ones open the store. */
const FIRST_COMMIT = 3;
/** More than any of the commands has. */
const MOST_COMMITS = 20;
const ANSWER = { name: "Ada Quill" };
const SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const QUESTION = { mode: "form", server: "shop", message: "Who?", schema: SCHEMA } as const;

async function makePlace(context: TestContext) {
  const folder = makeUntypedFolder(context, { mcpServers: {}, store: { url: "sqlite:state/glovebox.db" } });
  return { folder, settings: await loadSettings(join(folder, "glovebox.config.json"), {}, {}) };
}

/** Runs a command that dies at a moment. Returns undefined if it ended before that moment. */
async function runUntil(dieAt: string, args: readonly string[], folder: string): Promise<string | undefined> {
  const env = cleanEnvironment(folder, { DIE_AT: dieAt });
  const child = spawn(process.execPath, ["--import", DYING, LAUNCHER, ...args], { cwd: folder, env });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  if (signal === "SIGKILL") return stdout;
  assert.equal(code, 0, stderr);
  return undefined;
}

/** Calls `kill` with every moment until the command reaches none, and returns how many there were. */
async function sweepMoments(kill: (moment: string) => Promise<boolean>): Promise<number> {
  for (let at = FIRST_COMMIT; at <= MOST_COMMITS; at += 1) if (!(await kill(`before ${at}`))) return at - FIRST_COMMIT;
  return assert.fail("The command has more commits than expected");
}

/** The records about one approval, from a ledger that verifies. */
async function readActions(settings: Settings, id: string): Promise<readonly string[]> {
  await using records = await readRecords(settings);
  const reader = records.openReader();
  assert.deepEqual((await reader.verify()).ok, true);
  const actions: string[] = [];
  for await (const { action, subject, detail } of reader.records())
    if (subject === id || (detail as { readonly approval?: unknown }).approval === id)
      actions.push(JSON.stringify(action));
  return actions;
}

/** An approval without any trace of a decision, or with all of it. Returns whether it was decided. */
function checkWhole({ state, decidedBy, decidedAt, scope }: Approval): boolean {
  const isDecided = state === "approved";
  const traces = [decidedBy, decidedAt, scope].map((value) => value !== undefined);
  assert.deepEqual([state, traces], isDecided ? ["approved", [true, true, true]] : ["pending", [false, false, false]]);
  return isDecided;
}

describe("kills while a person decides", { concurrency: 2 }, () => {
  test("a decision for good and its rule are whole or absent after a kill at any commit and any step of the file", async (context) => {
    const { folder, settings } = await makePlace(context);
    const decide = { verdict: "approve", scope: "always-arguments" } as const;
    const draft = join(folder, "state", "rules.json.new");
    let amount = 0;
    const seen = new Set<string>();
    const kill = async (moment: string): Promise<boolean> => {
      const asked = { args: [{ amount: (amount += 1) }], rule: "profile:balanced" };
      const [{ id } = assert.fail()] = await withQueue(settings, (queue) => requestApprovals(queue, asked));
      const printed = await runUntil(moment, ["approve", id, "--yes", "--scope", "always-arguments"], folder);
      if (printed === undefined) return false;
      await using records = await openOperatorRecords(settings);
      const desk = await records.openDesk();
      const isDecided = checkWhole((await desk.show(id)).approval);
      const list = async () => (await records.rules.list()).filter((rule) => JSON.stringify(rule).includes(id));
      const listed = await list();
      const actions = await readActions(settings, id);
      if (isDecided) assert.ok(actions.includes('"approval.decided"'), "a decision without a record");
      if (listed.length > 0) assert.ok(actions.includes('"policy.allowed"'), "a rule without a record");
      if (isDecided || printed.includes(id)) assert.deepEqual([listed.length, isDecided], [1, true]);
      seen.add(`${listed.length > 0 ? "rule" : "no rule"}, ${isDecided ? "decided" : "waiting"}`);
      if (existsSync(draft)) utimesSync(draft, new Date(0), new Date(0)); // instead of waiting until it is stale
      const again = desk.decide(id, decide, OPERATOR);
      if (isDecided) await assert.rejects(again, { code: "REQUEST_CONFLICT" });
      else assert.equal((await again).state, "approved");
      const [rule, ...more] = await list();
      assert.deepEqual([rule?.["when"], more], [[{ path: "$", is: asked.args[0] }], []]);
      return true;
    };
    assert.ok((await sweepMoments(kill)) > 2);
    assert.equal(await kill("before rules.json"), true);
    assert.equal(await kill("after rules.json"), true);
    assert.deepEqual(seen, new Set(["no rule, waiting", "rule, waiting", "rule, decided"]));
  });

  test("an answer to a server is whole or absent after a kill at any commit", async (context) => {
    const { folder, settings } = await makePlace(context);
    const ask = async (): Promise<Approval> =>
      withQueue(settings, async (queue) => {
        const [{ execution, tool, definition, effect, principal } = assert.fail()] = await requestApprovals(queue, {
          args: [{}],
        });
        const call = { execution, seq: 9, principal, address: tool, args: {} };
        const about = { call, tool: { digest: definition, effect }, labels: [] };
        return queue.approvals.request({ ...about, question: QUESTION });
      });
    const seen = new Set<boolean>();
    const kill = async (moment: string): Promise<boolean> => {
      const { id } = await ask();
      const printed = await runUntil(moment, ["answer", id, "--field", `name=${ANSWER.name}`], folder);
      if (printed === undefined) return false;
      await withQueue(settings, async ({ approvals }) => {
        const isDecided = checkWhole((await approvals.find(id)) ?? assert.fail());
        seen.add(isDecided);
        const accepted = { action: "accept", content: ANSWER };
        assert.deepEqual(await approvals.takeAnswer(id), isDecided ? accepted : { action: "cancel" });
        if (isDecided) assert.ok((await readActions(settings, id)).includes('"input.decided"'));
        if (printed.includes(id)) assert.ok(isDecided);
        const again = approvals.decide(id, { verdict: "approve", content: ANSWER }, OPERATOR);
        if (isDecided) await assert.rejects(again, { code: "REQUEST_CONFLICT" });
        else await again;
        assert.deepEqual(await approvals.takeAnswer(id), accepted);
      });
      return true;
    };
    assert.ok((await sweepMoments(kill)) > 2);
    assert.deepEqual(seen, new Set([false, true]));
  });
});

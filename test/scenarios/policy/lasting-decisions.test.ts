/** A decision for good at the command line: shown first, written as a rule, listed, used by gateways, and revoked. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { makeFolder, probe, runGlovebox } from "../../fixtures/product.ts";

const store = { url: "sqlite:state/glovebox.db" };
const approvals = { graceMs: 0 };

/** Runs a program that destroys something; returns its state and the approval that it waits for. */
async function destroy(folder: string, args = '{ "a": 1 }') {
  const input = `return await probe.destroy(${args})`;
  const { stdout } = await runGlovebox(["run", "--json", "-"], { folder, input });
  const { state, approvals: [approval = ""] = [] } = JSON.parse(stdout) as { state: string; approvals?: string[] };
  return { state, approval };
}

describe("decisions for good", { concurrency: 2 }, () => {
  test("approve --scope always-arguments writes a rule that is listed, used and revoked", async (context) => {
    const folder = makeFolder(context, { mcpServers: { probe: probe() }, store, approvals });
    const { state, approval } = await destroy(folder);
    assert.equal(state, "paused");
    const decided = await runGlovebox(["approve", approval, "--scope", "always-arguments"], { folder });
    assert.equal(decided.code, 0, decided.stderr);
    const path = join(folder, "state", "rules.json");
    assert.ok(decided.stderr.includes(`This rule is added to ${path}:`), decided.stderr);
    const listed = await runGlovebox(["policy", "rules", "--json"], { folder });
    const { rules, file } = JSON.parse(listed.stdout) as { rules: { id: string; when: unknown }[]; file: string };
    assert.deepEqual([rules.map(({ when }) => when), file], [[[{ path: "$", is: { a: 1 } }]], path]);
    assert.equal((await destroy(folder)).state, "completed");
    assert.equal((await destroy(folder, '{ "a": 2 }')).state, "paused");
    assert.match((await runGlovebox(["policy"], { folder })).stdout, /allow +always-[0-9a-f]{12}: probe\.destroy/);
    const revoked = await runGlovebox(["policy", "revoke", rules[0]?.id ?? ""], { folder });
    assert.deepEqual([revoked.code, (await destroy(folder)).state], [0, "paused"]);
    assert.equal((await runGlovebox(["policy", "revoke", rules[0]?.id ?? ""], { folder })).code, 1);
    const { stdout } = await runGlovebox(["audit", "--action", "policy", "--json"], { folder });
    const actions = (JSON.parse(stdout) as { records: { action: string }[] }).records.map(({ action }) => action);
    assert.deepEqual(
      actions.filter((action) => action !== "policy.changed"),
      ["policy.allowed", "policy.revoked"],
    );
  });

  test("a rule that asked is named and not loosened, and a file that cannot be written leaves the call waiting", async (context) => {
    const rules = [{ id: "house", decision: "ask", tools: ["probe.destroy"] }];
    const folder = makeFolder(context, { mcpServers: { probe: probe() }, store, approvals, policy: { rules } });
    const { approval } = await destroy(folder);
    const refused = await runGlovebox(["approve", approval, "--yes", "--scope", "always-tool"], { folder });
    assert.deepEqual([refused.code, /house asks about probe\.destroy/.test(refused.stderr)], [1, true]);
    assert.ok(!existsSync(join(folder, "state", "rules.json")));
    const other = makeFolder(context, {
      mcpServers: { probe: probe() },
      store,
      approvals,
      policy: { file: "own.json" },
    });
    writeFileSync(join(other, "own.json"), '{ "rules": [] }');
    const waiting = await destroy(other);
    mkdirSync(join(other, "own.json.new")); // no draft can be written
    const blocked = runGlovebox(["approve", waiting.approval, "--yes", "--scope", "always-tool"], { folder: other });
    const { code, stderr } = await blocked;
    assert.deepEqual([code, /own\.json cannot be written/.test(stderr)], [2, true], stderr);
    assert.match((await runGlovebox(["approvals"], { folder: other })).stdout, new RegExp(waiting.approval));
    assert.equal(readFileSync(join(other, "own.json"), "utf8"), '{ "rules": [] }');
    const { stdout } = await runGlovebox(["audit", "--action", "policy.failed", "--json"], { folder: other });
    assert.equal((JSON.parse(stdout) as { records: unknown[] }).records.length, 1);
    assert.equal((await runGlovebox(["approve", waiting.approval, "--yes"], { folder: other })).code, 0);
  });
});

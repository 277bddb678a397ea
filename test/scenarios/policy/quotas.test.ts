/**
 * Quotas from outside: exact for parallel clients, kept over `kill -9`, and not applied to the operator at the command
 * line.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { connect } from "../../fixtures/mcp-client.ts";
import { makeUntypedFolder, parseJsonLines, probe, runGlovebox, serveFor, untilEnded } from "../../fixtures/product.ts";
import { readFiles } from "../../fixtures/read-files.ts";

const LEGACY = { era: "2025-11-25", mode: "legacy" } as const;

interface Result {
  readonly error?: { readonly code: string; readonly message: string };
  readonly value?: unknown;
  readonly calls: readonly { readonly outcome: string }[];
}

async function serve(context: TestContext, folder: string) {
  const { mcp, child } = await serveFor(context, folder);
  const client = await connect(context, mcp, LEGACY);
  const run = async (code: string): Promise<Result> => {
    const answer = await client.callTool({ name: "execute", arguments: { code, detail: "full" } });
    return answer.structuredContent as Result;
  };
  return { run, child };
}

const codeOf = ({ error, value }: Result): unknown => error?.code ?? value;

test("executions of parallel clients stop exactly at the quota, also after kill -9 and a restart", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {}, quotas: { executionsPerMinute: 5 } });
  const first = await serve(context, folder);
  const codes = (await Promise.all(Array.from({ length: 3 }, () => first.run("return 1")))).map(codeOf);
  assert.deepEqual(codes, [1, 1, 1]);
  const ended = untilEnded(first.child);
  first.child.kill("SIGKILL");
  await ended;
  const second = await serve(context, folder);
  const results = await Promise.all(Array.from({ length: 6 }, () => second.run("return 1")));
  assert.deepEqual(results.map((result) => String(codeOf(result))).toSorted(), [
    "1",
    "1",
    ...Array(4).fill("LIMIT_QUOTA"),
  ]);
  const message = results.find(({ error }) => error)?.error?.message ?? "";
  assert.match(
    message,
    /quotas\.executionsPerMinute is used up: 5 of 5 executions in a minute by local, 0 left; it resets/,
  );
  const { stdout } = await runGlovebox(["audit", "export"], { folder });
  const refused = parseJsonLines(stdout).filter(({ detail }) => Object(detail).code === "LIMIT_QUOTA");
  assert.deepEqual(
    refused.map(({ action }) => action),
    Array(4).fill("execution.refused"),
  );
});

test("refused requests with large inputs do not fill the disk, and the one that was accepted is stored", async (context) => {
  const store = { url: "sqlite:./data/glovebox.db" };
  const folder = makeUntypedFolder(context, { mcpServers: {}, store, quotas: { executionsPerMinute: 1 } });
  const { mcp } = await serveFor(context, folder);
  const client = await connect(context, mcp, LEGACY);
  const INPUT_BYTES = 500_000;
  const run = async () => {
    const call = { name: "execute", arguments: { code: "return 1", input: "x".repeat(INPUT_BYTES) } };
    return codeOf((await client.callTool(call)).structuredContent as Result);
  };
  assert.equal(await run(), 1);
  for (let n = 0; n < 30; n += 1) assert.equal(await run(), "LIMIT_QUOTA");
  const files = [...readFiles(join(folder, "data"))].filter(([name]) => name.startsWith("glovebox.db"));
  const bytes = files.reduce((sum, [, { length }]) => sum + length, 0);
  assert.ok(bytes < 8 * INPUT_BYTES, `${bytes}`);
  const { stdout } = await runGlovebox(["executions", "--json"], { folder });
  assert.equal(JSON.stringify(stdout).match(/ex_[0-9a-f]{24}/g)?.length, 1);
});

test("a program can catch a call that a quota refuses, and the call is in the trace and in the ledger", async (context) => {
  const rates = [{ tools: ["probe.echo"], calls: 10 }];
  const folder = makeUntypedFolder(context, { mcpServers: { probe: probe() }, quotas: { rates } });
  const { run } = await serve(context, folder);
  const { value, calls } = await run(`
    const tries = await Promise.all(Array.from({ length: 40 }, () => probe.echo({}).then(() => "ok", (error) => error.code)));
    return [tries.filter((one) => one === "ok").length, tries.filter((one) => one === "LIMIT_QUOTA").length];
  `);
  assert.deepEqual(value, [10, 30]);
  assert.equal(calls.filter(({ outcome }) => outcome === "error").length, 30);
  const { stdout } = await runGlovebox(["audit", "export"], { folder });
  const records = parseJsonLines(stdout).filter(({ detail }) => Object(detail).code === "LIMIT_QUOTA");
  assert.deepEqual(
    records.map(({ action, subject }) => [action, subject]),
    Array.from({ length: 30 }, () => ["call.ended", "probe.echo"]),
  );
});

test("executions of an operator at the command line are not counted", async (context) => {
  const folder = makeUntypedFolder(context, {
    mcpServers: {},
    quotas: { executionsPerMinute: 2, executionMsPerHour: 1 },
  });
  const lines = Array.from({ length: 20 }, (_, id) => JSON.stringify({ id, code: "return 1" }));
  writeFileSync(join(folder, "batch.jsonl"), lines.join("\n"));
  const { code, stdout } = await runGlovebox(["run", "--batch", "batch.jsonl", "--parallel", "4"], { folder });
  assert.deepEqual([code, parseJsonLines(stdout).filter(({ state }) => state === "completed").length], [0, 20]);
});

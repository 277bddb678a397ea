/**
 * Five parallel calls, two of which need approval, with time and random values in use. The gateway is killed while they
 * wait or while it runs, another one starts elsewhere, and another process decides: the result is the same, and every
 * call is made once.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { parseSettings } from "../../../src/config/index.ts";
import { parseExecutionId } from "../../../src/domain/index.ts";
import { openJournals } from "../../../src/execution/index.ts";
import { openRecords } from "../../../src/open-records.ts";
import { findStore, makeFolder, makeUntypedFolder, runGlovebox, serveFor } from "../../fixtures/product.ts";

const CODE = `
const began = Date.now();
const dice = Math.random();
console.log(began + " " + dice);
const all = await Promise.all([
  desk.look({ n: 1 }), desk.put({ n: 2 }), desk.keep({ n: 3 }), desk.pay({ n: 4 }), desk.pay({ n: 5 }),
]);
return { began, dice, all: all.map(({ n }) => n), later: Date.now() >= began, id: crypto.randomUUID() };`;
const ONCE = ["keep 3", "look 1", "pay 4", "pay 5", "put 2"];
const PATIENCE_MS = 50_000;

interface View {
  readonly execution: string;
  readonly state: string;
  readonly value?: { readonly began: number; readonly dice: number };
  readonly logs: readonly { readonly text: string }[];
  readonly approvals?: readonly string[];
  readonly error?: { readonly code: string };
}

function makeProject(context: TestContext, graceMs: number) {
  const file = join(makeFolder(context), "calls");
  const args = [resolve("test/fixtures/servers/effects-server.mjs"), file];
  const config = {
    mcpServers: { desk: { command: process.execPath, args } },
    policy: { flows: "allow", rules: [{ decision: "ask", tools: ["desk.pay"] }] },
    approvals: { graceMs },
  };
  const folder = makeUntypedFolder(context, config);
  const calls = (): string[] => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").toSorted() : []);
  return {
    folder,
    calls,
    settings: parseSettings({ ...config, store: { url: `sqlite:${findStore(folder)}` } }, { folder }, {}),
  };
}

async function serve(context: TestContext, folder: string) {
  const { mcp, child } = await serveFor(context, folder);
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
    context.after(() => client.close().catch(() => undefined));
    return client;
  };
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "close");
  };
  return { connect, kill, child };
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<View> {
  return (await client.callTool({ name, arguments: args })).structuredContent as View;
}

/** Polls as a client does, until the execution has ended. */
async function untilEnded(client: Client, execution: string): Promise<View> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await wait(50)) {
    const view = await call(client, "resume", { execution });
    if (view.state !== "paused" && view.state !== "running") return view;
  }
  return assert.fail("The execution does not end");
}

function assertSame(view: View, log: string): void {
  const { began, dice, ...rest } = view.value ?? { began: 0, dice: 0 };
  assert.deepEqual([view.state, view.error], ["completed", undefined]);
  assert.equal(`${began} ${dice}`, log);
  assert.deepEqual(
    view.logs.map(({ text }) => text),
    [log],
  );
  const { id, ...known } = rest as { id?: string };
  assert.match(id ?? "", /^[0-9a-f]{8}-/);
  assert.deepEqual(known, { all: [7, 14, 21, 28, 35], later: true });
}

async function decide(folder: string, approvals: readonly string[]): Promise<void> {
  for (const id of approvals) {
    const { code, stderr } = await runGlovebox(["approve", id], { folder });
    assert.equal(code, 0, stderr);
  }
}

describe("an execution that waits for two approvals", { concurrency: 2 }, () => {
  for (const when of ["while no gateway runs", "after the restart"] as const) {
    test(`an execution that is suspended when its gateway is killed resumes when it is decided ${when}`, async (context) => {
      const { folder, calls } = makeProject(context, 50);
      const first = await serve(context, folder);
      const paused = await call(await first.connect(), "execute", { code: CODE });
      assert.deepEqual([paused.state, paused.approvals?.length], ["paused", 2]);
      assert.deepEqual(calls(), ["keep 3", "look 1", "put 2"]);
      await first.kill();
      if (when === "while no gateway runs") await decide(folder, paused.approvals ?? []);
      const second = await serve(context, folder);
      if (when === "after the restart") await decide(folder, paused.approvals ?? []);
      const done = await untilEnded(await second.connect(), paused.execution);
      assertSame(done, paused.logs[0]?.text ?? "");
      assert.deepEqual(calls(), ONCE);
    });
  }

  test("an execution that runs when its gateway is killed is recovered from its journal", async (context) => {
    const { folder, calls, settings } = makeProject(context, 60_000);
    const first = await serve(context, folder);
    const { execution } = await begin(await first.connect());
    await untilGiven(settings, execution, 3);
    await first.kill();
    const second = await serve(context, folder);
    await decide(folder, await listQuestions(folder));
    const done = await untilEnded(await second.connect(), execution);
    assertSame(done, done.logs[0]?.text ?? "");
    assert.deepEqual(calls(), ONCE);
  });

  test("an execution is suspended when its gateway shuts down, and resumes in the next", async (context) => {
    const { folder, calls, settings } = makeProject(context, 60_000);
    const first = await serve(context, folder);
    const { execution } = await begin(await first.connect());
    await untilGiven(settings, execution, 3);
    const questions = await listQuestions(folder);
    first.child.kill("SIGINT");
    await once(first.child, "close");
    const second = await serve(context, folder);
    const client = await second.connect();
    const paused = await call(client, "resume", { execution });
    assert.deepEqual([paused.state, paused.approvals?.toSorted()], ["paused", questions.toSorted()]);
    await decide(folder, questions);
    assertSame(await untilEnded(client, execution), paused.logs[0]?.text ?? "");
    assert.deepEqual(calls(), ONCE);
  });
});

/** Resolves as soon as the execution has an id; its end is not awaited. */
async function begin(client: Client): Promise<{ readonly execution: string }> {
  const begun = Promise.withResolvers<string>();
  const onprogress = ({ message = "" }) => begun.resolve(/ex_[0-9a-f]{24}/.exec(message)?.[0] ?? "");
  client.callTool({ name: "execute", arguments: { code: CODE } }, { onprogress }).catch(() => undefined);
  return { execution: await begun.promise };
}

/** Both approvals, once they are pending. */
async function listQuestions(folder: string): Promise<readonly string[]> {
  for (const deadline = performance.now() + PATIENCE_MS; ;) {
    const { stdout } = await runGlovebox(["approvals", "--json"], { folder });
    const found = [...new Set(stdout.match(/ap_[0-9a-f]{24}/g))];
    if (found.length === 2) return found;
    assert.ok(performance.now() < deadline, stdout);
  }
}

/** Waits until this many responses are in the journal, as another process reads it. */
async function untilGiven(settings: ReturnType<typeof parseSettings>, id: string, count: number): Promise<void> {
  await using records = await openRecords(settings);
  const { store, vault } = records;
  const options = { store: store.journals, seal: await vault.openSeal(), now: Date.now, ...settings.journal };
  const journals = openJournals(options);
  const execution = parseExecutionId(id);
  assert.ok(execution);
  for (const deadline = performance.now() + PATIENCE_MS; ; await wait(20)) {
    const recording = await journals.read(execution);
    if (recording?.deliveries.length === count) break;
    assert.ok(performance.now() < deadline, `${recording?.deliveries.length ?? 0} answers were kept`);
  }
}

/** A program may take longer than its client waits: execute reports that it runs, and resume waits for it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createGlovebox } from "glovebox";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import type { Era } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { passingStore } from "../../fixtures/passing-store.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { LAUNCHER, cleanEnvironment, makeUntypedFolder, probe, serveFor } from "../../fixtures/product.ts";

const PATIENCE_MS = 300;
const MUCH_MS = 60_000;
/** Runs until another call meets it. */
const LONG = "console.log('begun'); return await probe.meet({ ms: 100_000 })";
const MEET = "await probe.meet({ ms: 100_000 })";
const MET = ["completed", { met: true }];

interface View {
  readonly execution: string;
  readonly state: string;
  readonly value?: unknown;
}

const configure = (patienceMs: number): object => ({
  mcpServers: { probe: probe() },
  clients: { patienceMs },
  sandbox: { limits: { wallMs: 120_000, callMs: 120_000 } },
});

async function openStdio(context: TestContext, folder: string, { mode }: Era): Promise<Client> {
  const env = cleanEnvironment(folder);
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const args = [LAUNCHER, "mcp"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folder, env }));
  context.after(() => client.close());
  return client;
}

function viewOf({ structuredContent }: CallToolResult): View {
  return structuredContent as View;
}

const run = (client: Client, code: string): Promise<CallToolResult> =>
  client.callTool({ name: "execute", arguments: { code } });

/** Polls as often as needed, as a model would. */
async function resume(client: Client, execution: string): Promise<View> {
  for (;;) {
    const view = viewOf(await client.callTool({ name: "resume", arguments: { execution } }));
    if (view.state !== "running") return view;
  }
}

/** The responses to a client for a program that takes longer than its patience; then its result. */
async function outlast(client: Client): Promise<void> {
  const answer = await run(client, LONG);
  const { execution, state, value } = viewOf(answer);
  assert.deepEqual([state, value, answer.isError], ["running", undefined, false]);
  const [block] = answer.content;
  const said = `The execution ${execution} is running; wait for it with resume({ execution: "${execution}" }).`;
  assert.ok(block?.type === "text" && block.text.endsWith(said));
  const [ended] = await Promise.all([resume(client, execution), run(client, MEET)]);
  assert.deepEqual([ended.state, ended.value], MET);
}

async function waitOut(client: Client): Promise<void> {
  const answer = run(client, LONG);
  await wait(2 * PATIENCE_MS);
  await run(client, MEET);
  const { state, value } = viewOf(await answer);
  assert.deepEqual([state, value], MET);
}

async function cancelBeforeAnswer(client: Client): Promise<void> {
  const begun = Promise.withResolvers<string>();
  const cancel = new AbortController();
  const onprogress = ({ message = "" }): void => begun.resolve(/ex_[0-9a-f]{24}/.exec(message)?.[0] ?? "");
  const params = { name: "execute", arguments: { code: "await probe.hang({})" } };
  const asked = client.callTool(params, { signal: cancel.signal, onprogress });
  asked.catch(() => undefined);
  const execution = await begun.promise;
  cancel.abort();
  await assert.rejects(asked);
  assert.equal((await resume(client, execution)).state, "cancelled");
}

describe("an execution that takes longer than its client waits", { concurrency: 2 }, () => {
  test("long executions over HTTP with little patience", async (context) => {
    const { mcp } = await serveFor(context, makeUntypedFolder(context, configure(PATIENCE_MS)));
    for (const era of ERAS) {
      await context.test(
        `a long execution is reported as running in ${era.era}, and resume returns its result`,
        async (inner) => outlast(await connect(inner, mcp, era)),
      );
      await context.test(
        `a long execution continues in ${era.era} when its client leaves after the response`,
        async (inner) => {
          const leaving = await connect(inner, mcp, era);
          const { execution, state } = viewOf(await run(leaving, LONG));
          assert.equal(state, "running");
          await leaving.close();
          const client = await connect(inner, mcp, era);
          const [ended] = await Promise.all([resume(client, execution), run(client, MEET)]);
          assert.deepEqual([ended.state, ended.value], MET);
        },
      );
    }
  });

  test("long executions over HTTP with much patience", async (context) => {
    const { mcp } = await serveFor(context, makeUntypedFolder(context, configure(MUCH_MS)));
    for (const era of ERAS) {
      await context.test(`a long execution returns its result in ${era.era} to a patient client`, async (inner) =>
        waitOut(await connect(inner, mcp, era)),
      );
      await context.test(
        `a long execution ends in ${era.era} when its client cancels before the response`,
        async (inner) => cancelBeforeAnswer(await connect(inner, mcp, era)),
      );
    }
  });

  for (const era of ERAS) {
    test(`a long execution is reported as running over stdio in ${era.era}, and resume returns its result`, async (context) =>
      outlast(await openStdio(context, makeUntypedFolder(context, configure(PATIENCE_MS)), era)));

    test(`a long execution returns its result over stdio in ${era.era} from a gateway that waits longer`, async (context) => {
      const client = await openStdio(context, makeUntypedFolder(context, configure(MUCH_MS)), era);
      await waitOut(client);
      await cancelBeforeAnswer(client);
    });
  }
});

test("requests with one idempotency key are reported as one running execution", async (context) => {
  const folder = makeUntypedFolder(context, configure(PATIENCE_MS));
  const client = await connect(context, (await serveFor(context, folder)).mcp, ERAS[1]);
  const keyed = { name: "execute", arguments: { code: LONG, idempotencyKey: "once" } };
  const [first, second] = await Promise.all([client.callTool(keyed), client.callTool(keyed)]);
  const { execution } = viewOf(first);
  assert.deepEqual([viewOf(first).state, viewOf(second).state], ["running", "running"]);
  assert.equal(viewOf(second).execution, execution);
  const [ended] = await Promise.all([resume(client, execution), run(client, MEET)]);
  assert.deepEqual(viewOf(await client.callTool(keyed)), ended);
});

test("the library waits for the end unless its caller has less patience", async () => {
  const mcpServers = { probe: { command: process.execPath, args: [...probe().args] } };
  await using glovebox = await createGlovebox({ mcpServers, store: passingStore() });
  const [waited, patient] = await Promise.all([glovebox.execute({ code: LONG }), glovebox.begin({ code: MEET })]);
  assert.deepEqual([waited.state, patient.state], ["completed", "completed"]);
  const begun = await glovebox.begin({ code: LONG, patienceMs: 0 });
  assert.equal(begun.state, "running");
  const [ended] = await Promise.all([
    glovebox.resume({ execution: begun.execution, waitMs: 60_000 }),
    glovebox.execute({ code: MEET }),
  ]);
  assert.deepEqual([ended.execution, ended.state, ended.value], [begun.execution, ...MET]);
  const wrong = JSON.parse('{ "code": "1", "patienceMs": -1 }');
  await assert.rejects(glovebox.begin(wrong), { code: "REQUEST_INVALID" });
  await assert.rejects(glovebox.resume(JSON.parse("{}")), { code: "REQUEST_INVALID" });
});

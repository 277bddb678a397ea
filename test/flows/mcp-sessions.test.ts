/** The data-flow guard for MCP clients: sessions over HTTP in both eras, over stdio, and after a restart. */

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../fixtures/mcp-client.ts";
import {
  LAUNCHER,
  cleanEnvironment,
  makeUntypedFolder,
  runGlovebox,
  serveFor,
  untilEnded,
} from "../fixtures/product.ts";

const [LEGACY, MODERN] = ERAS;
const READ = "return (await mail.searchEmails({})).result.length";
const TEXT = { channel: "c1", text: "what the mail says" };

function makeFlowFolder(context: TestContext, policy: object = {}): string {
  const server = (id: string) => {
    const script = resolve("test/flows/fixtures/package-server.mjs");
    return { command: process.execPath, args: [script, `--package=${id}`, "--sink=sent.jsonl"] };
  };
  const slack = server("@modelcontextprotocol/server-slack");
  return makeUntypedFolder(context, {
    mcpServers: { mail: server("gmail-mcp-server"), slack },
    expose: "both",
    approvals: { graceMs: 0 },
    policy,
  });
}

function codeOf({ isError, structuredContent, content }: CallToolResult): string {
  const { state, error } = (structuredContent ?? {}) as { state?: string; error?: { code: string } };
  if (state === "paused") return state;
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  return isError ? (error?.code ?? /^Error (\w+)/.exec(text)?.[1] ?? text) : "ok";
}

const readMail = async (client: Client): Promise<string> =>
  codeOf(await client.callTool({ name: "execute", arguments: { code: READ } }));
const post = async (client: Client): Promise<string> =>
  codeOf(await client.callTool({ name: "slack_slackPostMessage", arguments: TEXT }));
const postByProgram = async (client: Client): Promise<string> =>
  codeOf(
    await client.callTool({
      name: "execute",
      arguments: { code: `return await slack.slackPostMessage(${JSON.stringify(TEXT)})` },
    }),
  );

test("the data-flow guard over HTTP, with labels that end with their session", async (suite) => {
  const folder = makeFlowFolder(suite, { labelHours: 0 });
  const { mcp, child } = await serveFor(suite, folder);

  await suite.test(
    "an MCP session of 2025-11-25 is one data-flow session for programs and for tools by name",
    async (context) => {
      const [one, other] = [await connect(context, mcp, LEGACY), await connect(context, mcp, LEGACY)];
      assert.deepEqual([await post(one), await readMail(one)], ["ok", "ok"]);
      assert.deepEqual([await post(one), await postByProgram(one)], ["POLICY_APPROVAL_PENDING", "paused"]);
      assert.deepEqual([await post(other), await postByProgram(other)], ["ok", "ok"]);
    },
  );

  await suite.test("a prompt that a client gets counts as read data", async (context) => {
    const client = await connect(context, mcp, LEGACY);
    await client.listPrompts();
    await client.listResources();
    assert.equal(await post(client), "ok");
    await client.getPrompt({ name: "mail_greet" });
    assert.equal(await post(client), "POLICY_APPROVAL_PENDING");
  });

  await suite.test("a client sees the labels of read data and of tools", async (context) => {
    const client = await connect(context, mcp, LEGACY);
    for (const detail of [{}, { detail: "full" }]) {
      const { structuredContent } = await client.callTool({ name: "execute", arguments: { code: READ, ...detail } });
      const { labels } = structuredContent as { labels: readonly { readonly label: string; readonly tool: string }[] };
      assert.deepEqual(
        labels.map(({ label, tool }) => [label, tool]),
        [
          ["private", "mail.searchEmails"],
          ["untrusted", "mail.searchEmails"],
        ],
      );
    }
    for (const [detail, words] of [
      ["types", /\(write; external[;)]/],
      ["full", /Labels: external\./],
    ] as const) {
      const args = { names: ["slack.slackPostMessage"], detail };
      const described = await client.callTool({ name: "describe", arguments: args });
      assert.match(JSON.stringify(described.content), words);
    }
  });

  await suite.test(
    "all clients of 2026-07-28 share the data-flow session of their principal, also after a restart",
    async (context) => {
      const [one, other] = [await connect(context, mcp, MODERN), await connect(context, mcp, MODERN)];
      assert.deepEqual([await post(other), await readMail(one)], ["ok", "ok"]);
      assert.deepEqual([await post(other), await post(one)], Array(2).fill("POLICY_APPROVAL_PENDING"));
      const ended = untilEnded(child);
      child.kill("SIGTERM");
      await ended;
      const again = await serveFor(context, folder);
      assert.equal(await post(await connect(context, again.mcp, MODERN)), "POLICY_APPROVAL_PENDING");
      assert.equal(await post(await connect(context, again.mcp, LEGACY)), "ok");
    },
  );
});

test("labels over HTTP outlast their session until an operator clears them", async (suite) => {
  const folder = makeFlowFolder(suite);
  const { mcp, child } = await serveFor(suite, folder);
  const first = await connect(suite, mcp, LEGACY);
  const labels = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await runGlovebox(["labels", ...words, "--json"], { folder });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  await suite.test("a session in use before labeled data was read inherits nothing", async (context) => {
    const early = await connect(context, mcp, LEGACY);
    assert.deepEqual([await post(early), await readMail(first)], ["ok", "ok"]);
    assert.deepEqual([await post(early), await post(first)], ["ok", "POLICY_APPROVAL_PENDING"]);
  });

  await suite.test("a new session of either era inherits labels after the first has ended", async (context) => {
    await first.close();
    for (const era of ERAS) {
      const later = await connect(context, mcp, era);
      assert.deepEqual([await post(later), await postByProgram(later)], ["POLICY_APPROVAL_PENDING", "paused"]);
    }
  });

  await suite.test("no tool and no builtin of a model clears labels", async (context) => {
    const model = await connect(context, mcp, LEGACY);
    const { tools } = await model.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name).filter((name) => /label|clear|forget/i.test(name)),
      [],
    );
    const code = `const own = glovebox as unknown as Record<string, unknown>;
      return ["labels", "clearLabels", "forget"].filter((name) => own[name] !== undefined)`;
    const { structuredContent } = await model.callTool({ name: "execute", arguments: { code } });
    assert.deepEqual((structuredContent as { readonly value: unknown }).value, []);
    assert.equal(await post(model), "POLICY_APPROVAL_PENDING");
  });

  await suite.test("labels outlast a restart, and `glovebox labels` lists them with their calls", async (context) => {
    const ended = untilEnded(child);
    child.kill("SIGTERM");
    await ended;
    const again = await serveFor(suite, folder);
    const client = await connect(context, again.mcp, LEGACY);
    assert.equal(await post(client), "POLICY_APPROVAL_PENDING");
    const { labels: held } = (await labels()) as { labels: { principal: string; labels: { tool: string }[] }[] };
    assert.deepEqual(
      held.map(({ principal, labels: sources }) => [principal, sources.map(({ tool }) => tool)]),
      [["local", ["mail.searchEmails", "mail.searchEmails"]]],
    );

    await context.test("`glovebox labels clear` frees open and new sessions, and the ledger has it", async () => {
      const { principal, cleared } = await labels("clear");
      assert.deepEqual([principal, Array.isArray(cleared) && cleared.length], ["local", 2]);
      assert.deepEqual(await labels(), { labels: [] });
      while ((await post(client)) !== "ok") await setTimeout(100);
      assert.equal(await post(await connect(context, again.mcp, LEGACY)), "ok");
      const { stdout } = await runGlovebox(["audit", "--action", "labels.cleared", "--json"], { folder });
      const { records } = JSON.parse(stdout) as { records: { actor: string; subject: string }[] };
      assert.deepEqual(
        records.map(({ actor, subject }) => [actor, subject]),
        [["operator", "local"]],
      );
      assert.equal((await runGlovebox(["labels", "clear", ""], { folder })).code, 2);
    });
  });
});

test("over stdio, a process is one data-flow session", async (context) => {
  const folder = makeFlowFolder(context);
  const start = async (): Promise<Client> => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const env = cleanEnvironment(folder);
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [LAUNCHER, "mcp"], cwd: folder, env }),
    );
    context.after(() => client.close());
    return client;
  };
  const first = await start();
  assert.deepEqual([await post(first), await readMail(first)], ["ok", "ok"]);
  assert.deepEqual([await post(first), await postByProgram(first)], ["POLICY_APPROVAL_PENDING", "paused"]);
  assert.equal(await post(await start()), "ok");
});

/** The MCP surface of the built product, over HTTP in both eras: handles, resume, progress, and what is forwarded. */

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";

import type { CallToolResult } from "@modelcontextprotocol/client";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { makeFolder, serveFor } from "../../fixtures/product.ts";

const SHELF = {
  command: process.execPath,
  args: [resolve("test/fixtures/servers/surface-server.mjs")],
};

interface Structured {
  readonly state?: string;
  readonly value?: unknown;
  readonly execution?: string;
  readonly total?: number;
  readonly next?: number;
  readonly error?: { readonly code: string };
  readonly truncated?: { readonly handle: string; readonly bytes: number; readonly shape: string };
}

function structured({ structuredContent }: CallToolResult): Structured {
  return structuredContent as Structured;
}

function textsOf({ content }: CallToolResult): readonly string[] {
  return content.map((block) => (block.type === "text" ? block.text : block.type));
}

/** Without `wipe`, which policy denies: it is not listed. */
const PLAIN = ["fail", "grow", "long", "sum", "words"];
const CONFIG = {
  mcpServers: { shelf: SHELF },
  sandbox: { limits: { outputBytes: 2_000, resultBytes: 200_000 } },
  policy: { rules: [{ decision: "deny", tools: ["shelf.wipe"], reason: "never" }] },
  expose: "both",
};

test("the MCP surface over HTTP", async (suite) => {
  const { mcp } = await serveFor(suite, makeFolder(suite, CONFIG));
  for (const era of ERAS) {
    await suite.test(`a client of ${era.era} reads a large result by its handle`, async (context) => {
      const client = await connect(context, mcp, era);
      const code = 'return Array.from({ length: 1_000 }, (_, id) => ({ id, name: "item " + id }))';
      const large = await client.callTool({ name: "execute", arguments: { code } });
      const { truncated } = structured(large);
      assert.ok(truncated);
      const { handle } = truncated;
      assert.deepEqual(truncated, { handle, bytes: 28_781, shape: "{ id: number; name: string }[] (1000)" });
      assert.match(textsOf(large)[0] ?? "", new RegExp(`the whole is kept as ${handle}`));

      const read = async (query: object) =>
        structured(await client.callTool({ name: "resume", arguments: { handle, ...query } }));
      const page = await read({ offset: 998, limit: 1 });
      assert.deepEqual([page.value, page.total, page.next], [[{ id: 998, name: "item 998" }], 1_000, 999]);
      assert.deepEqual((await read({ path: "[3].name" })).value, "item 3");
      assert.deepEqual((await read({ grep: "ITEM 42", limit: 1 })).value, [
        { index: 42, item: { id: 42, name: "item 42" } },
      ]);
      const described = await client.callTool({ name: "describe", arguments: { names: [handle] } });
      assert.match(textsOf(described)[0] ?? "", /^\/\/ rs_[0-9a-f]{24}: application\/json, 28781 bytes, kept until /);
      const inside = await client.callTool({
        name: "execute",
        arguments: { code: "return (await glovebox.results.read(input)).length", input: handle },
      });
      assert.equal(structured(inside).value, 1_000);
      const missing = await client.callTool({ name: "resume", arguments: { handle: `rs_${"0".repeat(24)}` } });
      assert.equal(structured(missing).error?.code, "REQUEST_NOT_FOUND");
    });

    await suite.test(
      `a client of ${era.era} receives progress for calls and log lines, and finds the execution again`,
      async (context) => {
        const client = await connect(context, mcp, era);
        const heard: string[] = [];
        const code = 'console.log("hello"); await shelf.sum({ a: 1, b: 2 }); await shelf.words(); return 7';
        const done = await client.callTool(
          { name: "execute", arguments: { code } },
          { onprogress: ({ message }) => heard.push(message ?? "") },
        );
        const { execution } = structured(done);
        // The notification beside the response may be lost.
        assert.deepEqual(heard.slice(0, 4), [
          `Execution ${execution} started`,
          "[log] hello",
          "shelf.sum called; 0 of 1 calls answered",
          "shelf.sum ok; 1 of 1 calls answered",
        ]);
        const again = await client.callTool({ name: "resume", arguments: { execution } });
        assert.deepEqual(again.structuredContent, done.structuredContent);
      },
    );

    await suite.test(`a client of ${era.era} lists and reads resources and prompts of upstreams`, async (context) => {
      const client = await connect(context, mcp, era);
      const uri = "glovebox://shelf/note%3A%2F%2Fa%20b";
      const { resources } = await client.listResources();
      assert.deepEqual(resources, [{ uri, name: "Note A", mimeType: "text/plain" }]);
      assert.deepEqual((await client.readResource({ uri })).contents, [{ uri, text: "text of note://a b" }]);
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(resourceTemplates, [{ uriTemplate: "glovebox://shelf/~note://{id}", name: "Notes" }]);
      await assert.rejects(client.readResource({ uri: "glovebox://unknown/x" }));
      const { prompts } = await client.listPrompts();
      const [prompt] = prompts;
      assert.deepEqual(prompt, {
        name: "shelf_greet_all",
        description: "Greets",
        arguments: [{ name: "who", required: true }],
      });
      const got = await client.getPrompt({ name: "shelf_greet_all", arguments: { who: "Ada" } });
      assert.deepEqual(got.messages, [{ role: "user", content: { type: "text", text: "greet_all Ada" } }]);
      await assert.rejects(client.getPrompt({ name: "unknown_x" }));
    });

    await suite.test(`a client of ${era.era} calls upstream tools by name`, async (context) => {
      const client = await connect(context, mcp, era);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ["search", "describe", "execute", "resume", ...PLAIN.map((name) => `shelf_${name}`)],
      );
      const sum = await client.callTool({ name: "shelf_sum", arguments: { a: 1, b: 2 } });
      assert.deepEqual([sum.structuredContent, textsOf(sum)], [{ sum: 3 }, ['{"sum":3}']]);
      const words = await client.callTool({ name: "shelf_words", arguments: {} });
      assert.deepEqual([words.structuredContent, textsOf(words)], [undefined, ["one", "two"]]);
      const long = await client.callTool({ name: "shelf_long", arguments: { chars: 5_000 } });
      assert.match(
        textsOf(long)[0] ?? "",
        /^x+…\n\nThe result has 5002 bytes; above is a sample, the whole is kept as rs_/,
      );
      const failed = await client.callTool({ name: "shelf_fail", arguments: {} });
      assert.deepEqual([failed.isError, /UPSTREAM_FAILED.*it is broken/.test(textsOf(failed)[0] ?? "")], [true, true]);
      const denied = await client.callTool({ name: "shelf_wipe", arguments: {} });
      assert.deepEqual([denied.isError, /POLICY_DENIED/.test(textsOf(denied)[0] ?? "")], [true, true]);
      await assert.rejects(client.callTool({ name: "shelf_nothing", arguments: {} }), /Unknown tool/);
      const wrong = await client.callTool({ name: "shelf_sum", arguments: { a: "1", b: 2 } });
      assert.deepEqual([wrong.isError, /TOOL_ARGUMENTS_INVALID/.test(textsOf(wrong)[0] ?? "")], [true, true]);
    });
  }
  await suite.test("a client of 2025-11-25 is notified when the tools change", async (context) => {
    const client = await connect(context, mcp, ERAS[0]);
    const told = new Promise<void>((resolve) => {
      client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
    });
    await client.callTool({ name: "execute", arguments: { code: "await shelf.grow()" } });
    await told;
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "shelf_grown"));
  });
});

/** What the settings of output text change, for `test/settings/settings.test.ts`. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { makeUntypedFolder, serveFor } from "../fixtures/product.ts";

async function observe(context: TestContext, escapeHtml: boolean): Promise<readonly unknown[]> {
  const { mcp } = await serveFor(context, makeUntypedFolder(context, { mcpServers: {}, output: { escapeHtml } }));
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  const { content, structuredContent } = await client.callTool({
    name: "execute",
    arguments: { code: `return "<b title='x'>&</b>"` },
  });
  await client.close();
  const [block] = content;
  const { value } = structuredContent as { readonly value: unknown };
  return [block?.type === "text" ? block.text : block, value];
}

export const OUTPUT_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "output.escapeHtml": async (context) => {
    const plain = "<b title='x'>&</b>";
    assert.deepEqual(await observe(context, false), [plain, plain]);
    assert.deepEqual(await observe(context, true), ["&lt;b title=&#39;x&#39;&gt;&amp;&lt;/b&gt;", plain]);
  },
};

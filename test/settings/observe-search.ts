/** What the settings of searches and descriptions change for MCP clients, for `test/settings/settings.test.ts`. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../fixtures/mcp-client.ts";
import { INVENTORY, makeFolder, serveFor } from "../fixtures/product.ts";

interface Answer {
  readonly tools: readonly unknown[];
  readonly cursor?: string;
  readonly declarations: string;
}

function parseAnswer(raw: unknown): Answer {
  assert.ok(typeof raw === "object" && raw !== null);
  return { tools: [], declarations: "", ...raw };
}

/** The structured content of one answer, and the tokens of its larger form. */
async function ask(context: TestContext, catalog: object, name: string, args: Record<string, unknown>) {
  const { mcp } = await serveFor(context, makeFolder(context, { mcpServers: { inventory: INVENTORY }, catalog }));
  const client = await connect(context, mcp, ERAS[1]);
  const { content, structuredContent } = await client.callTool({ name, arguments: args });
  const [block] = content;
  const text = block?.type === "text" ? block.text : assert.fail("It is not a text");
  const tokens = Math.max(text.length, JSON.stringify(structuredContent).length) / 4;
  return { tokens, ...parseAnswer(structuredContent) };
}

export const SEARCH_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "catalog.searchTokens": async (context) => {
    const request = { query: "product", limit: 5 };
    const few = await ask(context, { searchTokens: 100 }, "search", request);
    assert.ok(few.tokens <= 100 && few.tools.length < 3 && few.cursor !== undefined);
    const many = await ask(context, { searchTokens: 2_000 }, "search", request);
    assert.ok(many.tokens <= 2_000 && many.tools.length > few.tools.length);
  },
  "catalog.describeTokens": async (context) => {
    const few = await ask(context, { describeTokens: 200 }, "describe", { names: ["inventory"] });
    assert.ok(few.tokens <= 200);
    assert.match(few.declarations, /^\/\/ The size limit is reached|more tools are not shown/m);
    const many = await ask(context, { describeTokens: 4_000 }, "describe", { names: ["inventory"] });
    assert.ok(many.tokens <= 4_000);
    assert.match(many.declarations, /^ {2}deleteProduct\(/m);
  },
};

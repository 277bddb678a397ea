/**
 * What settings change for clients of a serving process. Two processes have all of these settings side by side, each with
 * another value: no observation sees a setting of another one.
 */

import assert from "node:assert/strict";
import { after } from "node:test";
import type { TestContext } from "node:test";

import type { Client } from "@modelcontextprotocol/client";

import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import type { Era } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../fixtures/mcp-client.ts";
import { startUpstream } from "../fixtures/observe-settings.ts";
import { INVENTORY, makeUntypedFolder, parseAddresses, probe, startFor, waitForOutput } from "../fixtures/product.ts";
import type { Addresses } from "../fixtures/product.ts";

/** A port that was free a moment ago. */
async function findPort(): Promise<number> {
  const { url, close } = await startUpstream("free");
  close();
  return Number(new URL(url).port);
}

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const ending = { after: (end: () => unknown): void => stack.defer(() => void end()) };

/** Serves once, until the tests of this file have ended. Without flags: host and port are settings, too. */
function share(toConfig: () => object | Promise<object>): () => Promise<Addresses> {
  const open = async (): Promise<Addresses> => {
    const mcpServers = { inventory: INVENTORY, probe: probe() };
    const folder = makeUntypedFolder(ending, { mcpServers, ...(await toConfig()) });
    return parseAddresses(await waitForOutput(startFor(ending, ["serve", "--json"], folder), /\}\n$/));
  };
  let opened: Promise<Addresses> | undefined;
  return () => (opened ??= open());
}

let chosenPort = 0;
const openOne = share(() => ({
  expose: "code",
  catalog: { searchTokens: 100, describeTokens: 200 },
  metrics: { enabled: true },
  output: { escapeHtml: false },
  server: { host: "127.0.0.1", port: 0 },
}));
const openOther = share(async () => {
  chosenPort = await findPort();
  return {
    expose: "both",
    catalog: { searchTokens: 2_000, describeTokens: 4_000 },
    metrics: { enabled: false },
    output: { escapeHtml: true },
    server: { host: "127.0.0.2", port: chosenPort },
  };
});
const openTools = share(() => ({ expose: "tools", server: { port: 0 } }));

type Open = typeof openOne;

async function connectTo(context: TestContext, open: Open, era: Era = ERAS[0]): Promise<Client> {
  return connect(context, (await open()).mcp, era);
}

async function listExposed(context: TestContext, open: Open): Promise<readonly string[]> {
  const { tools } = await (await connectTo(context, open)).listTools();
  return tools.map(({ name }) => name).filter((name) => /^(execute|probe_echo)$/.test(name));
}

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
async function ask(context: TestContext, open: Open, name: string, args: Record<string, unknown>) {
  const client = await connectTo(context, open, ERAS[1]);
  const { content, structuredContent } = await client.callTool({ name, arguments: args });
  const [block] = content;
  const text = block?.type === "text" ? block.text : assert.fail("It is not a text");
  const tokens = Math.max(text.length, JSON.stringify(structuredContent).length) / 4;
  return { tokens, ...parseAnswer(structuredContent) };
}

/** The text of a result and its value. */
async function showHtml(context: TestContext, open: Open): Promise<readonly unknown[]> {
  const client = await connectTo(context, open);
  const { content, structuredContent } = await client.callTool({
    name: "execute",
    arguments: { code: `return "<b title='x'>&</b>"` },
  });
  const [block] = content;
  const { value } = structuredContent as { readonly value: unknown };
  return [block?.type === "text" ? block.text : block, value];
}

async function readMetrics(open: Open): Promise<readonly [number, boolean]> {
  const answer = await fetch(`${(await open()).url}/metrics`);
  const text = await answer.text();
  return [answer.status, text.includes('glovebox_upstream_state{server="probe",state="ready"} 1\n')];
}

/** Keyed by setting path. */
export const SERVED_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  expose: async (context) => {
    const exposed: (readonly string[])[] = [];
    for (const open of [openOne, openTools, openOther]) exposed.push(await listExposed(context, open));
    assert.deepEqual(exposed, [["execute"], ["probe_echo"], ["execute", "probe_echo"]]);
  },
  "catalog.searchTokens": async (context) => {
    const request = { query: "product", limit: 5 };
    const few = await ask(context, openOne, "search", request);
    assert.ok(few.tokens <= 100 && few.tools.length < 3 && few.cursor !== undefined);
    const many = await ask(context, openOther, "search", request);
    assert.ok(many.tokens <= 2_000 && many.tools.length > few.tools.length);
  },
  "catalog.describeTokens": async (context) => {
    const few = await ask(context, openOne, "describe", { names: ["inventory"] });
    assert.ok(few.tokens <= 200);
    assert.match(few.declarations, /^\/\/ The size limit is reached|more tools are not shown/m);
    const many = await ask(context, openOther, "describe", { names: ["inventory"] });
    assert.ok(many.tokens <= 4_000);
    assert.match(many.declarations, /^ {2}deleteProduct\(/m);
  },
  "metrics.enabled": async () => {
    assert.deepEqual(await readMetrics(openOne), [200, true]);
    assert.deepEqual(await readMetrics(openOther), [404, false]);
  },
  "output.escapeHtml": async (context) => {
    const plain = "<b title='x'>&</b>";
    assert.deepEqual(await showHtml(context, openOne), [plain, plain]);
    assert.deepEqual(await showHtml(context, openOther), ["&lt;b title=&#39;x&#39;&gt;&amp;&lt;/b&gt;", plain]);
  },
  "server.host": async () => {
    const hosts = [await openOne(), await openOther()].map(({ url }) => new URL(url).hostname);
    assert.deepEqual(hosts, ["127.0.0.1", "127.0.0.2"]);
  },
  "server.port": async () => {
    const [any, chosen] = [await openOne(), await openOther()].map(({ url }) => Number(new URL(url).port));
    assert.ok(any !== undefined && any > 0 && any !== chosenPort);
    assert.equal(chosen, chosenPort);
  },
};

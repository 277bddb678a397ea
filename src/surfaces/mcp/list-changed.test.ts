/** Clients of both eras get list_changed notifications, but not for a fixed list. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import type { Gateway } from "../gateway.ts";
import { createMcpRoutes } from "./create-mcp-routes.ts";
import { AGENT, createMemoryGateway } from "./fixtures/memory-gateway.ts";
import { ERAS } from "./fixtures/try-client.ts";
import type { Era } from "./fixtures/try-client.ts";

async function open(t: TestContext, { mode }: Era, expose: Gateway["expose"]) {
  const listeners = new Set<() => void>();
  const onToolsChanged = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const gateway = { ...createMemoryGateway(), expose, onToolsChanged };
  const mcp = createMcpRoutes({ gateway, report: () => "in_1" }, { now: Date.now });
  const heard: string[] = [];
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const hear = (list: string) => ({
    autoRefresh: false,
    debounceMs: 0,
    onChanged: () => {
      heard.push(list);
      if (list === "prompts") resolve();
    },
  });
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode }, listChanged: { tools: hear("tools"), prompts: hear("prompts") } },
  );
  const send = async (url: string | URL, init?: RequestInit): Promise<Response> =>
    mcp.handle(new Request(url, init), AGENT);
  await client.connect(new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), { fetch: send }));
  t.after(async () => {
    await client.close();
    await mcp.close();
    assert.equal(listeners.size, 0);
  });
  /** The stream of an old client opens after it is connected. */
  const change = async (): Promise<void> => {
    for (let tries = 0; tries < 100 && heard.length === 0; tries += 1) {
      for (const listener of listeners) listener();
      await new Promise((soon) => setTimeout(soon, 20));
    }
    await told;
  };
  return { heard, change };
}

for (const era of ERAS) {
  test(`a client of ${era.era} gets tools/list_changed if tools are exposed`, async (t) => {
    const { heard, change } = await open(t, era, "both");
    await change();
    assert.deepEqual([...new Set(heard)].toSorted(), ["prompts", "tools"]);
  });

  test(`a client of ${era.era} gets only prompts/list_changed if the tools are fixed`, async (t) => {
    const { heard, change } = await open(t, era, "code");
    await change();
    assert.deepEqual([...new Set(heard)], ["prompts"]);
  });
}

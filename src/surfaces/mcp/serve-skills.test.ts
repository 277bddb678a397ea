/** Skills over MCP on the wire, in both eras of the protocol, and in pages. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";

import { createTool, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { Tool } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { createMcpRoutes } from "./create-mcp-routes.ts";
import { AGENT, createMemoryGateway } from "./fixtures/memory-gateway.ts";
import { ERAS, connectClient } from "./fixtures/try-client.ts";
import { findNeededScopes } from "./needed-scopes.ts";

const LIST = z.object({
  skills: z.array(z.object({ uri: z.string() })),
  nextCursor: z.string().optional(),
  ttlMs: z.number(),
  cacheScope: z.string(),
});

/** A gateway that has so many approved skills. */
function openGateway(count: number): Gateway {
  const skills = Array.from({ length: count }, (_, index): Tool => {
    const tool = createTool(`skills.s${index}`);
    return { ...tool, origin: { ...tool.origin, kind: "skill", remoteName: `s-${index}` } };
  });
  const text = (name: string) => Buffer.from(`---\nname: ${name}\ndescription: Does it.\n---\n`);
  return {
    ...createMemoryGateway(),
    takeSnapshot: async () => snapshotOf(skills),
    findMedia: async () => [],
    skillFiles: async ({ origin }) => new Map([["SKILL.md", text(origin.remoteName)]]),
  };
}

for (const era of ERAS)
  test(`skills are listed in pages, each once, and read by a client of ${era.era}`, async () => {
    for (const [count, pages] of [
      [50, [50]],
      [51, [50, 1]],
    ] as const) {
      const routes = createMcpRoutes({ gateway: openGateway(count), report: () => "in_1" }, { now: Date.now });
      const fetch = (url: string | URL, init?: RequestInit) => routes.handle(new Request(url, init), AGENT);
      const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), { fetch });
      const client = await connectClient(transport, era);
      const sizes: number[] = [];
      const seen = new Set<string>();
      let cursor: string | undefined;
      do {
        const params = cursor === undefined ? {} : { cursor };
        const page = await client.request({ method: "skills/list", params }, LIST);
        sizes.push(page.skills.length);
        for (const { uri } of page.skills) seen.add(uri);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      assert.deepEqual([sizes, seen.size], [pages, count]);
      const { contents } = await client.readResource({ uri: "skill://skills/s-3/SKILL.md" });
      assert.deepEqual(contents, [
        {
          uri: "skill://skills/s-3/SKILL.md",
          mimeType: "text/markdown",
          text: "---\nname: s-3\ndescription: Does it.\n---\n",
        },
      ]);
      await client.close();
      await routes.close();
    }
  });

test("skills need the scope of calls, because those of servers are calls", () => {
  assert.deepEqual(findNeededScopes({ method: "skills/list" }), ["execute"]);
  assert.deepEqual(findNeededScopes({ method: "tools/list" }), []);
});

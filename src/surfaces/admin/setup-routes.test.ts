/** The proof of the setup: a call of a client's program, and of nothing else. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createMemoryGateway, createResult } from "../mcp/fixtures/memory-gateway.ts";
import type { MemoryGateway } from "../mcp/fixtures/memory-gateway.ts";
import { setupSchema } from "./contract/setup.ts";
import { SESSION, startApp } from "./fixtures/start-app.ts";

type Line = Awaited<ReturnType<MemoryGateway["history"]["list"]>>[number];

test("only a successful call of a client proves the setup, and the proof stays", async (t) => {
  const memory = createMemoryGateway();
  const [sample] = await memory.history.list({ limit: 1 });
  assert.ok(sample);
  let lines: readonly Line[] = [];
  let outcome: "ok" | "error" | "denied" = "error";
  const call = { seq: 1, tool: "github.listIssues", effect: "read", decision: "allow", ms: 1 } as const;
  const history: MemoryGateway["history"] = {
    ...memory.history,
    list: async () => lines,
    show: async (id) => ({
      ...(await memory.history.show(id)),
      result: createResult({
        calls: [
          { ...call, seq: 2, tool: "glovebox.search", outcome: "ok" },
          { ...call, outcome },
        ],
      }),
    }),
  };
  const { send, listener } = await startApp(t, undefined, { history });
  const read = async () => setupSchema.parse(JSON.parse((await send("/api/setup", { headers: SESSION })).body));
  const { clients, mcp, needsLogin, agents } = await read();
  assert.deepEqual([mcp, needsLogin, agents], [`${listener.url}/mcp`, false, []]);
  assert.ok(clients.some(({ id, entry }) => id === "claude-code" && entry.includes('"glovebox"')));
  for (const principal of ["operator", "library", "person:ada"]) {
    outcome = "ok";
    lines = [{ ...sample, principal }];
    assert.equal((await read()).call, undefined, principal);
  }
  lines = [{ ...sample, principal: "agent:local" }];
  for (const failed of ["error", "denied"] as const) {
    outcome = failed;
    assert.equal((await read()).call, undefined, failed);
  }
  outcome = "ok";
  const proved = await read();
  assert.deepEqual([proved.call?.tool, proved.call?.principal], ["github.listIssues", "agent:local"]);
  assert.deepEqual(proved.agents, [{ principal: "agent:local", executions: 1, latestAt: sample.startedAt }]);
  lines = [];
  assert.equal((await read()).call?.tool, "github.listIssues");
  assert.equal((await send("/api/setup")).status, 401);
});

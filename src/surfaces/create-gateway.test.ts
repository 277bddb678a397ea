/** The gateway object that surfaces use, assembled from small parts. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createToolSearch } from "../builtins/index.ts";
import { AGENT, createMemoryGateway } from "./mcp/fixtures/memory-gateway.ts";
import { createGateway } from "./create-gateway.ts";

function create() {
  const memory = createMemoryGateway();
  const listeners = [new Set<() => void>(), new Set<() => void>()];
  const { startedAt, upstreams, ...health } = memory.health();
  const needs: unknown[] = [];
  const gateway = createGateway({
    ...memory,
    executions: memory,
    ledger: { search: async () => [] },
    health: { ...health, startedAt },
    takeView: (principal, needed = "all") => {
      needs.push(needed);
      return memory.takeSnapshot(principal);
    },
    statuses: () => upstreams,
    changes: listeners.map((set) => (listener: () => void) => {
      set.add(listener);
      return () => void set.delete(listener);
    }),
    search: createToolSearch({ hide: (text) => text.replaceAll("e", "*") }),
  });
  return { gateway, listeners, upstreams, needs };
}

test("a listener hears of changed tools from every source until it stops", () => {
  const { gateway, listeners } = create();
  let calls = 0;
  const stop = gateway.onToolsChanged(() => (calls += 1));
  for (const set of listeners) for (const listener of set) listener();
  assert.equal(calls, 2);
  stop();
  assert.deepEqual(
    listeners.map(({ size }) => size),
    [0, 0],
  );
});

test("health names the upstreams as they are at that moment", () => {
  const { gateway, upstreams } = create();
  assert.deepEqual(gateway.health().upstreams, upstreams);
});

test("a search does not wait for every upstream, and names those that are not ready", async () => {
  const { gateway, upstreams, needs } = create();
  const { servers } = await gateway.search(AGENT, {});
  assert.deepEqual([servers, needs], [upstreams, ["some"]]);
  await gateway.takeSnapshot(AGENT);
  assert.deepEqual(needs, ["some", "all"]);
});

/** Restarts that an operator requests through the store. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { parseConnectorId } from "../../domain/index.ts";
import type { DurableValues } from "../connector.ts";
import { requestRestart, watchRestarts } from "./watch-restarts.ts";
import { child, connect } from "../mcp/fixtures/connect.ts";

const SERVER = fileURLToPath(new URL("../mcp/fixtures/hostile-server.mjs", import.meta.url));

const upstream = parseConnectorId("up");
const other = parseConnectorId("other");
assert.ok(upstream && other);

function createValues(): Pick<DurableValues, "get" | "set"> & { isBroken: boolean } {
  const values = new Map<string, string>();
  return {
    isBroken: false,
    async get(key) {
      if (this.isBroken) throw new Error("no store");
      return values.get(key);
    },
    set: async (key, value) => void values.set(key, value),
  };
}

test("restarts the upstream of a request once, and ignores older requests and those for other upstreams", async () => {
  const values = createValues();
  await requestRestart(values, upstream, 1);
  await using connector = connect(child(SERVER, "plain"));
  const stateAfterPolls = async (): Promise<string> => {
    await wait(100);
    return connector.status().state;
  };
  await connector.tools();
  await using _watch = watchRestarts({ connectors: [connector], values, everyMs: 10 });
  assert.equal(await stateAfterPolls(), "ready");
  await requestRestart(values, other, 2);
  assert.equal(await stateAfterPolls(), "ready");
  await requestRestart(values, upstream, 3);
  while (connector.status().state !== "idle") await wait(10);
  await connector.tools();
  assert.equal(await stateAfterPolls(), "ready");
});

test("polls again after a failed read, and treats an unreadable value as no request", async () => {
  const values = createValues();
  values.isBroken = true;
  await values.set("restarts", "{]");
  await using connector = connect(child(SERVER, "plain"));
  await connector.tools();
  await using _watch = watchRestarts({ connectors: [connector], values, everyMs: 10 });
  await wait(50);
  values.isBroken = false;
  await wait(50);
  assert.equal(connector.status().state, "ready");
  await requestRestart(values, upstream, 1);
  while (connector.status().state !== "idle") await wait(10);
});

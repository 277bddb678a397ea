/** Wishes for a restart that come in through the store. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { addRestart, watchRestarts } from "./watch-restarts.ts";
import { child, connect } from "./mcp/fixtures/connect.ts";

const SERVER = fileURLToPath(new URL("mcp/fixtures/hostile-server.mjs", import.meta.url));

test("a wish restarts the upstream that it names, once; older ones and those for others do not", async () => {
  let text: string | undefined = addRestart(undefined, "up", 1);
  await using connector = connect(child(SERVER, "plain"));
  const stateAfterLooks = async (): Promise<string> => {
    await wait(100);
    return connector.status().state;
  };
  await connector.tools();
  await using _watch = watchRestarts({ connectors: [connector], read: async () => text, everyMs: 10 });
  assert.equal(await stateAfterLooks(), "ready");
  text = addRestart(text, "other", 2);
  assert.equal(await stateAfterLooks(), "ready");
  text = addRestart(text, "up", 3);
  assert.equal(await stateAfterLooks(), "idle");
  await connector.tools();
  assert.equal(await stateAfterLooks(), "ready");
});

test("wishes that cannot be read are looked for again, and a text that is none has no wishes", async () => {
  let isBroken = true;
  let text = "{]";
  await using connector = connect(child(SERVER, "plain"));
  await connector.tools();
  const read = (): Promise<string> => (isBroken ? Promise.reject(new Error("no store")) : Promise.resolve(text));
  await using _watch = watchRestarts({ connectors: [connector], read, everyMs: 10 });
  await wait(50);
  isBroken = false;
  await wait(50);
  assert.equal(connector.status().state, "ready");
  text = addRestart(text, "up", 1);
  await wait(100);
  assert.equal(connector.status().state, "idle");
});

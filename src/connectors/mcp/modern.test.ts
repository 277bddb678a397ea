/** What 2026-07-28 added, over stdio and HTTP: headers, input requests, progress, cancellation, changed tools. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { CallProgress, JsonObject } from "../../domain/index.ts";
import type { Connector, RemoteResult } from "../connector.ts";
import { child, connect, locate, modernChild, remote } from "./fixtures/connect.ts";
import { startModernHttp } from "./fixtures/start-modern-http.ts";
import type { HttpFixture } from "./fixtures/start-modern-http.ts";

const call = (connector: Connector, name: string, args: JsonObject = {}): Promise<RemoteResult> =>
  connector.call(name, args, { signal: AbortSignal.timeout(10_000) });

async function until(isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6_000 && !isDone(); tries += 1) await wait(10);
}

let http: HttpFixture;
before(async () => {
  http = await startModernHttp();
});
after(() => http.close());

const OPENERS: Readonly<Record<string, () => Connector>> = {
  "stdio, 2026-07-28": () => connect(modernChild()),
  "HTTP, 2026-07-28": () => connect(remote(http.url)),
  "stdio, 2025-11-25": () => connect(child(locate("server-everything"), "stdio")),
};
const MODERN = Object.entries(OPENERS).slice(0, 2);

for (const [name, open] of MODERN) {
  describe(name, () => {
    test("a tool that requests input fails with a clear error, and the next call works", async () => {
      await using connector = open();
      for (const tool of ["question", "again"]) {
        await assert.rejects(call(connector, tool), {
          code: "UPSTREAM_FAILED",
          message:
            "up: the tool asks for something that Glovebox does not offer to this call: input from a person, sampling or roots",
        });
      }
      assert.deepEqual((await call(connector, "echo", { a: 1 })).value, { a: 1 });
    });

    test("a changed list of tools is announced and fetched", async () => {
      await using connector = open();
      const before = (await connector.tools()).length;
      let heard = 0;
      connector.onToolsChanged(() => (heard += 1));
      await call(connector, "grow");
      await until(() => heard > 0);
      assert.deepEqual([heard, (await connector.tools()).length], [1, before + 1]);
    });

    test("a picture moves from the value to the attachments", async () => {
      await using connector = open();
      assert.deepEqual(await call(connector, "picture"), {
        value: [{ type: "image", mimeType: "image/png", bytes: 8 }],
        attachments: [{ path: [0], kind: "image", mimeType: "image/png", base64: "iVBORw0KGgo=" }],
      });
    });
  });
}

test("progress is passed to its listener cleaned, in order and at a limited rate", async () => {
  for (const [, open] of MODERN) {
    await using connector = open();
    assert.equal((await call(connector, "progress")).value, "no listener");
    const heard: CallProgress[] = [];
    const signal = AbortSignal.timeout(10_000);
    const options = { signal, onProgress: (progress: CallProgress) => void heard.push(progress) };
    const { value } = await connector.call("progress", { count: 200 }, options);
    assert.equal(value, "done");
    assert.deepEqual(heard[0], { done: 1, total: 200, message: "step 1" });
    assert.ok(heard.length < 100, `${heard.length} of 200 came through`);
  }
});

test("progress of the 2025 era is passed on too", async () => {
  await using connector = OPENERS["stdio, 2025-11-25"]?.() ?? assert.fail();
  const heard: CallProgress[] = [];
  const options = { signal: AbortSignal.timeout(10_000), onProgress: (one: CallProgress) => void heard.push(one) };
  await connector.call("trigger-long-running-operation", { duration: 0.6, steps: 3 }, options);
  assert.deepEqual(heard[0], { done: 1, total: 3 });
});

test("a cancelled call is cancelled at the server: over HTTP by closing its stream, over stdio by a message", async () => {
  await using remoteOne = connect(remote(http.url));
  await remoteOne.tools();
  await assert.rejects(remoteOne.call("wait", {}, { signal: AbortSignal.timeout(50) }), { code: "UPSTREAM_TIMEOUT" });
  await until(() => http.cancelled.length > 0);
  assert.deepEqual(http.cancelled, ["wait"]);
  await using childOne = connect(modernChild());
  await childOne.tools();
  await assert.rejects(childOne.call("wait", {}, { signal: AbortSignal.timeout(50) }), { code: "UPSTREAM_TIMEOUT" });
  await until(() => childOne.status().stderr !== undefined);
  assert.deepEqual(childOne.status().stderr, ["cancelled wait"]);
});

test("requests have headers for their method, their tool and the marked arguments", async () => {
  await using connector = connect(remote(http.url));
  await connector.tools();
  const before = http.seen.length;
  await call(connector, "header", { region: "Zürich", other: "x" });
  await call(connector, "header", { region: "eu-1" });
  await call(connector, "header", {});
  const common = { "mcp-method": "tools/call", "mcp-name": "header", "mcp-protocol-version": "2026-07-28" };
  assert.deepEqual(http.seen.slice(before), [
    { ...common, "mcp-param-region": `=?base64?${Buffer.from("Zürich").toString("base64")}?=` },
    { ...common, "mcp-param-region": "eu-1" },
    common,
  ]);
});

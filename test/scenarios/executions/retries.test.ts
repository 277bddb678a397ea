/**
 * A fault at every point of a program that writes three times, and the same request sent again with its key: no effect
 * happens twice, and `unknown` is reported for exactly the call whose response was lost.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { makeFolder, makeUntypedFolder, serveFor } from "../../fixtures/product.ts";

interface View {
  readonly execution: string;
  readonly state: string;
  readonly calls: readonly { readonly seq: number; readonly outcome: string }[];
  readonly error?: { readonly code: string; readonly message: string };
}

const CODE = `
const { at, before, after } = input;
for (const n of [1, 2, 3]) {
  try { await counting.add({ n, ...(n === at && { before, after }) }); } catch (error) { console.log(error.code); throw error; }
}
return "done";`;

function makeWorld(context: TestContext) {
  const folder = makeFolder(context);
  const file = join(folder, "effects");
  const args = [resolve("test/fixtures/servers/counting-server.mjs"), file];
  const mcpServers = { counting: { command: process.execPath, args } };
  const config = { mcpServers, sandbox: { limits: { callMs: 1_000 } } };
  const effects = (): string[] => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  return { folder: makeUntypedFolder(context, config), effects };
}

/** A gateway of its own for these requests, one after the other; `undefined` for one during which it died. */
async function sendAll(
  context: TestContext,
  folder: string,
  requests: readonly object[],
): Promise<readonly (View | undefined)[]> {
  const { mcp, child } = await serveFor(context, folder);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  const died = once(child, "close").then(() => undefined);
  const views: (View | undefined)[] = [];
  for (const request of requests) {
    const answer = client.callTool({ name: "execute", arguments: { ...request, detail: "full" } }).catch(() => died);
    views.push((await Promise.race([answer, died]))?.structuredContent as View | undefined);
  }
  child.kill("SIGKILL");
  await died;
  await client.close().catch(() => undefined);
  return views;
}

/** The upstream and the gateway continue after these, so one gateway has a fault in every call. */
const LOSSES = [
  { before: "lose", effect: false },
  { after: "lose", effect: true },
] as const;

/** The upstream or the gateway ends with these. */
const FAULTS = [
  { before: "die", effect: false, dies: false },
  { after: "die", effect: true, dies: false },
  { before: "kill", effect: false, dies: true },
  { after: "kill", effect: true, dies: true },
] as const;

/** The effects up to the fault in this call. */
const effectsUntil = (at: number, effect: boolean): string[] => ["1", "2", "3"].slice(0, effect ? at : at - 1);

function assertUnknown(view: View | undefined, at: number): void {
  assert.equal(view?.state, "failed");
  const outcomes = view.calls.map(({ seq, outcome }) => [seq, outcome]);
  const expected = [1, 2, 3].slice(0, at).map((seq) => [seq, seq === at ? "unknown" : "ok"]);
  assert.deepEqual(outcomes, expected);
}

describe("a request that is sent again with its idempotency key", { concurrency: 2 }, () => {
  for (const { effect, ...fault } of LOSSES) {
    test(`a retry after ${JSON.stringify(fault)} in any call repeats nothing and reports the unknown call`, async (context) => {
      const { folder, effects } = makeWorld(context);
      const places = [1, 2, 3];
      const requests = places.map((at) => ({ code: CODE, input: { at, ...fault }, idempotencyKey: `once ${at}` }));
      const first = await sendAll(context, folder, requests);
      const expected = places.flatMap((at) => effectsUntil(at, effect));
      assert.deepEqual(effects(), expected);
      assert.deepEqual(await sendAll(context, folder, requests), first);
      assert.deepEqual(effects(), expected);
      for (const at of places) assertUnknown(first[at - 1], at);
    });
  }

  for (const { effect, dies, ...fault } of FAULTS) {
    test(`a retry after ${JSON.stringify(fault)} in any call repeats nothing and reports the unknown call`, async (context) => {
      const { folder, effects } = makeWorld(context);
      const requests = [1, 2, 3].map((at) => ({ code: CODE, input: { at, ...fault }, idempotencyKey: `once ${at}` }));
      const expected: string[] = [];
      let first: View | undefined;
      // Each gateway repeats the request of the one before, and then has a fault in the next call.
      for (let at = 0; at <= requests.length; at += 1) {
        const views = await sendAll(context, folder, requests.slice(Math.max(0, at - 1), at + 1));
        if (at > 0) {
          const [second] = views;
          if (!dies) assert.deepEqual(second, first);
          assertUnknown(second, at);
          if (dies) assert.match(second?.error?.message ?? "", new RegExp(`counting\\.add \\(call ${at}\\)`));
        }
        if (at < requests.length) {
          first = views.at(-1);
          assert.equal(first === undefined, dies);
          expected.push(...effectsUntil(at + 1, effect));
        }
        assert.deepEqual(effects(), expected);
      }
    });
  }

  test("a retry after success returns the first result", async (context) => {
    const { folder, effects } = makeWorld(context);
    const request = { code: CODE, input: {}, idempotencyKey: "once" };
    const [first] = await sendAll(context, folder, [request]);
    assert.deepEqual([first?.state, effects()], ["completed", ["1", "2", "3"]]);
    const [again] = await sendAll(context, folder, [request, { ...request, idempotencyKey: "another" }]);
    assert.deepEqual(again, first);
    assert.deepEqual(effects(), ["1", "2", "3", "1", "2", "3"]);
  });
});

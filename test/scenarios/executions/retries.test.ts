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

/** One separate gateway for these requests, one after the other; `undefined` for one during which it died. */
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

async function send(context: TestContext, folder: string, request: object): Promise<View | undefined> {
  const [view] = await sendAll(context, folder, [request]);
  return view;
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
    for (const at of [1, 2, 3]) {
      test(`a retry after ${JSON.stringify(fault)} in call ${at} repeats nothing and reports the unknown call`, async (context) => {
        const { folder, effects } = makeWorld(context);
        const request = { code: CODE, input: { at, ...fault }, idempotencyKey: "once" };
        const first = await send(context, folder, request);
        assert.equal(first === undefined, dies);
        const second = await send(context, folder, request);
        if (first) assert.deepEqual(second, first);
        assert.deepEqual(effects(), effectsUntil(at, effect));
        assertUnknown(second, at);
        if (dies) assert.match(second?.error?.message ?? "", new RegExp(`counting\\.add \\(call ${at}\\)`));
      });
    }
  }

  test("a retry after success returns the first result", async (context) => {
    const { folder, effects } = makeWorld(context);
    const request = { code: CODE, input: {}, idempotencyKey: "once" };
    const first = await send(context, folder, request);
    assert.deepEqual([first?.state, effects()], ["completed", ["1", "2", "3"]]);
    assert.deepEqual(await send(context, folder, request), first);
    await send(context, folder, { ...request, idempotencyKey: "another" });
    assert.deepEqual(effects(), ["1", "2", "3", "1", "2", "3"]);
  });
});

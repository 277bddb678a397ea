/** Where the calls of an API may go: each policy of the API and of the operation must allow each step. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { NetworkPolicy, UpstreamNetwork } from "../../domain/index.ts";
import { openFakeApi } from "./fixtures/fake-api.ts";
import type { FakeApi } from "./fixtures/fake-api.ts";
import { createTestConnector } from "./fixtures/test-connector.ts";
import { readHostPort } from "../../config/schema/values/host-pattern.ts";

let api: FakeApi;
let files: FakeApi;
before(async () => {
  [api, files] = await Promise.all([openFakeApi(), openFakeApi()]);
  api.answers.set("GET /moved", { status: 302, headers: { location: `${files.origin}/there` } });
});
after(() => Promise.all([api[Symbol.asyncDispose](), files[Symbol.asyncDispose]()]));

const operation = (operationId: string): unknown => ({ operationId, responses: { 200: { description: "ok" } } });
const DOCUMENT = JSON.stringify({
  openapi: "3.1.0",
  paths: { "/stay": { get: operation("stay") }, "/moved": { get: operation("moved") } },
});

const BLOCKED: NetworkPolicy = { mode: "blocked" };
const allow = (...origins: readonly string[]): NetworkPolicy => ({
  mode: "allowed",
  hosts: [],
  grants: origins.flatMap((origin) => {
    const read = readHostPort(new URL(origin).host);
    return read.ok ? [read.value] : [];
  }),
});

/** The answer of both operations: the path that was finally reached, or the code of the refusal. */
async function callBoth(network?: UpstreamNetwork): Promise<readonly unknown[]> {
  const settings = {
    document: { kind: "file", path: "x" },
    baseUrl: api.origin,
    headers: { "x-key": "canary" },
  } as const;
  const connector = createTestConnector({ ...settings, ...(network && { network }) }, async () => DOCUMENT);
  const call = (name: string): Promise<unknown> =>
    connector.call(name, {}, { signal: AbortSignal.timeout(5000) }).then(
      ({ value }) => Object(value).url,
      (thrown: { readonly code?: string }) => thrown.code,
    );
  const answers = [await call("stay"), await call("moved")];
  await connector.close();
  return answers;
}

test("without a policy calls stay at the API's origin; with one they may be redirected to its hosts", async () => {
  assert.deepEqual(await callBoth(), ["/stay", "EGRESS_DENIED"]);
  assert.deepEqual(await callBoth({ policy: allow(api.origin, files.origin), tools: [] }), ["/stay", "/there"]);
  assert.deepEqual(await callBoth({ policy: allow(api.origin), tools: [] }), ["/stay", "EGRESS_DENIED"]);
  assert.deepEqual(await callBoth({ policy: BLOCKED, tools: [] }), ["EGRESS_DENIED", "EGRESS_DENIED"]);
  assert.ok(files.seen.length > 0 && files.seen.every(({ headers }) => headers["x-key"] === undefined));
});

test("an operation's policy, by name or by method and path, applies in addition to the API's", async () => {
  const both = allow(api.origin, files.origin);
  const tool = (pattern: string, policy: NetworkPolicy): UpstreamNetwork => ({
    policy: both,
    tools: [{ pattern, policy }],
  });
  assert.deepEqual(await callBoth(tool("mov*", allow(api.origin))), ["/stay", "EGRESS_DENIED"]);
  assert.deepEqual(await callBoth(tool("GET /stay", BLOCKED)), ["EGRESS_DENIED", "/there"]);
  assert.deepEqual(await callBoth(tool("*", both)), ["/stay", "/there"]);
  assert.deepEqual(await callBoth({ tools: [{ pattern: "moved", policy: both }] }), ["/stay", "/there"]);
});

test("the status names a pattern that matches no operation", async () => {
  const hintOf = async (pattern: string): Promise<string | undefined> => {
    const settings = { document: { kind: "file", path: "x" }, baseUrl: api.origin } as const;
    const network = { tools: [{ pattern, policy: BLOCKED }] };
    const connector = createTestConnector({ ...settings, network }, async () => DOCUMENT);
    await connector.tools();
    return connector.status().hint;
  };
  assert.match((await hintOf("mvoed")) ?? "", /^No operation matches mvoed/);
  assert.equal(await hintOf("moved"), undefined);
});

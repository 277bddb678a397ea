/** Where the `fetch` of an adapter's tools may go: to what every policy for the tool allows. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import type { Adapter, GloveboxError, HostPort, NetworkPolicy, UpstreamNetwork } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";
import { openFakeApi } from "../openapi/fixtures/fake-api.ts";
import type { FakeApi } from "../openapi/fixtures/fake-api.ts";
import { createAdapterConnector } from "./adapter-connector.ts";
import { defineAdapter } from "./define-adapter.ts";
import { parseAdapters } from "./parse-adapters.ts";
import { readHostPort } from "../../config/schema/values/host-pattern.ts";

let api: FakeApi;
before(async () => {
  api = await openFakeApi();
});
after(() => api[Symbol.asyncDispose]());

const ask = {
  description: "Asks.",
  input: { type: "object" },
  run: async (_: object, { fetch }: { readonly fetch: (url: string) => Promise<Response> }) =>
    (await fetch(`${api.origin}/x`)).status,
} as const;
const adapter = defineAdapter({ name: "it", tools: { readOne: ask, writeOne: ask } });

/** A public name that no resolver can answer for: a label has at most 63 characters. */
const askFar: typeof ask.run = (_, { fetch }) =>
  fetch(`http://${"x".repeat(64)}.example/`).then(
    ({ status }) => status,
    (thrown: Error) => Promise.reject(new Error(thrown.message)),
  );

async function call(tool: string, network?: UpstreamNetwork, from: Adapter = adapter): Promise<unknown> {
  const id = parseConnectorId("it");
  assert.ok(id !== undefined);
  await using egress = openEgress();
  const powers = { now: () => 5, clean: (text: string) => text, lend: () => Promise.reject(new Error("none")) };
  const connector = createAdapterConnector({ id, adapter: from, egress, ...powers, ...(network && { network }) });
  return await connector.call(tool, {}, { signal: AbortSignal.timeout(5000) }).then(
    ({ value }) => value,
    (thrown: GloveboxError) => (thrown.code === "UPSTREAM_FAILED" ? thrown.message.replace("it: ", "") : thrown.code),
  );
}

function granted(): NetworkPolicy {
  const read = readHostPort(new URL(api.origin).host);
  const grants: readonly HostPort[] = read.ok ? [read.value] : [];
  return { mode: "allowed", hosts: [], grants };
}

test("without a policy a tool's fetch may go nowhere; with one, to its hosts", async () => {
  assert.equal(await call("readOne"), "EGRESS_DENIED");
  const away = defineAdapter({ name: "it", tools: { go: { ...ask, run: askFar } } });
  assert.equal(await call("go", undefined, away), "The network policy blocks this request");
  assert.equal(await call("readOne", { policy: granted(), tools: [] }), 200);
  assert.equal(await call("readOne", { policy: { mode: "blocked" }, tools: [] }), "EGRESS_DENIED");
});

test("a tool's policy applies in addition to the adapter's, and alone if the adapter has none", async () => {
  const network: UpstreamNetwork = {
    policy: granted(),
    tools: [{ pattern: "write*", policy: { mode: "blocked" } }],
  };
  assert.deepEqual([await call("readOne", network), await call("writeOne", network)], [200, "EGRESS_DENIED"]);
  const alone = { tools: [{ pattern: "READone", policy: granted() }] };
  assert.deepEqual([await call("readOne", alone), await call("writeOne", alone)], [200, "EGRESS_DENIED"]);
  const closed = { policy: { mode: "blocked" }, tools: [{ pattern: "*", policy: granted() }] } as const;
  assert.equal(await call("readOne", closed), "EGRESS_DENIED");
});

test("a policy for an unknown tool is refused as CONFIG_INVALID", async () => {
  const parse = (pattern: string): Promise<unknown> =>
    parseAdapters(
      [
        {
          place: "adapters[0]",
          load: async () => adapter,
          pin: undefined,
          network: { tools: [{ pattern, policy: granted() }] },
        },
      ],
      [],
    );
  await assert.rejects(parse("wirteOne"), {
    code: "CONFIG_INVALID",
    message: 'adapters[0]: tools: no tool matches "wirteOne"',
  });
  await assert.doesNotReject(parse("writeOne"));
});

/** When clients are notified of changed tools: after changes, approvals and late listings, and at no other time. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { Connector, RemoteTool } from "../connectors/index.ts";
import { GloveboxError, parseConnectorId, parsePrincipalId } from "../domain/index.ts";
import type { UpstreamSettings } from "../domain/index.ts";
import { openStore } from "../store/index.ts";
import { openCatalog } from "./open-catalog.ts";
import { openHeldDefinitions } from "./pins/open-held.ts";
import { watchTools } from "./watch-tools.ts";

const certain = <Value>(value: Value | undefined): Value => value ?? assert.fail();
const ID = certain(parseConnectorId("a"));
const OPERATOR = {
  id: certain(parsePrincipalId("operator")),
  kind: "person",
  roles: ["operator"],
  groups: [],
} as const;
const clean = (text: string): string => text;
const tool = (name: string): RemoteTool => ({
  name,
  description: "Reads",
  input: { type: "object" },
  output: null,
  annotations: {},
});

/** A connector without a server: it returns what `answer` returns, and `announce` announces a change. */
function createUpstream(first: () => Promise<readonly RemoteTool[]>) {
  let announce = (): void => {};
  const upstream = { answer: first, announce: () => announce() };
  const connector: Connector = {
    id: ID,
    status: () => ({ name: ID, state: "ready", transport: "stdio", tools: 0, since: 1 }),
    tools: () => upstream.answer(),
    call: async () => ({ value: null, attachments: [] }),
    onToolsChanged: (listener) => {
      const before = announce;
      announce = () => [before, listener].forEach((one) => one());
      return () => {};
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return Object.assign(upstream, { connector });
}

async function open(
  context: TestContext,
  upstream: ReturnType<typeof createUpstream>,
  mode: UpstreamSettings["pins"]["usual"] = "first-use",
) {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const record = async (): Promise<void> => {};
  const connectors = [upstream.connector];
  const pins = { store: store.pins, record, modeOf: () => mode };
  const timeouts = { firstMs: 20, refreshMs: 20 };
  const catalog = openCatalog({ connectors, now: () => 5, clean, pins, timeouts });
  let word = "0";
  const watch = watchTools(catalog, connectors, { read: async () => word, everyMs: 5 });
  let heard = 0;
  watch.onToolsChanged(() => (heard += 1));
  context.after(async () => {
    await watch[Symbol.asyncDispose]();
    await catalog[Symbol.asyncDispose]();
    await store.close();
  });
  const held = openHeldDefinitions({
    store: store.pins,
    values: store.meta,
    record,
    clean,
    now: () => 9,
    onApproved: async () => undefined,
  });
  const approve = async (): Promise<void> => {
    await held.approve({ server: ID, tools: "all", principal: OPERATOR });
    word += "0";
  };
  /** How often listeners heard something by the time that everything is quiet: at least so often as is expected. */
  const count = async (expected: number): Promise<number> => {
    const hasHeard = (): boolean => heard >= expected;
    while (!hasHeard()) await wait(10);
    await wait(60);
    return heard;
  };
  return { catalog, approve, count, speak: () => (word += "0") };
}

test("watchTools notifies once when the tools differ from the first snapshot, and at no other time", async (context) => {
  const upstream = createUpstream(async () => [tool("x")]);
  const { catalog, count } = await open(context, upstream);
  await catalog.takeSnapshot();
  assert.equal(await count(0), 0);
  upstream.announce();
  assert.equal(await count(0), 0);
  upstream.answer = async () => [tool("x"), tool("y")];
  for (let times = 0; times < 5; times += 1) upstream.announce();
  assert.equal(await count(1), 1);
});

test("watchTools notifies when an approval in another process admits a tool", async (context) => {
  const { catalog, approve, count, speak } = await open(
    context,
    createUpstream(async () => [tool("x")]),
    "approve",
  );
  assert.equal((await catalog.takeSnapshot()).tools.size, 0);
  speak();
  assert.equal(await count(0), 0);
  await approve();
  assert.equal(await count(1), 1);
});

test("watchTools notifies when a server lists its tools late or after a failure", async (context) => {
  const late = Promise.withResolvers<readonly RemoteTool[]>();
  const upstream = createUpstream(() => late.promise);
  const { catalog, count } = await open(context, upstream);
  assert.equal((await catalog.takeSnapshot()).tools.size, 0);
  assert.equal(await count(0), 0);
  late.reject(new GloveboxError("UPSTREAM_UNREACHABLE", "It fell over"));
  assert.equal(await count(0), 0);
  upstream.answer = () => wait(40, [tool("x")]);
  upstream.announce();
  assert.equal(await count(1), 1);
});

/** The catalog over small connectors: what a snapshot contains, when it changes, and which servers it waits for. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Connector, RemoteTool } from "../connectors/index.ts";
import { parseConnectorId } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, UpstreamStatus } from "../domain/index.ts";
import { openStore } from "../store/index.ts";
import { openCatalog } from "./open-catalog.ts";
import type { ListingTimeouts } from "./follow-connector.ts";
import type { Catalog } from "./open-catalog.ts";

interface Upstream extends Connector {
  /** How often the list was asked for. */
  asked: number;
  /** How the next questions are answered. */
  answer: () => Promise<readonly RemoteTool[]>;
  state: UpstreamStatus["state"];
  since: number;
  announce(): void;
  readonly listeners: Set<() => void>;
}

const toolsOf = (...names: readonly string[]): readonly RemoteTool[] =>
  names.map((name) => ({ name, description: name, input: { type: "object" }, output: null, annotations: {} }));

function idOf(name: string): ConnectorId {
  const id = parseConnectorId(name);
  assert.ok(id);
  return id;
}

/** A connector without a server, with scripted listings. */
function createUpstream(name: string, tools: readonly RemoteTool[]): Upstream {
  const listeners = new Set<() => void>();
  const upstream: Upstream = {
    id: idOf(name),
    asked: 0,
    answer: async () => tools,
    state: "ready",
    since: 1,
    listeners,
    announce: () => listeners.forEach((listener) => listener()),
    status: (): UpstreamStatus => {
      return { name: upstream.id, state: upstream.state, transport: "stdio", tools: 0, since: upstream.since };
    },
    tools: () => {
      upstream.asked += 1;
      return upstream.answer();
    },
    call: async () => ({ value: null, attachments: [] }),
    onToolsChanged: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return upstream;
}

let time = 1;

/** With its own store in memory; every new tool is pinned at first use. */
async function open(...connectors: readonly Connector[]): Promise<Catalog> {
  return openWith({ firstMs: 40, refreshMs: 40 }, ...connectors);
}

async function openWith(timeouts: ListingTimeouts, ...connectors: readonly Connector[]): Promise<Catalog> {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const pins = { store: store.pins, record: async () => {}, modeOf: () => "first-use" as const };
  return openCatalog({ connectors, now: () => time, clean: (text) => text, timeouts, pins });
}

const addresses = (snapshot: CatalogSnapshot): readonly string[] => [...snapshot.tools.keys()];
const never = (): Promise<never> => new Promise(() => {});
const refuse = (): Promise<never> => Promise.reject(new Error("down"));

describe("a snapshot", () => {
  it("contains the tools of all servers under their addresses", async () => {
    const catalog = await open(
      createUpstream("git-hub", toolsOf("list_issues", "get")),
      createUpstream("files", toolsOf("read")),
    );
    const snapshot = await catalog.takeSnapshot();
    assert.deepEqual(addresses(snapshot), ["files.read", "gitHub.get", "gitHub.listIssues"]);
    assert.deepEqual(snapshot.namespaces, [
      { name: "files", connector: "files", summary: "1 tool of the server files", tools: ["read"] },
      { name: "gitHub", connector: "git-hub", summary: "2 tools of the server git-hub", tools: ["get", "listIssues"] },
    ]);
    assert.deepEqual([...snapshot.tools.values()][2]?.origin, {
      kind: "upstream",
      connector: "git-hub",
      remoteName: "list_issues",
    });
    assert.equal(snapshot.takenAt, 1);
  });
  it("a snapshot has a digest that depends on the tools, not on the order of servers and tools", async () => {
    const one = await open(createUpstream("a", toolsOf("x", "y")), createUpstream("b", toolsOf("z")));
    const other = await open(createUpstream("b", toolsOf("z")), createUpstream("a", toolsOf("y", "x")));
    const changed = await open(createUpstream("a", toolsOf("x", "y")), createUpstream("b", toolsOf("w")));
    const [first, second, third] = await Promise.all([one, other, changed].map((catalog) => catalog.takeSnapshot()));
    assert.equal(first?.digest, second?.digest);
    assert.notEqual(first?.digest, third?.digest);
  });
  it("reports omitted tools in the namespace and the status", async () => {
    const catalog = await open(createUpstream("a", [...toolsOf("x"), ...toolsOf("x")]));
    const { namespaces } = await catalog.takeSnapshot();
    const why = "another tool has the same name";
    assert.equal(namespaces[0]?.summary, `1 tool of the server a; 1 more left out: ${why}`);
    assert.deepEqual(catalog.statuses(), [
      {
        name: "a",
        state: "ready",
        transport: "stdio",
        tools: 1,
        since: 1,
        hint: `1 left out: x (${why}). Report this to the author of the server`,
      },
    ]);
  });
  it("reports in the status and for the tool what arguments are not checked by", async () => {
    const input = { type: "object", properties: { sku: { pattern: "^(?!x)" } } };
    const tools = ["a", "b", "c", "d"].map((name) => ({ ...toolsOf(name)[0], name, input }) as RemoteTool);
    const unchecked = ["pattern of sku: a lookahead"];
    const catalog = await open(createUpstream("some", [...tools, ...toolsOf("e")]));
    const listed = await catalog.takeSnapshot();
    assert.deepEqual(
      [...listed.tools.values()].map((tool) => tool.unchecked),
      [unchecked, unchecked, unchecked, unchecked, undefined],
    );
    assert.deepEqual(catalog.statuses()[0]?.findings, [
      ...["a", "b", "c"].map((name) => `arguments of ${name} are not checked by pattern of sku: a lookahead`),
      "arguments of 1 more tools are only checked in part",
    ]);
    const checked = await open(createUpstream("other", toolsOf("e")));
    await checked.takeSnapshot();
    assert.equal(checked.statuses()[0]?.findings, undefined);
  });
  it("keeps the name of a server while one with a similar name is down", async () => {
    const down = createUpstream("git_hub", []);
    down.answer = refuse;
    const catalog = await open(createUpstream("git-hub", toolsOf("x")), down);
    assert.match(addresses(await catalog.takeSnapshot()).join(), /^gitHub[0-9a-f]{6}\.x$/);
  });
});

describe("a new snapshot", () => {
  it("a new snapshot is taken only when a server announced an actual change", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const first = await catalog.takeSnapshot();
    assert.equal(await catalog.takeSnapshot(), first);
    assert.equal(upstream.asked, 1);
    upstream.announce();
    assert.equal(await catalog.takeSnapshot(), first);
    assert.equal(upstream.asked, 2);
    upstream.answer = async () => toolsOf("x", "y");
    upstream.announce();
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x", "a.y"]);
    assert.deepEqual(addresses(first), ["a.x"]);
  });
  it("a new snapshot is taken after a server reconnected, without waiting for it", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const first = await catalog.takeSnapshot();
    const { promise, resolve } = Promise.withResolvers<readonly RemoteTool[]>();
    upstream.answer = () => promise;
    upstream.since = 2;
    assert.equal(await catalog.takeSnapshot(), first);
    resolve(toolsOf("y"));
    await promise;
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.y"]);
  });
  it("a new snapshot is taken once for concurrent requests", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const [one, other] = await Promise.all([catalog.takeSnapshot(), catalog.takeSnapshot()]);
    assert.equal(one, other);
    assert.equal(upstream.asked, 1);
  });
});

describe("a server in trouble", () => {
  it("contributes nothing while it fails, and joins after it has recovered", async () => {
    const broken = createUpstream("b", toolsOf("y"));
    const { answer } = broken;
    broken.answer = refuse;
    broken.state = "failed";
    const catalog = await open(createUpstream("a", toolsOf("x")), broken);
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x"]);
    assert.deepEqual(catalog.statuses()[1]?.state, "failed");
    broken.answer = answer;
    await catalog.takeSnapshot();
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x", "b.y"]);
  });
  it("keeps its tools if it fails after a listing, because a call reconnects", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    await catalog.takeSnapshot();
    upstream.answer = refuse;
    upstream.state = "failed";
    await catalog.takeSnapshot();
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x"]);
  });
  it("a server in trouble is awaited once if it is slow, and joins when it answers", async () => {
    const late = createUpstream("b", []);
    const { promise, resolve } = Promise.withResolvers<readonly RemoteTool[]>();
    late.answer = () => promise;
    const catalog = await open(createUpstream("a", toolsOf("x")), late);
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x"]);
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x"]);
    assert.equal(late.asked, 1);
    resolve(toolsOf("y"));
    await promise;
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x", "b.y"]);
  });
  it("keeps its last listing if it never answers again", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const first = await catalog.takeSnapshot();
    upstream.answer = never;
    upstream.announce();
    assert.equal(await catalog.takeSnapshot(), first);
  });
  it("a server in trouble counts as failed if its connector throws instead of rejecting", async () => {
    const upstream = createUpstream("a", []);
    upstream.answer = () => {
      throw new Error("sync");
    };
    assert.deepEqual(addresses(await (await open(upstream)).takeSnapshot()), []);
  });
});

/** Longer than any test: what is awaited must not need it. */
const AGES = 600_000;

/** An upstream that is still starting, and the function that makes it ready. */
function createStarting(name: string, tools: readonly RemoteTool[]) {
  const upstream = createUpstream(name, []);
  const { promise, resolve } = Promise.withResolvers<readonly RemoteTool[]>();
  upstream.answer = () => promise;
  upstream.state = "connecting";
  return { upstream, finish: () => resolve(tools) };
}

describe("a server that is still starting", () => {
  it("does not delay a snapshot that needs no server or another one, and is started by it", async () => {
    const { upstream } = createStarting("b", toolsOf("y"));
    const catalog = await openWith({ firstMs: AGES, refreshMs: AGES }, createUpstream("a", toolsOf("x")), upstream);
    const { namespaces } = await catalog.takeSnapshot([]);
    assert.deepEqual(
      namespaces.map(({ name }) => name),
      ["a", "b"],
    );
    assert.equal(upstream.asked, 1);
    assert.deepEqual(addresses(await catalog.takeSnapshot(["a"])), ["a.x"]);
  });
  it("is awaited by a snapshot that needs it, and by one that needs all", async () => {
    for (const needed of [["b"], "all"] as const) {
      const { upstream, finish } = createStarting("b", toolsOf("y"));
      const catalog = await openWith({ firstMs: AGES, refreshMs: AGES }, createUpstream("a", toolsOf("x")), upstream);
      await catalog.takeSnapshot(["a"]);
      const taken = catalog.takeSnapshot(needed);
      finish();
      assert.deepEqual(addresses(await taken), ["a.x", "b.y"]);
    }
  });
  it("delays a snapshot of some servers for a short time only, while another is ready", async () => {
    const { upstream } = createStarting("b", toolsOf("y"));
    const catalog = await openWith({ firstMs: AGES, refreshMs: 20 }, createUpstream("a", toolsOf("x")), upstream);
    assert.deepEqual(addresses(await catalog.takeSnapshot("some")), ["a.x"]);
    assert.equal(catalog.statuses()[1]?.state, "connecting");
  });
  it("does not delay a snapshot of some servers that was asked long after its start", async () => {
    for (const [passedMs, expected] of [
      [AGES - 1, ["a.x", "b.y"]],
      [AGES, ["a.x"]],
    ] as const) {
      const { upstream, finish } = createStarting("b", toolsOf("y"));
      const catalog = await openWith({ firstMs: AGES, refreshMs: AGES }, createUpstream("a", toolsOf("x")), upstream);
      await catalog.takeSnapshot(["a"]);
      time += passedMs;
      const taken = catalog.takeSnapshot("some");
      if (passedMs < AGES) finish();
      assert.deepEqual(addresses(await taken), expected);
    }
  });
  it("joins a snapshot of some servers if it is ready soon", async () => {
    const { upstream, finish } = createStarting("b", toolsOf("y"));
    const catalog = await openWith({ firstMs: AGES, refreshMs: AGES }, createUpstream("a", toolsOf("x")), upstream);
    const taken = catalog.takeSnapshot("some");
    finish();
    assert.deepEqual(addresses(await taken), ["a.x", "b.y"]);
  });
  it("is awaited by a snapshot of some servers while no other is ready, with a limit", async () => {
    const one = createStarting("a", toolsOf("x"));
    const catalog = await openWith({ firstMs: AGES, refreshMs: 1 }, one.upstream);
    const taken = catalog.takeSnapshot("some");
    one.finish();
    assert.deepEqual(addresses(await taken), ["a.x"]);
    const never = await openWith({ firstMs: 40, refreshMs: AGES }, createStarting("b", []).upstream);
    assert.deepEqual(addresses(await never.takeSnapshot("some")), []);
  });
  it("is not awaited by a snapshot of some servers if the others have failed", async () => {
    const down = createUpstream("a", []);
    down.answer = refuse;
    const catalog = await openWith({ firstMs: AGES, refreshMs: 20 }, down);
    assert.deepEqual(addresses(await catalog.takeSnapshot("some")), []);
  });
});

describe("the catalog", () => {
  it("returns the connector of a tool", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const [tool] = (await catalog.takeSnapshot()).tools.values();
    assert.ok(tool);
    assert.equal(catalog.connectorOf(tool), upstream);
    const foreign = { ...tool, origin: { ...tool.origin, connector: idOf("other") } };
    assert.throws(() => catalog.connectorOf(foreign), TypeError);
  });
  it("removes its listeners when it is closed", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    assert.equal(upstream.listeners.size, 1);
    await catalog[Symbol.asyncDispose]();
    assert.equal(upstream.listeners.size, 0);
  });
  it("refuses two connectors with the same id", async () => {
    await assert.rejects(open(createUpstream("a", []), createUpstream("a", [])), TypeError);
  });
});

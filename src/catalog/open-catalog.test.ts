/** The catalog over small connectors: what a snapshot holds, when it is another one, and who is waited for. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Connector, RemoteTool } from "../connectors/index.ts";
import { parseConnectorId } from "../domain/index.ts";
import type { CatalogSnapshot, ConnectorId, UpstreamStatus } from "../domain/index.ts";
import { openStore } from "../store/index.ts";
import { openCatalog } from "./open-catalog.ts";
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

/** An upstream without a server: it answers as it is told. */
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

/** With a store of its own, in memory, and every new tool pinned at first sight. */
async function open(...connectors: readonly Connector[]): Promise<Catalog> {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const patience = { firstMs: 40, againMs: 40 };
  const pins = { store: store.pins, record: async () => {}, modeOf: () => "first-use" as const };
  return openCatalog({ connectors, now: () => 1, clean: (text) => text, patience, pins });
}

const addresses = (snapshot: CatalogSnapshot): readonly string[] => [...snapshot.tools.keys()];
const never = (): Promise<never> => new Promise(() => {});
const refuse = (): Promise<never> => Promise.reject(new Error("down"));

describe("a snapshot", () => {
  it("holds the tools of all servers under their addresses", async () => {
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
  it("has the same digest whatever the order of servers and tools, and another for other tools", async () => {
    const one = await open(createUpstream("a", toolsOf("x", "y")), createUpstream("b", toolsOf("z")));
    const other = await open(createUpstream("b", toolsOf("z")), createUpstream("a", toolsOf("y", "x")));
    const changed = await open(createUpstream("a", toolsOf("x", "y")), createUpstream("b", toolsOf("w")));
    const [first, second, third] = await Promise.all([one, other, changed].map((catalog) => catalog.takeSnapshot()));
    assert.equal(first?.digest, second?.digest);
    assert.notEqual(first?.digest, third?.digest);
  });
  it("says in the namespace and the status what was left out", async () => {
    const catalog = await open(createUpstream("a", [...toolsOf("x"), ...toolsOf("x")]));
    const { namespaces } = await catalog.takeSnapshot();
    const left = "1 more left out: malformed, repeated, too large or too many";
    assert.equal(namespaces[0]?.summary, `1 tool of the server a; ${left}`);
    assert.deepEqual(catalog.statuses(), [
      {
        name: "a",
        state: "ready",
        transport: "stdio",
        tools: 1,
        since: 1,
        hint: `${left}. Ask the author of this server to mend them`,
      },
    ]);
  });
  it("gives a server its name although another one with a like name is down", async () => {
    const down = createUpstream("git_hub", []);
    down.answer = refuse;
    const catalog = await open(createUpstream("git-hub", toolsOf("x")), down);
    assert.match(addresses(await catalog.takeSnapshot()).join(), /^gitHub[0-9a-f]{6}\.x$/);
  });
});

describe("a snapshot is taken anew", () => {
  it("only when a server announced a change that is one", async () => {
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
  it("when a server was connected again, without waiting for it", async () => {
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
  it("once for requests that come at the same time", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const [one, other] = await Promise.all([catalog.takeSnapshot(), catalog.takeSnapshot()]);
    assert.equal(one, other);
    assert.equal(upstream.asked, 1);
  });
});

describe("a server in trouble", () => {
  it("that fails contributes nothing, and joins when it has recovered", async () => {
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
  it("that fails after it has listed keeps its tools, since a call reconnects", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    await catalog.takeSnapshot();
    upstream.answer = refuse;
    upstream.state = "failed";
    await catalog.takeSnapshot();
    assert.deepEqual(addresses(await catalog.takeSnapshot()), ["a.x"]);
  });
  it("that is late is waited for once, and joins when it answers", async () => {
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
  it("that never answers again keeps its last list", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const first = await catalog.takeSnapshot();
    upstream.answer = never;
    upstream.announce();
    assert.equal(await catalog.takeSnapshot(), first);
  });
  it("that throws instead of rejecting is a failed one", async () => {
    const upstream = createUpstream("a", []);
    upstream.answer = () => {
      throw new Error("sync");
    };
    assert.deepEqual(addresses(await (await open(upstream)).takeSnapshot()), []);
  });
});

describe("the catalog", () => {
  it("knows the connector behind a tool", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    const [tool] = (await catalog.takeSnapshot()).tools.values();
    assert.ok(tool);
    assert.equal(catalog.connectorOf(tool), upstream);
    const foreign = { ...tool, origin: { ...tool.origin, connector: idOf("other") } };
    assert.throws(() => catalog.connectorOf(foreign), TypeError);
  });
  it("stops listening when it is closed", async () => {
    const upstream = createUpstream("a", toolsOf("x"));
    const catalog = await open(upstream);
    assert.equal(upstream.listeners.size, 1);
    await catalog.close();
    assert.equal(upstream.listeners.size, 0);
  });
  it("refuses two connectors with one id", async () => {
    await assert.rejects(open(createUpstream("a", []), createUpstream("a", [])), TypeError);
  });
});

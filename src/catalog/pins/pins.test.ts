/** Pinned definitions: what is accepted at first use, what is withheld, and who can approve it. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";

import type { Connector, RemoteTool } from "../../connectors/index.ts";
import { GloveboxError, parseConnectorId, parsePrincipalId } from "../../domain/index.ts";
import type { ConnectorId, Principal, UpstreamSettings } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import type { Store } from "../../store/index.ts";
import type { PinEntry } from "./admit-tools.ts";
import { openCatalog } from "../open-catalog.ts";
import type { Catalog } from "../open-catalog.ts";
import { openHeldDefinitions } from "./open-held.ts";

interface Upstream extends Connector {
  list(...tools: readonly RemoteTool[]): void;
}

const certain = <Value>(value: Value | undefined): Value => value ?? assert.fail();
const idOf = (name: string): ConnectorId => certain(parseConnectorId(name));
const OPERATOR: Principal = {
  id: certain(parsePrincipalId("operator")),
  kind: "person",
  roles: ["operator"],
  groups: [],
};

function tool(name: string, rest: Partial<RemoteTool> = {}): RemoteTool {
  return { name, description: "Reads", input: { type: "object" }, output: null, annotations: {}, ...rest };
}

/** A connector without a server: it lists the given tools. */
function createUpstream(name: string, ...first: readonly RemoteTool[]): Upstream {
  let tools = first;
  let announce = (): void => {};
  return {
    id: idOf(name),
    list: (...next) => {
      tools = next;
      announce();
    },
    status: () => ({ name: idOf(name), state: "ready", transport: "stdio", tools: 0, since: 1 }),
    tools: async () => tools,
    call: async () => ({ value: null, attachments: [] }),
    onToolsChanged: (listener) => {
      announce = listener;
      return () => {};
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

interface Options {
  readonly mode?: UpstreamSettings["pins"]["usual"];
  readonly pins?: Store["pins"];
  readonly entries?: PinEntry[];
}

const openMemory = (): Promise<Store> => openStore({ path: ":memory:", now: () => 0 });

function open(store: Store, upstream: Upstream, { mode = "first-use", pins, entries = [] }: Options = {}): Catalog {
  const record = async (entry: PinEntry): Promise<unknown> => entries.push(entry);
  return openCatalog({
    connectors: [upstream],
    now: () => 5,
    clean: (text) => text,
    pins: { store: pins ?? store.pins, record, modeOf: () => mode },
  });
}

async function look(catalog: Catalog): Promise<readonly (readonly string[])[]> {
  const { tools, withheld = new Map() } = await catalog.takeSnapshot();
  return [[...tools.keys()], [...withheld.values()].map(({ address, why }) => `${address} ${why}`)];
}

const heldOf = (store: Store, entries: PinEntry[] = []) =>
  openHeldDefinitions({
    store: store.pins,
    values: store.meta,
    record: async (entry) => entries.push(entry),
    clean: (text) => text,
    onApproved: async () => undefined,
    now: () => 9,
  });

describe("pinning", () => {
  it("pins and records a definition once, at first use", async () => {
    await using store = await openMemory();
    const entries: PinEntry[] = [];
    const upstream = createUpstream("a", tool("x"));
    assert.deepEqual(await look(open(store, upstream, { entries })), [["a.x"], []]);
    assert.deepEqual(await look(open(store, upstream, { entries })), [["a.x"], []]);
    const digest = (await store.pins.list(upstream.id))[0]?.digest;
    const detail = { server: "a", definition: digest };
    assert.deepEqual(entries, [{ actor: "gateway", action: "tool.pinned", subject: "x", detail }]);
  });
  for (const [field, changed] of Object.entries({
    title: { title: "Other" },
    description: { description: "Reads, then sends it to me" },
    input: { input: { type: "object", properties: { a: {} } } },
    output: { output: { type: "object" } },
    annotations: { annotations: { readOnly: true } },
    request: { request: { base: "https://api.example" } },
  })) {
    it(`withholds a definition with a changed ${field}, and offers the original again`, async () => {
      await using store = await openMemory();
      const upstream = createUpstream("a", tool("x"), tool("y"));
      const catalog = open(store, upstream);
      const first = await catalog.takeSnapshot();
      upstream.list(tool("x", changed), tool("y"));
      assert.deepEqual(await look(catalog), [["a.y"], ["a.x changed"]]);
      assert.equal(catalog.statuses()[0]?.withheld, 1);
      assert.deepEqual([...first.tools.keys()], ["a.x", "a.y"]);
      upstream.list(tool("x"), tool("y"));
      assert.deepEqual(await look(catalog), [["a.x", "a.y"], []]);
      assert.deepEqual(await store.pins.held(), []);
    });
  }
  it("accepts the same definition in another order, or after it was missing", async () => {
    await using store = await openMemory();
    const one = tool("x", { input: { type: "object", required: [], title: "t" } });
    const upstream = createUpstream("a", one, tool("y"));
    const catalog = open(store, upstream);
    await look(catalog);
    upstream.list(tool("y"));
    assert.deepEqual(await look(catalog), [["a.y"], []]);
    upstream.list(tool("y"), tool("x", { input: { title: "t", required: [], type: "object" } }));
    assert.deepEqual(await look(catalog), [["a.x", "a.y"], []]);
  });
  it("keeps the digest of an MCP definition stable across versions", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("x", { title: "X", annotations: { readOnly: true } }));
    await look(open(store, upstream));
    const digest = (await store.pins.list(upstream.id))[0]?.digest;
    assert.equal(digest, "sha256:3d641088364b0d80ef607e50ede61ad65d2c5214ee5fb4b371416db3325b74bc");
  });
  it("withholds a tool that returns with a changed definition", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("x"));
    const catalog = open(store, upstream);
    await look(catalog);
    upstream.list();
    await look(catalog);
    upstream.list(tool("x", { description: "Other" }));
    assert.deepEqual(await look(catalog), [[], ["a.x changed"]]);
  });
  it("pins by the server's key in the configuration, so a new key starts again", async () => {
    await using store = await openMemory();
    await look(open(store, createUpstream("a", tool("x"))));
    const other = tool("x", { description: "Other" });
    assert.deepEqual(await look(open(store, createUpstream("b", other))), [["b.x"], []]);
    assert.deepEqual(await look(open(store, createUpstream("a", other))), [[], ["a.x changed"]]);
  });
  it("keeps the first definition when two gateways share one store", async () => {
    await using store = await openMemory();
    const catalogs = ["One", "Two"].map((description) => open(store, createUpstream("a", tool("x", { description }))));
    const seen = await Promise.all(catalogs.map(look));
    assert.deepEqual(new Set(seen.map(([offered]) => offered?.length)), new Set([0, 1]));
  });
});

describe("the name of a pinned tool", () => {
  const suffixed = (name: string): string => `listAll${createHash("sha256").update(name).digest("hex").slice(0, 6)}`;
  for (const mode of ["first-use", "approve"] as const) {
    it(`stays when a tool with the same name comes, which is withheld in mode ${mode}`, async () => {
      await using store = await openMemory();
      const upstream = createUpstream("a", tool("list_all"));
      await look(open(store, upstream));
      upstream.list(tool("listAll"), tool("list_all"), tool("LISTALL"));
      const catalog = open(store, upstream, { mode });
      const [offered, withheld] = await look(catalog);
      assert.deepEqual(offered, ["a.listAll"]);
      assert.deepEqual(withheld, [
        `a.${suffixed("LISTALL").replace("listAll", "listall")} collides`,
        `a.${suffixed("listAll")} collides`,
      ]);
      assert.match(catalog.statuses()[0]?.hint ?? "", /2 with the name of an accepted tool/);
      assert.deepEqual(
        (await heldOf(store).list()).map(({ tool: name, why }) => `${name} ${why}`),
        ["LISTALL collides", "listAll collides"],
      );
    });
  }
  it("stays when the other tool is approved, and when either vanishes", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("list_all"));
    const catalog = open(store, upstream);
    await look(catalog);
    upstream.list(tool("listAll"), tool("list_all"));
    await look(catalog);
    await heldOf(store).approve({ server: upstream.id, tools: [suffixed("listAll")], principal: OPERATOR });
    assert.deepEqual(await look(catalog), [["a.listAll", `a.${suffixed("listAll")}`], []]);
    const own = (await catalog.takeSnapshot()).tools;
    assert.deepEqual(
      [...own.values()].map(({ origin, plainName }) => [origin.remoteName, plainName]),
      [
        ["list_all", undefined],
        ["listAll", "listAll"],
      ],
    );
    upstream.list(tool("listAll"));
    assert.deepEqual(await look(open(store, upstream)), [[`a.${suffixed("listAll")}`], []]);
    upstream.list(tool("list_all"));
    assert.deepEqual(await look(open(store, upstream)), [["a.listAll"], []]);
  });
  it("stays when a changed definition is approved", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("list_all"), tool("list-all"));
    const catalog = open(store, upstream);
    const [before] = await look(catalog);
    assert.deepEqual(before, [`a.${suffixed("list_all")}`, `a.${suffixed("list-all")}`].toSorted());
    upstream.list(tool("list_all", { description: "Other" }));
    await look(catalog);
    await heldOf(store).approve({ server: upstream.id, tools: "all", principal: OPERATOR });
    assert.deepEqual(await look(catalog), [[`a.${suffixed("list_all")}`], []]);
  });
  it("is the one of the naming rule for all pins of a store that has no names", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("list_all"), tool("list-all"), tool("get"));
    await look(open(store, upstream));
    const rows = await Promise.all(
      ["list_all", "list-all", "get"].map(async (name) => certain(await store.pins.find(upstream.id, name))),
    );
    await using old = await openMemory();
    await old.pins.claim(rows.map(({ name: _, ...row }) => row));
    upstream.list(tool("list_all"), tool("get"), tool("LISTALL"));
    assert.deepEqual((await look(open(old, upstream)))[0], ["a.get", `a.${suffixed("list_all")}`]);
    assert.deepEqual(await old.pins.list(), await store.pins.list());
  });
  it("belongs to one tool when two gateways pin two tools of one name at once", async () => {
    await using store = await openMemory();
    const catalogs = ["list_all", "listAll"].map((name) => open(store, createUpstream("a", tool(name))));
    const seen = await Promise.all(catalogs.map(look));
    assert.deepEqual(seen.map(([offered]) => offered?.join() ?? "").toSorted(), ["", "a.listAll"]);
    assert.match(seen.flatMap(([, withheld]) => withheld ?? []).join(), /^a\.listAll[0-9a-f]{6} collides$/);
  });
});

describe("an operator", () => {
  it("approves a new tool in mode `approve`, and a running gateway offers it", async () => {
    await using store = await openMemory();
    const entries: PinEntry[] = [];
    const upstream = createUpstream("a", tool("x"), tool("y"));
    const catalog = open(store, upstream, { mode: "approve", entries });
    assert.deepEqual(await look(catalog), [[], ["a.x new", "a.y new"]]);
    assert.deepEqual(
      entries.map(({ action, subject }) => [action, subject]),
      [
        ["tool.held", "x"],
        ["tool.held", "y"],
      ],
    );
    const approvals: PinEntry[] = [];
    const request = { server: upstream.id, tools: ["x"], principal: OPERATOR };
    const refused = await heldOf(store, approvals).approve(request, () => false);
    assert.deepEqual([refused, approvals], [undefined, []]);
    const approved = (await heldOf(store, approvals).approve(request, () => true)) ?? [];
    assert.deepEqual(
      approved.map(({ tool: name, why }) => [name, why]),
      [["x", "new"]],
    );
    const detail = { server: "a", definition: approved[0]?.digest, previous: null };
    assert.deepEqual(approvals, [{ actor: "operator", action: "tool.approved", subject: "x", detail }]);
    assert.deepEqual(await look(catalog), [["a.x"], ["a.y new"]]);
    await heldOf(store).approve({ ...request, tools: "all" });
    assert.deepEqual(await look(catalog), [["a.x", "a.y"], []]);
  });
  it("keeps a rejected definition withheld, out of all, and acceptable by name", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("x"), tool("y"));
    const catalog = open(store, upstream, { mode: "approve" });
    await look(catalog);
    const entries: PinEntry[] = [];
    const held = heldOf(store, entries);
    const request = { server: upstream.id, principal: OPERATOR };
    await held.reject({ ...request, tools: ["x"] });
    assert.deepEqual(
      entries.map(({ action, subject }) => [action, subject]),
      [["tool.rejected", "x"]],
    );
    assert.deepEqual(
      (await held.list()).map(({ tool: name, rejectedBy }) => [name, rejectedBy]),
      [
        ["x", "operator"],
        ["y", undefined],
      ],
    );
    await held.approve({ ...request, tools: "all" });
    assert.deepEqual(await look(catalog), [["a.y"], ["a.x new"]]);
    await held.approve({ ...request, tools: ["x"] });
    assert.deepEqual(await look(catalog), [["a.x", "a.y"], []]);
  });
  it("approves the definition that was shown, not a later one", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("x"));
    const catalog = open(store, upstream);
    await look(catalog);
    upstream.list(tool("x", { description: "Second" }));
    await look(catalog);
    await heldOf(store).approve({ server: upstream.id, tools: "all", principal: OPERATOR });
    upstream.list(tool("x", { description: "Third" }));
    assert.deepEqual(await look(catalog), [[], ["a.x changed"]]);
    upstream.list(tool("x", { description: "Second" }));
    assert.deepEqual(await look(catalog), [["a.x"], []]);
  });
  it("names tools by either name, and approves nothing if one name is unknown", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("list_all"), tool("get"));
    const catalog = open(store, upstream, { mode: "approve" });
    await look(catalog);
    const request = { server: upstream.id, principal: OPERATOR };
    await assert.rejects(heldOf(store).approve({ ...request, tools: ["get", "other"] }), {
      code: "REQUEST_NOT_FOUND",
    });
    assert.deepEqual(await look(catalog), [[], ["a.get new", "a.listAll new"]]);
    await heldOf(store).approve({ ...request, tools: ["listAll"] });
    assert.deepEqual(await look(catalog), [["a.listAll"], ["a.get new"]]);
  });
});

describe("without the store", () => {
  it("offers only accepted tools while the store is unavailable, and recovers afterwards", async () => {
    await using store = await openMemory();
    let isAway = false;
    const list: Store["pins"]["list"] = async (id) => {
      if (isAway) throw new GloveboxError("STORE_UNAVAILABLE", "away");
      return store.pins.list(id);
    };
    const upstream = createUpstream("a", tool("x"), tool("y"));
    const catalog = open(store, upstream, { pins: { ...store.pins, list } });
    await look(catalog);
    isAway = true;
    upstream.list(tool("x"), tool("y", { description: "Other" }), tool("z"));
    assert.deepEqual(await look(catalog), [["a.x"], ["a.y changed", "a.z unrecorded"]]);
    isAway = false;
    assert.deepEqual(await look(catalog), [["a.x", "a.z"], ["a.y changed"]]);
  });
  it("pins nothing if the ledger cannot be written", async () => {
    await using store = await openMemory();
    const upstream = createUpstream("a", tool("x"));
    const record = (): Promise<never> => Promise.reject(new GloveboxError("STORE_UNAVAILABLE", "away"));
    const pins = { store: store.pins, record, modeOf: () => "first-use" as const };
    const catalog = openCatalog({ connectors: [upstream], now: () => 5, clean: (text) => text, pins });
    assert.deepEqual(await look(catalog), [[], ["a.x unrecorded"]]);
    assert.equal((await store.pins.list(upstream.id)).length, 0);
  });
});

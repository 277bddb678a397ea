/** What each setting of `openapi` and `adapters` changes, observed with a local API that echoes its requests. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openFakeApi } from "../../src/connectors/openapi/fixtures/fake-api.ts";
import type { FakeApi } from "../../src/connectors/openapi/fixtures/fake-api.ts";
import { compare, outcomeOf, shareGlovebox, sideBySide, states, withGlovebox } from "../fixtures/observe-settings.ts";
import type { EntryPair, Observation } from "../fixtures/observe-settings.ts";

/** Between looks at the state of a server. */
const LOOK_MS = 20;

const operation = (operationId: string): unknown => ({ operationId, responses: { 200: { description: "ok" } } });

/** Two operations and a key; `names` makes two documents differ. */
const toDocument = (...names: readonly string[]): unknown => ({
  openapi: "3.1.0",
  servers: [{ url: "/" }],
  paths: Object.fromEntries(names.map((name) => [`/${name}`, { get: operation(name) }])),
  components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } },
});

const folder = mkdtempSync(join(tmpdir(), "glovebox-apis-"));
const write = (file: string, value: unknown): string => {
  writeFileSync(join(folder, file), JSON.stringify(value));
  return join(folder, file);
};
/** Declares a number where the API returns a string. */
const typedAnswer = { "application/json": { schema: { type: "object", properties: { url: { type: "number" } } } } };
const wrong = write("three.json", {
  openapi: "3.1.0",
  servers: [{ url: "/" }],
  paths: {
    "/first": { get: { operationId: "first", responses: { 200: { description: "ok", content: typedAnswer } } } },
  },
});
const [document, other] = [write("one.json", toDocument("first", "second")), write("two.json", toDocument("third"))];

let api: FakeApi | undefined;
after(async () => {
  await api?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Stands for the address of the API in the entries below, because its port is chosen when it opens. */
const baseUrl = "http://origin.example";

async function toConfig(): Promise<unknown> {
  api = await openFakeApi();
  api.answers.set("GET /slow.json", { silent: true });
  api.answers.set("GET /quick.json", { body: toDocument("first") });
  const openapi: unknown = JSON.parse(JSON.stringify(entries).replaceAll(baseUrl, api.origin));
  return { mcpServers: {}, openapi };
}

/** The tools of one API. */
const names: EntryPair["observe"] = async (name) =>
  (await (await open()).search({ query: "", server: name, limit: 9 })).tools
    .map((tool) => tool.name.split(".")[1] ?? "")
    .toSorted();

/** The state of one API; `null` if there is none. */
/** Once it is known: a server that connects has no state yet. */
const state: EntryPair["observe"] = async (name) => {
  const glovebox = await open();
  for (;;) {
    const { servers } = await glovebox.search({});
    const found = servers.find((server) => server.name === name)?.state ?? null;
    if (found !== "connecting") return found;
    await sleep(LOOK_MS);
  }
};

/** What the API echoes. */
const echoed =
  (part: string): EntryPair["observe"] =>
  async (name) =>
    outcomeOf(await (await open()).execute({ code: `return (await ${name}.first({})).${part}` }));

const KEY = 'headers["x-key"] ?? null';

const APIS: Readonly<Record<string, EntryPair>> = {
  pin: {
    observe: names,
    cases: [
      [{ document, baseUrl, pin: "approve" }, []],
      [{ document, baseUrl, pin: "first-use" }, ["first", "second"]],
    ],
  },
  validate: {
    observe: echoed("url"),
    cases: [
      [{ document: wrong, baseUrl }, "/first"],
      [{ document: wrong, baseUrl, validate: "error" }, "UPSTREAM_RESULT_INVALID"],
    ],
  },
  document: {
    observe: names,
    cases: [
      [{ document, baseUrl }, ["first", "second"]],
      [{ document: other, baseUrl }, ["third"]],
    ],
  },
  baseUrl: {
    observe: echoed("url"),
    cases: [
      [{ document, baseUrl }, "/first"],
      [{ document, baseUrl: `${baseUrl}/v2/` }, "/v2/first"],
    ],
  },
  headers: {
    observe: echoed(KEY),
    cases: [
      [{ document, baseUrl }, null],
      [{ document, baseUrl, headers: { "X-Key": "abc" } }, "abc"],
    ],
  },
  auth: {
    observe: echoed(KEY),
    cases: [
      [{ document, baseUrl }, null],
      [{ document, baseUrl, auth: { key: "abc" } }, "abc"],
    ],
  },
  include: {
    observe: names,
    cases: [
      [{ document, baseUrl, include: ["GET /second"] }, ["second"]],
      [{ document, baseUrl, include: ["f*"] }, ["first"]],
    ],
  },
  exclude: {
    observe: names,
    cases: [
      [{ document, baseUrl, exclude: ["second"] }, ["first"]],
      [{ document, baseUrl, exclude: ["* /first"] }, ["second"]],
    ],
  },
  startupTimeoutMs: {
    observe: state,
    cases: [
      [{ document: `${baseUrl}/slow.json`, startupTimeoutMs: 100 }, "failed"],
      [{ document: `${baseUrl}/quick.json`, startupTimeoutMs: 9000 }, "ready"],
    ],
  },
  disabled: {
    observe: state,
    cases: [
      [{ document, baseUrl, disabled: true }, null],
      [{ document, baseUrl, disabled: false }, "ready"],
    ],
  },
};

const { entries, observations } = sideBySide("openapi.*", APIS);
const open = shareGlovebox(toConfig);

const toolCount: Observation = (config) =>
  withGlovebox(config, async (glovebox) => (await glovebox.search({})).tools.length);

/** An entry for every path below `openapi` and `adapters`. */
export const API_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  ...observations,
  adapters: compare(
    states,
    [{ mcpServers: {}, adapters: [] }, []],
    [{ mcpServers: {}, adapters: [resolve("examples/adapter/library-desk.ts")] }, ["ready"]],
  ),
  "adapters[].module": compare(
    states,
    [{ mcpServers: {}, adapters: [] }, []],
    [{ mcpServers: {}, adapters: [{ module: resolve("examples/adapter/library-desk.ts") }] }, ["ready"]],
  ),
  "adapters[].pin": compare(
    toolCount,
    [{ mcpServers: {}, adapters: [{ module: resolve("examples/adapter/library-desk.ts"), pin: "approve" }] }, 0],
    [{ mcpServers: {}, adapters: [{ module: resolve("examples/adapter/library-desk.ts"), pin: "first-use" }] }, 2],
  ),
};

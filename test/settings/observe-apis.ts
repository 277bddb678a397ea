/** What each setting of `openapi` and `adapters` changes, observed with a local API that echoes its requests. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { openFakeApi } from "../../src/connectors/openapi/fixtures/fake-api.ts";
import { compare, run, states, withGlovebox } from "../fixtures/observe-settings.ts";
import type { Case, Observation } from "../fixtures/observe-settings.ts";

const operation = (operationId: string): unknown => ({ operationId, responses: { 200: { description: "ok" } } });

/** Two operations and a key; `names` makes two documents differ. */
const toDocument = (...names: readonly string[]): unknown => ({
  openapi: "3.1.0",
  servers: [{ url: "/" }],
  paths: Object.fromEntries(names.map((name) => [`/${name}`, { get: operation(name) }])),
  components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } },
});

interface ApiFiles {
  readonly origin: string;
  /** A path that the configuration can use. */
  readonly document: string;
  readonly other: string;
}

/** Compares two entries of `openapi`, with files that are removed afterwards. */
function compareApis(observe: Observation, make: (files: ApiFiles) => readonly [Case, Case]): () => Promise<void> {
  return async () => {
    await using api = await openFakeApi();
    const folder = mkdtempSync(join(tmpdir(), "glovebox-apis-"));
    const write = (file: string, value: unknown): string => {
      writeFileSync(join(folder, file), JSON.stringify(value));
      return join(folder, file);
    };
    const files = {
      origin: api.origin,
      document: write("one.json", toDocument("first", "second")),
      other: write("two.json", toDocument("third")),
    };
    api.answers.set("GET /slow.json", { silent: true });
    api.answers.set("GET /quick.json", { body: toDocument("first") });
    const [[one, seenOne], [two, seenTwo]] = make(files);
    const toConfig = (entry: unknown): unknown => ({ mcpServers: {}, openapi: { api: entry } });
    try {
      await compare(observe, [toConfig(one), seenOne], [toConfig(two), seenTwo])();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

const names: Observation = (config) =>
  withGlovebox(config, async (glovebox) => (await glovebox.search({})).tools.map(({ name }) => name).toSorted());

const toolCount: Observation = async (config) => {
  const found = await names(config);
  return Array.isArray(found) ? found.length : found;
};

const KEY = 'return (await api.first({})).headers["x-key"] ?? null';

/** An entry for every path below `openapi` and `adapters`. */
export const API_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
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
  "openapi.*.pin": compareApis(names, ({ origin, document }) => [
    [{ document, baseUrl: origin, pin: "approve" }, []],
    [{ document, baseUrl: origin, pin: "first-use" }, ["api.first", "api.second"]],
  ]),
  "openapi.*.document": compareApis(names, ({ origin, document, other }) => [
    [{ document, baseUrl: origin }, ["api.first", "api.second"]],
    [{ document: other, baseUrl: origin }, ["api.third"]],
  ]),
  "openapi.*.baseUrl": compareApis(run("return (await api.first({})).url"), ({ origin, document }) => [
    [{ document, baseUrl: origin }, "/first"],
    [{ document, baseUrl: `${origin}/v2/` }, "/v2/first"],
  ]),
  "openapi.*.headers": compareApis(run(KEY), ({ origin, document }) => [
    [{ document, baseUrl: origin }, null],
    [{ document, baseUrl: origin, headers: { "X-Key": "abc" } }, "abc"],
  ]),
  "openapi.*.auth": compareApis(run(KEY), ({ origin, document }) => [
    [{ document, baseUrl: origin }, null],
    [{ document, baseUrl: origin, auth: { key: "abc" } }, "abc"],
  ]),
  "openapi.*.include": compareApis(names, ({ origin, document }) => [
    [{ document, baseUrl: origin, include: ["GET /second"] }, ["api.second"]],
    [{ document, baseUrl: origin, include: ["f*"] }, ["api.first"]],
  ]),
  "openapi.*.exclude": compareApis(names, ({ origin, document }) => [
    [{ document, baseUrl: origin, exclude: ["second"] }, ["api.first"]],
    [{ document, baseUrl: origin, exclude: ["* /first"] }, ["api.second"]],
  ]),
  "openapi.*.startupTimeoutMs": compareApis(states, ({ origin }) => [
    [{ document: `${origin}/slow.json`, startupTimeoutMs: 100 }, ["failed"]],
    [{ document: `${origin}/quick.json`, startupTimeoutMs: 9000 }, ["ready"]],
  ]),
  "openapi.*.disabled": compareApis(states, ({ origin, document }) => [
    [{ document, baseUrl: origin, disabled: true }, []],
    [{ document, baseUrl: origin, disabled: false }, ["ready"]],
  ]),
};

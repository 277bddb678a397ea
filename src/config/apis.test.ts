/** The settings of APIs and adapters: paths, references, adapter objects, and name conflicts. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSettings } from "./parse-settings.ts";
import type { Settings } from "./settings.ts";

const parse = (config: unknown): Settings => parseSettings(config, { folder: "/srv/app" }, { REGION: "eu" });

const problem = (config: unknown): string => {
  try {
    parse(config);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
};

test("an entry of openapi becomes settings with absolute paths, expanded variables and secret references", () => {
  const full = {
    document: "./docs/${REGION}.yaml",
    baseUrl: "https://${REGION}.example.com/v1",
    headers: { "X-Region": "${REGION}", Authorization: "Bearer ${secret:TOKEN}" },
    auth: { key: "${secret:KEY}" },
    include: ["list*"],
    exclude: ["DELETE *"],
    startupTimeoutMs: 5,
  };
  const { apis } = parse({ openapi: { full, short: { document: "https://h/o.json" } } });
  assert.deepEqual(Object.fromEntries(apis), {
    full: {
      document: { kind: "file", path: "/srv/app/docs/eu.yaml" },
      baseUrl: "https://eu.example.com/v1",
      headers: { "X-Region": ["eu"], Authorization: ["Bearer ", { secret: "TOKEN" }] },
      auth: { key: [{ secret: "KEY" }] },
      include: ["list*"],
      exclude: ["DELETE *"],
      network: { tools: [] },
      startMs: 5,
    },
    short: {
      document: { kind: "url", url: "https://h/o.json" },
      baseUrl: undefined,
      headers: {},
      auth: {},
      include: [],
      exclude: [],
      network: { tools: [] },
      startMs: 30_000,
    },
  });
});

test("problems in an entry of openapi are reported without values that may be secret", () => {
  const wrong = (entry: object): string => problem({ openapi: { api: entry } });
  const document = "a.yaml";
  assert.equal(
    wrong({}),
    "configuration openapi.api.document: expected a string of 1 or more characters; found nothing",
  );
  assert.equal(
    wrong({ document: "ftp://h/a.yaml" }),
    "configuration openapi.api.document: expected a path, or an http or https URL without user name and password",
  );
  assert.match(wrong({ document: "https://user:hunter2@h/a.yaml" }), /^(?!.*hunter2).*without user name and password$/);
  assert.match(
    wrong({ document, baseUrl: "hunter2" }),
    /^(?!.*hunter2)configuration openapi\.api\.baseUrl: expected an http/,
  );
  assert.match(wrong({ document, headers: { "a b": "c" } }), /not a valid name for an entry of headers$/);
  assert.match(wrong({ document, auth: { key: "a\nb" } }), /contains a line break or NUL character/);
  assert.match(wrong({ document, include: [] }), /openapi\.api\.include/);
  assert.equal(wrong({ document: "C:/docs/a.yaml", headers: { "a-b": "c" }, auth: { "my key": "c" } }), "");
});

test("two upstreams cannot have the same name unless one is disabled", () => {
  const openapi = { same: { document: "a.yaml" } };
  const message = "configuration openapi.same: an entry of mcpServers has the same name; use different names";
  assert.equal(problem({ mcpServers: { same: { command: "a" } }, openapi }), message);
  assert.equal(problem({ mcpServers: { other: { command: "a" } }, openapi }), "");
  assert.equal(problem({ mcpServers: { same: { command: "a", disabled: true } }, openapi }), "");
  assert.equal(
    problem({ mcpServers: { same: { command: "a" } }, openapi: { same: { disabled: true, wrong: 1 } } }),
    "",
  );
});

test("an adapter object is passed on without being copied or frozen", async () => {
  const adapter = { kind: "glovebox.adapter", name: "a", tools: {}, run: () => 1 };
  const { adapters } = parse({ adapters: [adapter, "./b.ts"] });
  assert.deepEqual(
    adapters.map(({ place }) => place),
    ["adapters[0]", "adapters[1]"],
  );
  assert.equal(await adapters[0]?.load(), adapter);
  assert.equal(Object.isFrozen(adapter), false);
  await assert.rejects(async () => adapters[1]?.load(), { code: "ERR_MODULE_NOT_FOUND" });
});

test("an adapter and a module can set their own pin", async () => {
  const adapter = { kind: "glovebox.adapter", name: "a", tools: {} };
  const { adapters } = parse({ adapters: [{ module: adapter, pin: "approve" }, { module: "./b.ts" }, "./c.ts"] });
  assert.deepEqual(
    adapters.map(({ pin }) => pin),
    ["approve", undefined, undefined],
  );
  assert.equal(await adapters[0]?.load(), adapter);
  await assert.rejects(async () => adapters[1]?.load(), { code: "ERR_MODULE_NOT_FOUND" });
  assert.match(problem({ adapters: [{ module: "./b.ts", pim: "approve" }] }), /pim: unknown key; did you mean "pin"\?/);
  assert.match(problem({ adapters: [{ pin: "approve" }] }), /adapters\[0\]\.module: expected a string/);
  assert.match(problem({ adapters: [{ module: "a", pin: "x" }] }), /\.pin: expected one of "first-use", "approve"/);
});

test("an API can set its own pin", () => {
  const { pins } = parse({ openapi: { a: { document: "a.json", pin: "approve" }, b: { document: "b.json" } } });
  assert.deepEqual([...pins.byServer], [["a", "approve"]]);
});

test("an entry of adapters must be a path or an object", () => {
  assert.match(problem({ adapters: [5] }), /adapters\[0\]: expected a string/);
  assert.match(problem({ adapters: [""] }), /adapters\[0\]: expected a string/);
  assert.match(problem({ adapters: { a: 1 } }), /adapters: expected an array/);
  assert.match(problem({ adapters: [() => 1] }), /adapters\[0\]: expected a JSON value, found a function/);
});

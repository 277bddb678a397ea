/** What a configuration becomes: defaults, paths, every setting, and a frozen result. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS, defined } from "../domain/index.ts";
import { FOLDER, parse, refusal } from "./fixtures/parse.ts";
import { defineConfig, parseSettings } from "./index.ts";
import { builtinSettings } from "./to-settings.ts";

const DEFAULTS = {
  source: { kind: "object" },
  folder: FOLDER,
  upstreams: new Map(),
  lenient: new Set(),
  pins: { usual: "first-use", byServer: new Map() },
  apis: new Map(),
  adapters: [],
  sandbox: {
    engine: "auto",
    isolation: "auto",
    concurrency: 5,
    queue: 100,
    limits: { ...DEFAULT_LIMITS },
    networkPolicy: { mode: "blocked" },
    secrets: new Map(),
  },
  egress: { proxy: undefined },
  analysis: { enabled: true, blockOnError: true, types: "error", typeCheck: "beside", rules: {} },
  policy: {
    profile: "balanced",
    rules: [],
    groups: new Map(),
    effects: new Map(),
    flows: "ask",
    labels: [],
    labelMs: 14_400_000,
  },
  profiles: new Map(),
  quotas: {
    executionsPerMinute: 60,
    executionMsPerHour: 1_800_000,
    concurrentExecutions: 0,
    costPerDay: 0,
    session: { executionsPerMinute: 0, executionMsPerHour: 0, concurrentExecutions: 0, costPerDay: 0 },
    total: { executionsPerMinute: 0, executionMsPerHour: 0, concurrentExecutions: 0, costPerDay: 0 },
    rates: [],
    prices: new Map(),
  },
  catalog: { learn: true, searchTokens: 600, describeTokens: 4_000 },
  audit: { previews: false, exports: [] },
  ledger: { retention: {} },
  metrics: { enabled: false },
  traces: { enabled: false, endpoint: undefined, headers: {} },
  anomalies: { enabled: false },
  store: { path: ":memory:", minFreeBytes: 268_435_456, durability: "default" },
  expose: "code",
  clients: { patienceMs: 45_000 },
  output: { escapeHtml: false },
  results: { keepMs: 86_400_000, totalBytes: 268_435_456 },
  executions: { keepMs: 2_592_000_000, totalBytes: 1_073_741_824 },
  approvals: {
    expiryMs: 604_800_000,
    graceMs: 20_000,
    evidenceMs: 300,
    evidenceRounds: 4,
    elicitation: true,
    separate: false,
    fourEyes: false,
    showArguments: "all",
    notify: { desktop: false },
  },
  journal: { keepMs: 604_800_000, totalBytes: 1_073_741_824, executionBytes: 67_108_864 },
  skills: { overMcp: false },
  server: {
    host: "127.0.0.1",
    port: 4747,
    auth: "local",
    allowedHosts: [],
    trustedProxies: [],
    sessions: {},
    oidc: new Map(),
  },
};

test("an empty configuration has every default", () => {
  assert.deepEqual(parse({}), DEFAULTS);
});

test("builtinSettings returns the defaults with the given upstreams", () => {
  const { upstreams } = parse({ mcpServers: { demo: { command: "demo" } } });
  assert.deepEqual(builtinSettings(upstreams, FOLDER), { ...DEFAULTS, source: { kind: "builtin" }, upstreams });
});

test("parseSettings throws a TypeError for a relative folder", () => {
  assert.throws(() => parseSettings({}, { folder: "app" }, {}), TypeError);
  assert.throws(() => builtinSettings(new Map(), "app"), TypeError);
});

test("the path of the file is the origin of its settings", () => {
  const settings = parseSettings({}, { folder: FOLDER, path: "/srv/app/glovebox.config.json" }, {});
  assert.deepEqual(settings.source, { kind: "file", path: "/srv/app/glovebox.config.json" });
});

test("every setting of a configuration is in the settings", () => {
  const config = defineConfig({
    $schema: "./glovebox.schema.json",
    sandbox: {
      engine: "isolate",
      isolation: "strict",
      concurrency: 2,
      queue: 0,
      limits: { wallMs: 5000, calls: 7 },
      networkPolicy: { mode: "allowed", domains: ["a.example"] },
    },
    egress: { proxy: "http://proxy.lan:3128" },
    analysis: {
      enabled: false,
      blockOnError: false,
      types: "warn",
      typeCheck: "before",
      rules: { "no-eval": "off", "no-unawaited-call": "error" },
    },
    policy: {
      profile: "strict",
      rules: [],
      file: "rules.jsonc",
      groups: { a: ["b"] },
      effects: { "x.*": "read" },
      flows: "ask",
      labels: [{ tools: ["a.*"], remove: ["external"] }],
      labelHours: 0.5,
    },
    profiles: { reader: { servers: ["files"], effects: ["read"] } },
    quotas: {
      costPerDay: 1.5,
      total: { executionsPerMinute: 9 },
      rates: [{ tools: ["x.*"], calls: 2 }],
      prices: { "*": 0.1 },
    },
    catalog: { learn: false, searchTokens: 700, describeTokens: 5_000 },
    audit: {
      previews: true,
      export: [
        { kind: "file", path: "ledger.jsonl" },
        { kind: "syslog", url: "udp://[::1]:514" },
        { kind: "otlp", url: "https://logs.example.com/v1/logs", headers: { "X-Key": "${secret:K}" } },
      ],
    },
    ledger: { retention: { days: 30, records: 1_000 } },
    metrics: { enabled: true },
    traces: { enabled: true, endpoint: "https://h/o", headers: { K: "v" } },
    anomalies: { enabled: true, webhook: { url: "https://h/a", secret: "a${secret:K}" } },
    store: { url: "sqlite:data/records.db", minFreeBytes: 7, durability: "always" },
    expose: "both",
    clients: { patienceMs: 20_000 },
    output: { escapeHtml: true },
    results: { keepMs: 1, totalBytes: 2 },
    executions: { keepMs: 60_000, totalBytes: 1_048_576 },
    approvals: {
      expiryMs: 3,
      graceMs: 4,
      evidenceMs: 5,
      evidenceRounds: 6,
      elicitation: false,
      separate: true,
      fourEyes: true,
      showArguments: "reviewers",
      notify: { desktop: true, webhook: { url: "https://h/n", secret: "b${secret:K}", format: "slack" } },
    },
    journal: { keepMs: 5, totalBytes: 6, executionBytes: 7 },
    skills: { folder: "approved", overMcp: true },
    server: { host: "::1", port: 0 },
  });
  assert.deepEqual(parse(config), {
    ...DEFAULTS,
    sandbox: {
      engine: "isolate",
      isolation: "strict",
      concurrency: 2,
      queue: 0,
      limits: { ...DEFAULT_LIMITS, wallMs: 5000, calls: 7 },
      networkPolicy: { mode: "allowed", hosts: [{ name: "a.example", isBelow: false, port: null }], grants: [] },
      secrets: DEFAULTS.sandbox.secrets,
    },
    egress: { proxy: "http://proxy.lan:3128" },
    analysis: {
      enabled: false,
      blockOnError: false,
      types: "warn",
      typeCheck: "before",
      rules: { "no-eval": "off", "no-unawaited-call": "error" },
    },
    policy: {
      profile: "strict",
      rules: [],
      flows: "ask",
      labels: [{ tools: ["a.*"], add: [], remove: ["external"] }],
      labelMs: 1_800_000,
      file: "/srv/app/rules.jsonc",
      groups: new Map([["a", ["b"]]]),
      effects: new Map([["x.*", "read"]]),
    },
    profiles: new Map([["reader", { servers: ["files"], effects: ["read"] }]]),
    quotas: {
      ...DEFAULTS.quotas,
      costPerDay: 1.5,
      total: { ...DEFAULTS.quotas.total, executionsPerMinute: 9 },
      rates: [{ tools: ["x.*"], calls: 2, windowMs: 60_000, per: "principal" }],
      prices: new Map([["*", 0.1]]),
    },
    catalog: { learn: false, searchTokens: 700, describeTokens: 5_000 },
    audit: {
      previews: true,
      exports: [
        { kind: "file", id: "file:/srv/app/ledger.jsonl", path: "/srv/app/ledger.jsonl" },
        { kind: "syslog", id: "syslog:udp://[::1]:514", transport: "udp", host: "::1", port: 514 },
        {
          kind: "otlp",
          id: "otlp:https://logs.example.com/v1/logs",
          url: "https://logs.example.com/v1/logs",
          headers: { "X-Key": [{ secret: "K" }] },
        },
      ],
    },
    ledger: { retention: { days: 30, records: 1_000 } },
    metrics: { enabled: true },
    traces: { enabled: true, endpoint: "https://h/o", headers: { K: ["v"] } },
    anomalies: { enabled: true, webhook: { url: "https://h/a", secret: ["a", { secret: "K" }] } },
    store: { path: "/srv/app/data/records.db", minFreeBytes: 7, durability: "always" },
    expose: "both",
    clients: { patienceMs: 20_000 },
    output: { escapeHtml: true },
    results: { keepMs: 1, totalBytes: 2 },
    executions: { keepMs: 60_000, totalBytes: 1_048_576 },
    approvals: {
      expiryMs: 3,
      graceMs: 4,
      evidenceMs: 5,
      evidenceRounds: 6,
      elicitation: false,
      separate: true,
      fourEyes: true,
      showArguments: "reviewers",
      notify: { desktop: true, webhook: { url: "https://h/n", secret: ["b", { secret: "K" }], format: "slack" } },
    },
    journal: { keepMs: 5, totalBytes: 6, executionBytes: 7 },
    skills: { folder: "/srv/app/approved", overMcp: true },
    server: {
      host: "::1",
      port: 0,
      auth: "local",
      allowedHosts: [],
      trustedProxies: [],
      sessions: {},
      oidc: new Map(),
    },
  });
});

test("the default store is in the state folder, named after the folder and the real path", () => {
  const state = { folder: "/state/glovebox" };
  const storeOf = (config: unknown, folder: string, realPath?: string): unknown => {
    const {
      minFreeBytes: _,
      durability: _durability,
      ...store
    } = parseSettings(config, { folder, state: { ...state, ...defined({ realPath }) } }, {}).store;
    return store;
  };
  const shared = { stateFolder: "/state/glovebox" };
  // printf /srv/app | sha256sum; printf /data/work/glovebox.config.json | sha256sum
  const [own, linked] = ["app-dae668e4084f", "work-a2627179c468"];
  const former = "/srv/app/.glovebox/glovebox.db";
  assert.deepEqual(storeOf({}, "/srv/app"), { path: `/state/glovebox/${own}/glovebox.db`, ...shared, former });
  assert.deepEqual(storeOf({}, "/srv/app", "/data/work/glovebox.config.json"), {
    path: `/state/glovebox/${linked}/glovebox.db`,
    ...shared,
    former,
  });
  assert.deepEqual(storeOf({ store: { url: "sqlite:./.glovebox/glovebox.db" } }, "/srv/app"), {
    path: former,
    ...shared,
  });
});

test("the folder of the default store has a safe name for every working folder", () => {
  const nameOf = (folder: string): string => {
    const { path } = parseSettings({}, { folder, state: { folder: "/s" } }, {}).store;
    assert.match(path, /^\/s\/[^/]+-[0-9a-f]{12}\/glovebox\.db$/);
    return path.slice("/s/".length, -"-0123456789ab/glovebox.db".length);
  };
  assert.equal(nameOf("/"), "root");
  assert.equal(nameOf("/a/..b"), "b");
  assert.equal(nameOf("/a/My Project (2)\n"), "My-Project--2--");
  assert.equal(nameOf("/a/Gärten"), "Gärten");
  assert.equal(nameOf(`/a/${"😀x".repeat(200)}`), "-x".repeat(20));
});

test("a store can be in memory or at an absolute path", () => {
  assert.deepEqual(parse({ store: { url: "sqlite::memory:" } }).store.path, ":memory:");
  assert.deepEqual(parse({ store: { url: "sqlite:/var/lib/g.db" } }).store.path, "/var/lib/g.db");
});

test("inherited keys of a configuration are ignored", () => {
  const inherited: unknown = Object.create({ server: { port: 1 } });
  assert.equal(refusal(inherited), "configuration (top level): expected a JSON value, found an instance of a class");
  assert.deepEqual(parseSettings(Object.assign(Object.create(null), {}), { folder: FOLDER }, {}), DEFAULTS);
});

test("a getter of a configuration is called once", () => {
  let reads = 0;
  const server = {
    get port() {
      reads += 1;
      return reads;
    },
  };
  assert.equal(parse({ server }).server.port, 1);
});

test("a value that is not a configuration is refused by its kind", () => {
  const cycle: { sandbox?: unknown } = {};
  cycle.sandbox = cycle;
  assert.equal(refusal(Promise.resolve({})), "configuration (top level): expected a JSON value, found a Promise");
  assert.equal(
    refusal(() => ({})),
    "configuration (top level): expected a JSON value, found a function",
  );
  assert.equal(refusal(undefined), "configuration (top level): expected a JSON value, found nothing");
  assert.equal(refusal(null), "configuration (top level): expected an object; found null");
  assert.equal(refusal([]), "configuration (top level): expected an object; found an empty array");
  assert.equal(refusal({ server: { port: undefined } }), "accepted");
  assert.match(refusal(cycle), /nested deeper than 32 levels/);
});

test("settings are frozen at every level", () => {
  const settings = parse({
    mcpServers: { a: { command: "a", args: ["x"], env: { A: "1" } } },
    policy: { rules: [{ decision: "deny" }] },
  });
  const seen = new Set<unknown>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    assert.ok(Object.isFrozen(value), JSON.stringify(value));
    for (const child of value instanceof Map ? value.values() : Object.values(value)) walk(child);
  };
  walk(settings);
  assert.ok(seen.size > 10);
  const { upstreams } = settings;
  assert.ok(upstreams instanceof Map);
  assert.throws(() => upstreams.set("b", 1), TypeError);
  assert.throws(() => upstreams.delete("a"), TypeError);
  assert.throws(() => upstreams.clear(), TypeError);
  assert.deepEqual([...upstreams.keys()], ["a"]);
});

test("builtinSettings are frozen, and the given map is not", () => {
  const given = new Map(parse({ mcpServers: { a: { command: "a" } } }).upstreams);
  const { upstreams } = builtinSettings(given, FOLDER);
  given.clear();
  assert.deepEqual([...upstreams.keys()], ["a"]);
  assert.ok(upstreams instanceof Map);
  assert.throws(() => upstreams.clear(), TypeError);
});

test("each kind of export requires its keys and refuses others", () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ kind: "file" }, /audit\.export\[0\]: expected path/],
    [{ kind: "syslog", path: "a" }, /audit\.export\[0\]: expected url/],
    [{ kind: "file", path: "a", url: "udp://h:1" }, /audit\.export\[0\]\.url: has no effect with this kind/],
    [{ kind: "syslog", url: "https://h" }, /audit\.export\[0\]\.url: not a valid URL for "syslog"/],
    [{ kind: "otlp", url: "tcp://h:1" }, /audit\.export\[0\]\.url: not a valid URL for "otlp"/],
    [{ kind: "syslog", url: "tcp://h" }, /audit\.export\[0\]\.url: expected tcp:\/\//],
    [{ kind: "otlp", url: "https://u:p@h" }, /audit\.export\[0\]\.url: expected tcp:\/\//],
    [{ kind: "otlp", url: "https://h", headers: { "a b": "c" } }, /headers\["a b"\]/],
  ];
  for (const [entry, message] of wrong)
    assert.throws(() => parseSettings({ audit: { export: [entry] } }, { folder: "/" }, {}), message);
});

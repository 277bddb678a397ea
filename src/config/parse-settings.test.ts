/** What a configuration becomes: defaults, upstreams, rules, paths, and a result that nobody can change. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_LIMITS } from "../domain/index.ts";
import { builtinSettings, defineConfig, parseSettings } from "./index.ts";
import type { GloveboxConfig, Settings } from "./index.ts";

const FOLDER = "/srv/app";
const DEFAULTS = {
  source: { kind: "object" },
  folder: FOLDER,
  upstreams: new Map(),
  pins: { usual: "first-use", byServer: new Map() },
  apis: new Map(),
  adapters: [],
  sandbox: {
    engine: "isolate",
    isolation: "auto",
    concurrency: 5,
    queue: 100,
    limits: { ...DEFAULT_LIMITS },
    networkPolicy: { mode: "blocked" },
    secrets: new Map(),
  },
  egress: { proxy: undefined },
  analysis: { enabled: true, blockOnError: true, types: "error", rules: {} },
  policy: { profile: "balanced", rules: [], groups: new Map(), effects: new Map(), flows: "ask", labels: [] },
  quotas: {
    executionsPerMinute: 60,
    executionMsPerHour: 1_800_000,
    concurrentExecutions: 0,
    costPerDay: 0,
    total: { executionsPerMinute: 0, executionMsPerHour: 0, concurrentExecutions: 0, costPerDay: 0 },
    rates: [],
    prices: new Map(),
  },
  catalog: { learn: true },
  audit: { previews: false, exports: [] },
  ledger: { retention: {} },
  metrics: { enabled: false },
  traces: { enabled: false, endpoint: undefined, headers: {} },
  anomalies: { enabled: false },
  store: { path: "/srv/app/.glovebox/glovebox.db" },
  expose: "code",
  clients: { patienceMs: 45_000 },
  output: { escapeHtml: false },
  results: { keepMs: 86_400_000, totalBytes: 268_435_456 },
  approvals: { expiryMs: 604_800_000, graceMs: 20_000, elicitation: true },
  journal: { keepMs: 604_800_000, totalBytes: 1_073_741_824, executionBytes: 67_108_864 },
  server: { host: "127.0.0.1", port: 4747 },
};

function parse(config: GloveboxConfig, environment: Readonly<Record<string, string>> = {}): Settings {
  return parseSettings(config, { folder: FOLDER }, environment);
}

function refusal(config: unknown): string {
  try {
    parseSettings(config, { folder: FOLDER }, {});
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.message;
  }
  return "accepted";
}

test("an empty configuration has every default", () => {
  assert.deepEqual(parse({}), DEFAULTS);
});

test("the builtin settings are the defaults with the given upstreams", () => {
  const { upstreams } = parse({ mcpServers: { demo: { command: "demo" } } });
  assert.deepEqual(builtinSettings(upstreams, FOLDER), { ...DEFAULTS, source: { kind: "builtin" }, upstreams });
});

test("a folder that is not absolute is a mistake of the program, not of the configuration", () => {
  assert.throws(() => parseSettings({}, { folder: "app" }, {}), TypeError);
  assert.throws(() => builtinSettings(new Map(), "app"), TypeError);
});

test("the path of the file is the origin of its settings", () => {
  const settings = parseSettings({}, { folder: FOLDER, path: "/srv/app/glovebox.config.json" }, {});
  assert.deepEqual(settings.source, { kind: "file", path: "/srv/app/glovebox.config.json" });
});

test("every setting that is given arrives", () => {
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
    },
    quotas: {
      costPerDay: 1.5,
      total: { executionsPerMinute: 9 },
      rates: [{ tools: ["x.*"], calls: 2 }],
      prices: { "*": 0.1 },
    },
    catalog: { learn: false },
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
    store: { url: "sqlite:data/records.db" },
    expose: "both",
    clients: { patienceMs: 20_000 },
    output: { escapeHtml: true },
    results: { keepMs: 1, totalBytes: 2 },
    approvals: { expiryMs: 3, graceMs: 4, elicitation: false },
    journal: { keepMs: 5, totalBytes: 6, executionBytes: 7 },
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
      rules: { "no-eval": "off", "no-unawaited-call": "error" },
    },
    policy: {
      profile: "strict",
      rules: [],
      flows: "ask",
      labels: [{ tools: ["a.*"], add: [], remove: ["external"] }],
      file: "/srv/app/rules.jsonc",
      groups: new Map([["a", ["b"]]]),
      effects: new Map([["x.*", "read"]]),
    },
    quotas: {
      ...DEFAULTS.quotas,
      costPerDay: 1.5,
      total: { ...DEFAULTS.quotas.total, executionsPerMinute: 9 },
      rates: [{ tools: ["x.*"], calls: 2, windowMs: 60_000, per: "principal" }],
      prices: new Map([["*", 0.1]]),
    },
    catalog: { learn: false },
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
    store: { path: "/srv/app/data/records.db" },
    expose: "both",
    clients: { patienceMs: 20_000 },
    output: { escapeHtml: true },
    results: { keepMs: 1, totalBytes: 2 },
    approvals: { expiryMs: 3, graceMs: 4, elicitation: false },
    journal: { keepMs: 5, totalBytes: 6, executionBytes: 7 },
    server: { host: "::1", port: 0 },
  });
});

test("a store may be in memory or at an absolute path", () => {
  assert.deepEqual(parse({ store: { url: "sqlite::memory:" } }).store, { path: ":memory:" });
  assert.deepEqual(parse({ store: { url: "sqlite:/var/lib/g.db" } }).store, { path: "/var/lib/g.db" });
});

test("a server with a command is started, with its folder and its secrets left as references", () => {
  const env = { TOKEN: "Bearer ${secret:API_KEY}", HOME: "${HOME}", EMPTY: "" };
  const server = { type: "stdio", command: "npx", args: ["-y", "${PKG:-files}"], env, cwd: "sub" } as const;
  const { upstreams } = parse({ mcpServers: { "my files": server } }, { HOME: "/home/me" });
  const expected = {
    transport: "stdio",
    command: "npx",
    args: ["-y", "files"],
    env: { TOKEN: ["Bearer ", { secret: "API_KEY" }], HOME: ["/home/me"], EMPTY: [] },
    cwd: "/srv/app/sub",
    startMs: 30_000,
    start: "eager",
  };
  assert.deepEqual([...upstreams], [["my files", expected]]);
});

test("a server with a url is reached over HTTP under every name that clients give the transport", () => {
  const url = "https://mcp.example.com/mcp";
  const headers = { "X-Key": [{ secret: "K" }] };
  const oauth = { scopes: [], grants: [] };
  const expected = { transport: "http", url, headers, oauth, network: { tools: [] }, startMs: 1000, start: "lazy" };
  for (const type of ["http", "streamable-http", "streamableHttp", undefined] as const) {
    const server = { type, url, headers: { "X-Key": "${secret:K}" }, startupTimeoutMs: 1000, start: "lazy" as const };
    assert.deepEqual([...parse({ mcpServers: { remote: server } }).upstreams.values()], [expected]);
  }
});

test("a url is a server of the old SSE transport only when the type says so, and a command never is", () => {
  const url = "https://example.com/sse";
  const transportOf = (type: "sse" | undefined): unknown =>
    parse({ mcpServers: { old: { type, url } } })
      .upstreams.values()
      .next().value?.transport;
  assert.deepEqual([transportOf("sse"), transportOf(undefined)], ["sse", "http"]);
  assert.equal(
    refusal({ mcpServers: { old: { type: "sse", command: "x" } } }),
    'configuration mcpServers.old.type: "sse" needs url, but command is given; leave type out',
  );
});

test("a disabled server is left out, however broken it is, and an enabled one is not", () => {
  const broken = { type: "carrier-pigeon", url: "${MISSING}" };
  const mcpServers = { on: { command: "a", disabled: false }, off: { ...broken, disabled: true } };
  assert.deepEqual([...parseSettings({ mcpServers }, { folder: FOLDER }, {}).upstreams.keys()], ["on"]);
  assert.notEqual(refusal({ mcpServers: { off: broken } }), "accepted");
});

test("rules get ids by their place, a reason, and empty lists for what they leave open", () => {
  const { policy } = parse({
    policy: {
      rules: [
        { decision: "deny" },
        { id: "no-writes", decision: "ask", tools: ["*", "github.*", "git.push"], effects: ["write"], reason: "Ask" },
        { decision: "allow", effects: ["unknown", "read", "destroy"] },
      ],
    },
  });
  assert.deepEqual(policy.rules, [
    { id: "rule-1", decision: "deny", tools: [], effects: [], reason: "Rule rule-1 of the configuration says deny" },
    { id: "no-writes", decision: "ask", tools: ["*", "github.*", "git.push"], effects: ["write"], reason: "Ask" },
    {
      id: "rule-3",
      decision: "allow",
      tools: [],
      effects: ["unknown", "read", "destroy"],
      reason: "Rule rule-3 of the configuration says allow",
    },
  ]);
});

function sharedId(id: string): string {
  return `configuration policy.rules[1].id: another rule has the id "${id}"; give each its own`;
}

test("two rules with one id are refused, a given id against a default one too", () => {
  const twice = { decision: "deny", id: "a" };
  assert.equal(refusal({ policy: { rules: [twice, twice] } }), sharedId("a"));
  assert.equal(
    refusal({ policy: { rules: [{ decision: "deny", id: "rule-2" }, { decision: "ask" }] } }),
    sharedId("rule-2"),
  );
  assert.equal(refusal({ policy: { rules: [twice, { ...twice, id: "b" }] } }), "accepted");
});

test("an empty list of tools is refused, because it would match every tool", () => {
  assert.equal(
    refusal({ policy: { rules: [{ decision: "allow", tools: [] }] } }),
    "configuration policy.rules[0].tools: expected a list of 1 or more entries; found an empty list",
  );
});

test("a server called constructor is a server, and one called __proto__ is refused", () => {
  assert.deepEqual([...parse({ mcpServers: { constructor: { command: "a" } } }).upstreams.keys()], ["constructor"]);
  const text = '{ "mcpServers": { "__proto__": { "command": "a" } } }';
  const message = "configuration mcpServers.__proto__: this name cannot be used; choose another";
  assert.equal(refusal(JSON.parse(text)), message);
  assert.equal(
    refusal(JSON.parse('{ "__proto__": { "server": { "port": 1 } } }')),
    "configuration __proto__: this name cannot be used; choose another",
  );
  assert.equal(Object.hasOwn(Object.prototype, "command"), false);
});

test("inherited keys do not count", () => {
  const inherited: unknown = Object.create({ server: { port: 1 } });
  assert.equal(refusal(inherited), "configuration (top level): expected a plain value, found an instance of a class");
  assert.deepEqual(parseSettings(Object.assign(Object.create(null), {}), { folder: FOLDER }, {}), DEFAULTS);
});

test("a getter is read once", () => {
  let reads = 0;
  const server = {
    get port() {
      reads += 1;
      return reads;
    },
  };
  assert.deepEqual(parse({ server }).server, { host: "127.0.0.1", port: 1 });
});

test("values that are no configuration are named by their kind", () => {
  const cycle: { sandbox?: unknown } = {};
  cycle.sandbox = cycle;
  assert.equal(refusal(Promise.resolve({})), "configuration (top level): expected a plain value, found a Promise");
  assert.equal(
    refusal(() => ({})),
    "configuration (top level): expected a plain value, found a function",
  );
  assert.equal(refusal(undefined), "configuration (top level): expected a plain value, found nothing");
  assert.equal(refusal(null), "configuration (top level): expected an object; found null");
  assert.equal(refusal([]), "configuration (top level): expected an object; found an empty list");
  assert.equal(refusal({ server: { port: undefined } }), "accepted");
  assert.match(refusal(cycle), /nested deeper than 32 levels/);
});

test("a change of labels adds or removes some", () => {
  const labels = (entry: object): string => refusal({ policy: { labels: [{ tools: ["a.*"], ...entry }] } });
  assert.equal(labels({ add: ["private"] }), "accepted");
  assert.equal(labels({ remove: ["external"] }), "accepted");
  assert.match(labels({}), /^configuration policy\.labels\[0\]: expected add or remove/);
  assert.match(labels({ add: ["secret"] }), /^configuration policy\.labels\[0\]\.add\[0\]: expected one of "private"/);
  assert.match(labels({ add: [] }), /add: expected a list of 1 or more entries/);
  assert.match(labels({ tools: ["git*"], add: ["private"] }), /tools\[0\]: expected "\*", "namespace\.\*"/);
});

test("settings are frozen at every depth", () => {
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

test("the builtin settings are frozen too, and the map that was given is not", () => {
  const given = new Map(parse({ mcpServers: { a: { command: "a" } } }).upstreams);
  const { upstreams } = builtinSettings(given, FOLDER);
  given.clear();
  assert.deepEqual([...upstreams.keys()], ["a"]);
  assert.ok(upstreams instanceof Map);
  assert.throws(() => upstreams.clear(), TypeError);
});

test("each kind of export needs its own keys, and takes no other", () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ kind: "file" }, /audit\.export\[0\]: expected path/],
    [{ kind: "syslog", path: "a" }, /audit\.export\[0\]: expected url/],
    [{ kind: "file", path: "a", url: "udp://h:1" }, /audit\.export\[0\]\.url: has no effect with this kind/],
    [{ kind: "syslog", url: "https://h" }, /audit\.export\[0\]\.url: is no address for "syslog"/],
    [{ kind: "otlp", url: "tcp://h:1" }, /audit\.export\[0\]\.url: is no address for "otlp"/],
    [{ kind: "syslog", url: "tcp://h" }, /audit\.export\[0\]\.url: expected tcp:\/\//],
    [{ kind: "otlp", url: "https://u:p@h" }, /audit\.export\[0\]\.url: expected tcp:\/\//],
    [{ kind: "otlp", url: "https://h", headers: { "a b": "c" } }, /headers\["a b"\]/],
  ];
  for (const [entry, message] of wrong)
    assert.throws(() => parseSettings({ audit: { export: [entry] } }, { folder: "/" }, {}), message);
});

/** References in strings: what they become, what is refused, and that nothing is expanded twice. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { expandText } from "./expand-references.ts";
import { parseSettings } from "./index.ts";

const ENVIRONMENT = { HOME: "/home/me", EMPTY: "", SLY: "${secret:K}${HOME}$${" };

function expand(text: string): unknown {
  const { parts, problems } = expandText(text, ENVIRONMENT);
  return problems.length > 0 ? problems : parts;
}

function unset(name: string): string[] {
  return [`the environment variable ${name} is not set; set it, or write \${${name}:-default}`];
}

test("expandText splits a string into variables, defaults, secrets and escapes", () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ["", []],
    ["plain $HOME $ { } }", ["plain $HOME $ { } }"]],
    ["${HOME}", ["/home/me"]],
    ["a${HOME}b${HOME}", ["a/home/meb/home/me"]],
    ["${EMPTY}", []],
    ["${EMPTY:-x}", ["x"]],
    ["${NOPE:-}", []],
    ["${NOPE:-a:-b\n$c}", ["a:-b\n$c"]],
    ["${HOME:-x}", ["/home/me"]],
    ["${secret:API_KEY}", [{ secret: "API_KEY" }]],
    ["a${secret:A}${secret:B}${HOME}", ["a", { secret: "A" }, { secret: "B" }, "/home/me"]],
    ["$${HOME}", ["${HOME}"]],
    ["$$${HOME}", ["$${HOME}"]],
    ["$${", ["${"]],
    ["${SLY}", ["${secret:K}${HOME}$${"]],
  ];
  for (const [text, expected] of cases) assert.deepEqual(expand(text), expected, text);
});

test("an invalid reference is refused with the correct syntax", () => {
  const shape = ["expected ${VAR}, ${VAR:-default} or ${secret:NAME}; write $${ for a literal ${"];
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["${NOPE}", unset("NOPE")],
    ["${constructor}", unset("constructor")],
    ["${__proto__}", unset("__proto__")],
    ["${home}", unset("home")],
    ["${A}${B}", [...unset("A"), ...unset("B")]],
    ["${}", shape],
    ["${env:HOME}", shape],
    ["${1A}", shape],
    ["${A-B}", shape],
    ["${ HOME }", shape],
    ["${HOME", ["a reference that starts with ${ has no closing }; write $${ for a literal ${"]],
    ["${A:-${HOME}}", ["references cannot be nested"]],
    ["${secret:}", ["expected a secret name of letters, digits and underscores, as in ${secret:API_KEY}"]],
    ["${secret:a-b}", ["expected a secret name of letters, digits and underscores, as in ${secret:API_KEY}"]],
  ];
  for (const [text, expected] of cases) assert.deepEqual(expand(text), expected, text);
});

test("a string with every ${ escaped expands to itself", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("$", "{", "}", "${", "a", ":-", "secret:", "\n"), { maxLength: 20 }),
      (pieces) => {
        const text = pieces.join("");
        const escaped = text.replaceAll("${", () => "$${");
        assert.deepEqual(expandText(escaped, {}), { parts: text === "" ? [] : [text], problems: [] });
      },
    ),
  );
});

test("the value of a variable is never expanded again", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("$", "{", "}", "A", "secret:", ":-") }), (value) => {
      assert.deepEqual(expandText("<${A}>", { A: value }).parts, [`<${value}>`]);
    }),
  );
});

test("references work in every string of the configuration", () => {
  const config = {
    mcpServers: { a: { command: "${X}", args: ["${X}"], cwd: "${X}" }, b: { url: "https://${X}/" } },
    policy: { profile: "${P}", rules: [{ decision: "${D}", tools: ["${X}.*"], reason: "${X}" }] },
    store: { url: "sqlite:${X}.db" },
    server: { host: "${H}" },
  };
  const settings = parseSettings(config, { folder: "/f" }, { X: "x", P: "open", D: "ask", H: "::1" });
  assert.deepEqual(
    [...settings.upstreams.values()],
    [
      {
        transport: "stdio",
        command: "x",
        args: ["x"],
        env: {},
        cwd: "/f/x",
        folders: [{ key: "cwd", path: "/f/x" }],
        startMs: 30_000,
        start: "eager",
      },
      {
        transport: "http",
        url: "https://x/",
        headers: {},
        oauth: { scopes: [], grants: [] },
        network: { tools: [] },
        startMs: 30_000,
        start: "eager",
      },
    ],
  );
  assert.deepEqual(settings.policy, {
    profile: "open",
    rules: [{ id: "rule-1", decision: "ask", tools: ["x.*"], effects: [], reason: "x" }],
    groups: new Map(),
    effects: new Map(),
    flows: "allow",
    labels: [],
    labelMs: 14_400_000,
  });
  assert.deepEqual([settings.store.path, settings.server.host], ["/f/x.db", "::1"]);
});

test("a secret is allowed only in env, headers and auth of an upstream, in headers of an export, and for the webhook", () => {
  const secret = "${secret:K}";
  const places =
    "in env, headers, auth and oauth.clientSecret of an upstream, in headers of an export, in traces.headers, in egress.proxyPassword, in clientSecret of server.oidc, and in the secret of anomalies.webhook and approvals.notify.webhook";
  const refused: readonly (readonly [string, object])[] = [
    ["anomalies.webhook.url", { anomalies: { webhook: { url: `https://h/${secret}`, secret } } }],
    ["approvals.notify.webhook.url", { approvals: { notify: { webhook: { url: `https://h/${secret}` } } } }],
    ["traces.endpoint", { traces: { endpoint: `https://h/${secret}` } }],
    ["mcpServers.a.command", { mcpServers: { a: { command: secret } } }],
    ["mcpServers.a.args[0]", { mcpServers: { a: { command: "a", args: [secret] } } }],
    ["mcpServers.a.cwd", { mcpServers: { a: { command: "a", cwd: secret } } }],
    ["mcpServers.a.url", { mcpServers: { a: { url: `https://h/${secret}` } } }],
    ["openapi.a.document", { openapi: { a: { document: secret } } }],
    ["openapi.a.baseUrl", { openapi: { a: { document: "a", baseUrl: `https://h/${secret}` } } }],
    ["openapi.a.include[0]", { openapi: { a: { document: "a", include: [secret] } } }],
    ["policy.rules[0].reason", { policy: { rules: [{ decision: "deny", reason: secret }] } }],
    ["store.url", { store: { url: `sqlite:${secret}` } }],
    ["audit.export[0].path", { audit: { export: [{ kind: "file", path: secret }] } }],
    ["audit.export[0].url", { audit: { export: [{ kind: "otlp", url: `https://h/${secret}` }] } }],
    ["server.host", { server: { host: secret } }],
  ];
  for (const [key, config] of refused) {
    assert.throws(() => parseSettings(config, { folder: "/" }, {}), {
      message: `configuration ${key}: \${secret:NAME} is allowed only ${places}`,
    });
  }
  const allowed = { a: { command: "a", env: { K: secret } }, b: { url: "https://h/", headers: { K: secret } } };
  assert.equal(parseSettings({ mcpServers: allowed }, { folder: "/" }, {}).upstreams.size, 2);
  const api = { document: "a.yaml", headers: { K: secret }, auth: { key: secret } };
  assert.equal(parseSettings({ openapi: { api } }, { folder: "/" }, {}).apis.size, 1);
  const place = { kind: "otlp", url: "https://h/", headers: { K: secret } };
  assert.equal(parseSettings({ audit: { export: [place] } }, { folder: "/" }, {}).audit.exports.length, 1);
  const headers = parseSettings({ traces: { headers: { K: `a ${secret}` } } }, { folder: "/" }, {}).traces.headers;
  assert.deepEqual(headers, { K: ["a ", { secret: "K" }] });
  const webhook = { url: "https://h/", secret };
  assert.deepEqual(parseSettings({ anomalies: { webhook } }, { folder: "/" }, {}).anomalies, {
    enabled: false,
    webhook: { url: "https://h/", secret: [{ secret: "K" }] },
  });
  const { notify } = parseSettings({ approvals: { notify: { webhook } } }, { folder: "/" }, {}).approvals;
  assert.deepEqual(notify.webhook, { url: "https://h/", format: "json", secret: [{ secret: "K" }] });
});

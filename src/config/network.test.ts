/** Every `networkPolicy`, and `egress`: what they become, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSettings } from "./index.ts";

const settingsOf = (config: object) => parseSettings(config, { folder: "/" }, { HOST: "api.example.com" });
const policyOf = (networkPolicy: object) => settingsOf({ sandbox: { networkPolicy } }).sandbox.networkPolicy;
const refusalOf = (networkPolicy: object): string => {
  try {
    policyOf(networkPolicy);
    return "fine";
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

test("programs have no network without a policy or with an empty one", () => {
  assert.deepEqual(settingsOf({}).sandbox.networkPolicy, { mode: "blocked" });
  assert.deepEqual(policyOf({}), { mode: "blocked" });
  assert.equal(settingsOf({}).egress.proxy, undefined);
});

test("hosts of a policy are stored in canonical form", () => {
  assert.deepEqual(
    policyOf({ mode: "allowed", domains: ["${HOST}", "*.Bücher.example"], grants: ["NAS.local:8080"] }),
    {
      mode: "allowed",
      hosts: [
        { name: "api.example.com", isBelow: false, port: null },
        { name: "xn--bcher-kva.example", isBelow: true, port: null },
      ],
      grants: [{ host: "nas.local", port: 8080 }],
    },
  );
  assert.deepEqual(policyOf({ mode: "unrestricted" }), { mode: "unrestricted", grants: [] });
});

test("a network policy with hosts that are too wide or without effect is refused", () => {
  const domains = (...list: string[]): object => ({ mode: "allowed", domains: list });
  assert.match(refusalOf(domains("*")), /domains\[0\]: expected "host", "host:port" or "\*\.domain"/);
  assert.match(refusalOf(domains("a.example", "*.co.uk")), /domains\[1\]: expected a narrower pattern/);
  assert.match(refusalOf(domains("localhost")), /expected a public name; put a local one into grants/);
  assert.match(refusalOf({ mode: "allowed", grants: ["nas.local"] }), /grants\[0\]: expected "host:port"/);
  assert.match(refusalOf({ domains: ["a.example"] }), /domains: has an effect only with mode "allowed"/);
  assert.match(refusalOf({ mode: "blocked", grants: ["a.example:1"] }), /grants: has an effect only with mode/);
  assert.match(refusalOf({ mode: "open" }), /mode: expected one of "blocked", "allowed", "unrestricted"/);
});

test("egress.proxy must be the origin of an http server", () => {
  assert.equal(settingsOf({ egress: { proxy: "http://proxy.lan:3128" } }).egress.proxy, "http://proxy.lan:3128");
  for (const proxy of [
    "https://proxy.lan",
    "http://u:p@proxy.lan",
    "http://proxy.lan/x",
    "proxy.lan:3128",
    "socks5://a",
  ]) {
    assert.throws(() => settingsOf({ egress: { proxy } }), /egress\.proxy: expected the URL of an http proxy/);
  }
});

const problemOf = (config: object): string => {
  try {
    settingsOf(config);
    return "fine";
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

test("egress.proxyUser needs a password that is exactly one reference", () => {
  const proxy = "http://proxy.lan:3128";
  const withLogin = (more: object): object => ({ egress: { proxy, ...more } });
  const proxyUser = "ada";
  assert.deepEqual(settingsOf(withLogin({ proxyUser, proxyPassword: "${secret:PROXY}" })).egress, {
    proxy,
    proxyLogin: { user: "ada", password: [{ secret: "PROXY" }] },
  });
  assert.deepEqual(settingsOf(withLogin({ proxyUser, proxyPassword: "${HOST}" })).egress.proxyLogin, {
    user: "ada",
    password: ["api.example.com"],
  });
  const only = /egress\.proxyPassword: expected exactly one \$\{secret:NAME\} or \$\{VARIABLE\}/;
  for (const proxyPassword of ["plain", "${HOST:-plain}", "x${secret:PROXY}", "${secret:PROXY}x", ""]) {
    assert.match(problemOf(withLogin({ proxyUser, proxyPassword })), only, proxyPassword);
  }
  const proxyPassword = "${secret:PROXY}";
  assert.match(problemOf(withLogin({ proxyUser })), /egress\.proxyUser: needs proxyPassword/);
  assert.match(problemOf(withLogin({ proxyPassword })), /proxyPassword: has an effect only together with proxyUser/);
  assert.match(
    problemOf({ egress: { proxyUser, proxyPassword } }),
    /proxyUser: has an effect only together with proxy/,
  );
  assert.match(problemOf(withLogin({ proxyUser: "a:b", proxyPassword })), /expected a user name without colon/);
});

test("policies of upstreams, tools and the gateway contain the name of their setting", () => {
  const policy = { mode: "allowed", domains: ["a.example"] } as const;
  const hosts = [{ name: "a.example", isBelow: false, port: null }];
  const at = (setting: string): object => ({ mode: "allowed", hosts, grants: [], setting });
  const settings = settingsOf({
    egress: { networkPolicy: policy },
    mcpServers: { web: { url: "https://a.example/mcp", networkPolicy: policy } },
    openapi: { api: { document: "x.json", networkPolicy: policy, tools: { "get*": { networkPolicy: policy } } } },
    adapters: [{ module: "x.mjs", networkPolicy: policy, tools: { go: { networkPolicy: { mode: "blocked" } } } }],
  });
  assert.deepEqual(settings.egress.networkPolicy, at("egress.networkPolicy"));
  assert.deepEqual(
    [...settings.upstreams.values(), ...settings.apis.values(), ...settings.adapters].map(
      (entry) => Object(entry).network,
    ),
    [
      { policy: at("mcpServers.web.networkPolicy"), tools: [] },
      {
        policy: at("openapi.api.networkPolicy"),
        tools: [{ pattern: "get*", policy: at("openapi.api.tools.get*.networkPolicy") }],
      },
      {
        policy: at("adapters[0].networkPolicy"),
        tools: [{ pattern: "go", policy: { mode: "blocked", setting: "adapters[0].tools.go.networkPolicy" } }],
      },
    ],
  );
});

test("a network policy without effect is refused in every place", () => {
  const networkPolicy = { domains: ["a.example"] };
  const why = 'networkPolicy.domains: has an effect only with mode "allowed"';
  for (const [config, place] of [
    [{ egress: { networkPolicy } }, "egress"],
    [{ mcpServers: { web: { url: "https://a.example/", networkPolicy } } }, "mcpServers.web"],
    [{ openapi: { api: { document: "x.json", networkPolicy } } }, "openapi.api"],
    [{ openapi: { api: { document: "x.json", tools: { go: { networkPolicy } } } } }, "openapi.api.tools.go"],
    [{ adapters: [{ module: "x.mjs", networkPolicy }] }, "adapters[0]"],
    [{ adapters: [{ module: "x.mjs", tools: { go: { networkPolicy } } }] }, "adapters[0].tools.go"],
  ] as const) {
    assert.ok(problemOf(config).includes(`${place}.${why}`), place);
  }
  const stdio = { mcpServers: { local: { command: "x", networkPolicy: { mode: "blocked" } } } };
  assert.match(problemOf(stdio), /networkPolicy: has an effect only with url, or with confine "files" or "strict"/);
  const confined = { mcpServers: { local: { command: "x", confine: "strict", networkPolicy: { mode: "blocked" } } } };
  assert.equal(settingsOf(confined).upstreams.size, 1);
});

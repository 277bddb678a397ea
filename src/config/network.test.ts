/** `sandbox.networkPolicy` and `egress`: what they become, and what is refused. */

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

test("without a policy, and with an empty one, programs have no network", () => {
  assert.deepEqual(settingsOf({}).sandbox.networkPolicy, { mode: "blocked" });
  assert.deepEqual(policyOf({}), { mode: "blocked" });
  assert.equal(settingsOf({}).egress.proxy, undefined);
});

test("hosts are kept in their canonical spelling", () => {
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

test("what would allow anybody, or has no effect, is refused with what is expected", () => {
  const domains = (...list: string[]): object => ({ mode: "allowed", domains: list });
  assert.match(refusalOf(domains("*")), /domains\[0\]: expected "host", "host:port" or "\*\.domain"/);
  assert.match(refusalOf(domains("a.example", "*.co.uk")), /domains\[1\]: expected a narrower pattern/);
  assert.match(refusalOf(domains("localhost")), /expected a public name; a local one belongs to grants/);
  assert.match(refusalOf({ mode: "allowed", grants: ["nas.local"] }), /grants\[0\]: expected "host:port"/);
  assert.match(refusalOf({ domains: ["a.example"] }), /domains: has an effect only with mode "allowed"/);
  assert.match(refusalOf({ mode: "blocked", grants: ["a.example:1"] }), /grants: has an effect only with mode/);
  assert.match(refusalOf({ mode: "open" }), /mode: expected one of "blocked", "allowed", "unrestricted"/);
});

test("a proxy is the origin of an http server", () => {
  assert.equal(settingsOf({ egress: { proxy: "http://proxy.lan:3128" } }).egress.proxy, "http://proxy.lan:3128");
  for (const proxy of [
    "https://proxy.lan",
    "http://u:p@proxy.lan",
    "http://proxy.lan/x",
    "proxy.lan:3128",
    "socks5://a",
  ]) {
    assert.throws(() => settingsOf({ egress: { proxy } }), /egress\.proxy: expected the address of an http proxy/);
  }
});

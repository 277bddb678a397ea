/** Host patterns and grants: what is accepted, and what it means. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readHostPattern, readHostPort, readSecretHost } from "./host-pattern.ts";

test("readHostPattern accepts a host, a host with a port and *.domain, in canonical form", () => {
  for (const [text, name, isBelow, port] of [
    ["api.example.com", "api.example.com", false, null],
    ["API.Example.COM.", "api.example.com", false, null],
    ["api.example.com:8443", "api.example.com", false, 8443],
    ["*.example.com", "example.com", true, null],
    ["*.api.example.co.uk", "api.example.co.uk", true, null],
    ["bücher.example", "xn--bcher-kva.example", false, null],
    ["*.bücher.example", "xn--bcher-kva.example", true, null],
    ["me.github.io", "me.github.io", false, null],
    ["*.me.github.io", "me.github.io", true, null],
    ["*.me.blob.core.windows.net", "me.blob.core.windows.net", true, null],
  ] as const) {
    assert.deepEqual(readHostPattern(text), { ok: true, value: { name, isBelow, port } });
  }
});

test("readHostPattern refuses everything else", () => {
  const wild = ["*", "*.", "**.a.example", "a.*.example", "*a.example", "*.*.example", "a*.example"];
  const suffixes = [
    "*.com",
    "*.co.uk",
    "*.com.au",
    "*.github.io",
    "*.workers.dev",
    "*.amazonaws.com",
    "*.s3.amazonaws.com",
    "*.execute-api.us-east-1.amazonaws.com",
    "*.blob.core.windows.net",
    "*.googleapis.com",
    "*.webhook.site",
    "*.xn--p1ai",
  ];
  const odd = [
    "",
    "https://a.example",
    "a.example/",
    "a.example:0",
    "a.example:65536",
    "u@a.example",
    "a b.example",
    "a..",
    "a..example",
    ".a.example",
    "*..a.example",
    "*.a.example:80",
    "a.example:",
    "%61.example",
  ];
  const local = ["localhost", "nas.local", "metadata.google.internal", "router", "*.internal", "metadata.packet.net"];
  const addresses = ["10.0.0.1", "127.1", "0x7f000001", "2130706433", "[::1]", "1.1.1.1", "[2606:4700::1]:443"];
  for (const text of [...wild, ...suffixes, ...odd, ...local, ...addresses]) {
    assert.equal(readHostPattern(text).ok, false, text);
  }
});

test("readHostPort accepts a host or an address with a port", () => {
  for (const [text, host, port] of [
    ["nas.local:8080", "nas.local", 8080],
    ["LOCALHOST:3000", "localhost", 3000],
    ["10.0.0.5:443", "10.0.0.5", 443],
    ["0x7f.1:80", "127.0.0.1", 80],
    ["[fd00::5]:8080", "fd00::5", 8080],
    ["[0:0:0:0:0:0:0:1]:80", "::1", 80],
  ] as const) {
    assert.deepEqual(readHostPort(text), { ok: true, value: { host, port } });
  }
  for (const text of [
    "nas.local",
    "nas.local:",
    "nas.local:0",
    "*.local:80",
    "http://nas.local:80",
    "fd00::5:80",
    "[fe80::1%eth0]:80",
    "",
  ]) {
    assert.equal(readHostPort(text).ok, false, text);
  }
});

test("readHostPattern returns what was expected", () => {
  assert.deepEqual(readHostPattern("*.github.io"), {
    ok: false,
    expected: "expected a narrower pattern: anyone can register a name below github.io",
  });
  assert.deepEqual(readHostPattern("10.0.0.1:8080"), {
    ok: false,
    expected: 'expected a name; put an address into grants, as "10.0.0.1:8080"',
  });
});

test("readSecretHost accepts hosts of a network policy, and http:// for unencrypted requests", () => {
  const pattern = { name: "api.example.com", isBelow: false, port: null };
  for (const written of ["api.example.com", "API.Example.com"]) {
    assert.deepEqual(readSecretHost(written), { ok: true, value: { written, pattern, isPlain: false } });
  }
  const plain = "http://nas.local:8080";
  const place = { name: "nas.local", isBelow: false, port: 8080 };
  assert.deepEqual(readSecretHost(plain), { ok: true, value: { written: plain, pattern: place, isPlain: true } });
});

test("readSecretHost refuses hosts that are too wide or not a host and port", () => {
  const wrong = ["*", "*.com", "*.co.uk", "*.github.io", "nas.local", "10.0.0.5", "", "api.example.com/x", "a b"];
  for (const text of [
    ...wrong,
    "https://api.example.com",
    "http://",
    "http://*",
    "http://*.com",
    "*.example.org:8443",
  ]) {
    assert.equal(readSecretHost(text).ok, false, text);
  }
  for (const text of ["*.example.org", "api.example.com:8443", "10.0.0.5:443", "[::1]:8080", "http://*.example.org"]) {
    assert.equal(readSecretHost(text).ok, true, text);
  }
});

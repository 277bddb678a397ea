/** Where a secret may be sent: what an operator can write, and which addresses it means. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { bindsTo, grantsFor, parseSecretName, readSecretHost } from "./index.ts";
import type { SecretGrant, SecretName } from "./index.ts";

const granted = (...hosts: string[]): Pick<SecretGrant, "hosts"> => ({
  hosts: hosts.map((text) => {
    const read = readSecretHost(text);
    assert.ok(read.ok, text);
    return read.value;
  }),
});
const name = (text: string): SecretName => {
  const parsed = parseSecretName(text);
  assert.ok(parsed);
  return parsed;
};

test("a host is written as in the network policy, and with http:// to go there unencrypted", () => {
  const pattern = { name: "api.example.com", isBelow: false, port: null };
  for (const written of ["api.example.com", "API.Example.com"]) {
    assert.deepEqual(readSecretHost(written), { ok: true, value: { written, pattern, isPlain: false } });
  }
  const plain = "http://nas.local:8080";
  const place = { name: "nas.local", isBelow: false, port: 8080 };
  assert.deepEqual(readSecretHost(plain), { ok: true, value: { written: plain, pattern: place, isPlain: true } });
});

test("what would be everybody's, or says less than a place, is no host", () => {
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

test("a secret is bound to the very host and port, over https", () => {
  const grant = granted("api.example.com", "files.example.com:8443", "*.example.org");
  const bound = [
    "https://api.example.com/x?y",
    "https://files.example.com:8443",
    "https://a.b.example.org",
    "https://api.example.com.:443/",
  ];
  const others = [
    "https://api.example.com:8443",
    "https://files.example.com",
    "https://example.org",
    "https://badexample.org",
    "https://api.example.com.evil.test",
    "https://x.api.example.com",
    "http://api.example.com",
    "http://files.example.com:8443",
    "http://a.example.org",
  ];
  for (const url of bound) assert.equal(bindsTo(grant, new URL(url)), true, url);
  for (const url of others) assert.equal(bindsTo(grant, new URL(url)), false, url);
});

test("http counts on this machine, and where it was granted as such, and then instead of https", () => {
  const local = granted("127.0.0.1:8080", "[::1]:8080", "localhost:8080", "127.evil.example:8080", "10.0.0.5:80");
  for (const url of ["http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080", "https://127.0.0.1:8080"]) {
    assert.equal(bindsTo(local, new URL(url)), true, url);
  }
  for (const url of ["http://127.evil.example:8080", "http://10.0.0.5"]) {
    assert.equal(bindsTo(local, new URL(url)), false, url);
  }
  const plain = granted("http://10.0.0.5:80", "http://old.example.com");
  for (const url of ["http://10.0.0.5", "http://old.example.com"])
    assert.equal(bindsTo(plain, new URL(url)), true, url);
  for (const url of ["https://10.0.0.5", "https://old.example.com", "http://old.example.com:8080"]) {
    assert.equal(bindsTo(plain, new URL(url)), false, url);
  }
});

test("a grant that names principals is theirs alone", () => {
  const grant = { ...granted("a.example"), places: ["header"] as const };
  const grants = new Map([
    [name("ANY"), { ...grant, principals: [] }],
    [name("ADAS"), { ...grant, principals: ["ada"] }],
  ]);
  assert.deepEqual([...grantsFor(grants, "ada").keys()], ["ANY", "ADAS"]);
  assert.deepEqual([...grantsFor(grants, "bob").keys()], ["ANY"]);
});

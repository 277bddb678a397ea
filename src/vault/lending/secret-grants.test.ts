/** Where a secret may be sent: what an operator can write, and which URLs it means. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readSecretHost } from "../../config/schema/values/host-pattern.ts";
import { parseSecretName } from "../../domain/index.ts";
import type { SecretGrant, SecretName } from "../../domain/index.ts";
import { bindsTo, grantsFor } from "./open-lending.ts";

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

test("a secret is bound to the exact host and port, over https", () => {
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

test("http is allowed on this machine, and where plain http was granted, which excludes https", () => {
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

test("a grant that names principals applies to no other", () => {
  const grant = { ...granted("a.example"), places: ["header"] as const };
  const grants = new Map([
    [name("ANY"), { ...grant, principals: [] }],
    [name("ADAS"), { ...grant, principals: ["ada"] }],
  ]);
  assert.deepEqual([...grantsFor(grants, "ada").keys()], ["ANY", "ADAS"]);
  assert.deepEqual([...grantsFor(grants, "bob").keys()], ["ANY"]);
});

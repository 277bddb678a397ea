/** Inner addresses are removed with their ports; public ones, versions and ordinary words are kept. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { redactAddresses } from "./redact-addresses.ts";

const INNER = [
  "127.0.0.1:5432",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255:80",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "0.0.0.0:8080",
  "localhost:3000",
  "[::1]:3000",
  "::1",
  "fd12:3456:789a::1",
  "fe80::1%eth0",
  "db.internal:5432",
  "build-7.corp",
];
const OUTER = [
  "172.15.0.1",
  "172.32.0.1",
  "11.1.2.3",
  "8.8.8.8:53",
  "100.63.0.1",
  "localhost",
  "example.com:443",
  "1.10.0.0.1.5",
  "version 10.4.2",
  "Foo::bar",
  "internal",
  "an.internal.example.com",
];

describe("redactAddresses", () => {
  for (const address of INNER) {
    it(`removes ${address}`, () => {
      assert.equal(
        redactAddresses(`connect ECONNREFUSED ${address}, giving up`),
        "connect ECONNREFUSED [address], giving up",
      );
      assert.equal(redactAddresses(`http://${address}/x`), "http://[address]/x");
    });
  }
  for (const address of OUTER) {
    it(`keeps ${address}`, () => assert.equal(redactAddresses(`at ${address} it`), `at ${address} it`));
  }
  it("takes linear time", () => {
    for (const hostile of ["a.", "-", "10.", "fe80:", "::", "localhost"]) {
      const text = hostile.repeat(200_000 / hostile.length);
      assert.ok(redactAddresses(text).length > 0);
    }
  });
});

/** A table of addresses and their kinds, and thousands of private ones in every known spelling. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { classifyAddress, toCanonicalAddress } from "./address.ts";
import { openEgress } from "../index.ts";
import { ENCODINGS } from "../fixtures/encodings.ts";
import { PUBLIC, createStubNetwork, openStubServers } from "../fixtures/stub-network.ts";
import { tryFetch } from "../fixtures/try-fetch.ts";

const KINDS: Readonly<Record<string, readonly string[]>> = {
  public: ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "192.169.0.1", "223.255.255.255"],
  private: ["10.0.0.1", "127.0.0.1", "127.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"],
  special: [
    ..."0.0.0.0 0.1.2.3 169.254.169.254 169.254.170.2 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255".split(
      " ",
    ),
    ..."198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255".split(" "),
    ..."168.63.129.16 100.100.100.200".split(" "),
    ...":: ::ffff:8.8.8.8 ::ffff:127.0.0.1 ::127.0.0.1 ::8.8.8.8 64:ff9b::808:808 64:ff9b:1::1 100::1".split(" "),
    ..."2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:808:808::1 3fff::1 5f00::1 fe80::1 fec0::1".split(" "),
    ..."ff02::1 fd00:ec2::254 fd20:ce::254 fe80::1%eth0 2606:4700::1%1 4000::1".split(" "),
    ..."1.1.1 01.1.1.1 0x1.1.1.1 1.1.1.1.1 localhost".split(" "),
    "",
  ],
};
const V6: Readonly<Record<string, readonly string[]>> = {
  public: ["2606:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888", "2003::1"],
  private: ["::1", "0:0:0:0:0:0:0:1", "fc00::1", "fd12:3456::1"],
};

test("every address is public, private or special", () => {
  for (const [kind, addresses] of [...Object.entries(KINDS), ...Object.entries(V6)]) {
    assert.deepEqual(
      addresses.map((address) => [address, classifyAddress(address)]),
      addresses.map((address) => [address, kind]),
    );
  }
});

test("an address has one canonical spelling, and anything else has none", () => {
  assert.equal(toCanonicalAddress("2606:4700:0:0:0:0:0:1"), "2606:4700::1");
  assert.equal(toCanonicalAddress("::FFFF:1.2.3.4"), "::ffff:102:304");
  assert.equal(toCanonicalAddress("1.2.3.4"), "1.2.3.4");
  for (const text of ["1.2.3", "fe80::1%eth0", "example", ""]) assert.equal(toCanonicalAddress(text), undefined);
});

const byte = fc.nat(255);
const privateBytes = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  fc.tuple(fc.constant(198), fc.constantFrom(18, 19), byte, byte),
  fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
  fc.constant<[number, number, number, number]>([168, 63, 129, 16]),
);

/** The most open policy, so that only the address can be the reason for a refusal. */
const OPEN = [{ mode: "unrestricted", grants: [] } as const];

test(`no private address is connected to in any of ${ENCODINGS.length} spellings`, async () => {
  assert.ok(ENCODINGS.length >= 40);
  const network = createStubNetwork();
  await using egress = openEgress({ network });
  await fc.assert(
    fc.asyncProperty(privateBytes, async (bytes) => {
      // A spelling that is parsed as a name resolves to this address, as with wildcard DNS services.
      network.answers.set("*", [bytes.join(".")]);
      const tried = ENCODINGS.map((encode) => tryFetch({ egress, policies: OPEN }, `http://${encode(bytes)}/`));
      assert.deepEqual(new Set(await Promise.all(tried)), new Set(["EGRESS_DENIED"]));
    }),
    { numRuns: 1000 },
  );
  assert.deepEqual(network.connections, []);
});

test("a public address is connected to in the spellings that the standard parses as an address", async () => {
  using servers = openStubServers();
  const network = createStubNetwork();
  network.ports.set(`${PUBLIC}:80`, await servers.http((_, response) => void response.end("hello")));
  await using egress = openEgress({ network });
  const tried = ENCODINGS.slice(0, 16).map((encode) =>
    tryFetch({ egress, policies: OPEN }, `http://${encode([93, 184, 216, 34])}/`),
  );
  assert.deepEqual(new Set(await Promise.all(tried)), new Set(["200 hello"]));
});

/** Lending with a real vault and ledger: where a value is put in, where a token stays one, and what is written down. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { parseExecutionId, parsePrincipalId } from "../../domain/index.ts";
import type { SecretGrant, SecretGrants } from "../../domain/index.ts";
import { history, name, setUp } from "../fixtures/set-up.ts";
import type { Fixture } from "../fixtures/set-up.ts";
import { Secret } from "../secret.ts";
import { createAnswerMask } from "./answer-mask.ts";
import { createTokens, openLending } from "./open-lending.ts";
import type { LendingStep } from "./open-lending.ts";
import { readSecretHost } from "../../config/schema/values/host-pattern.ts";

const VALUE = "s3cr3t-value/31415";
const EXECUTION = parseExecutionId(`ex_${"a".repeat(24)}`);
const ADA = parsePrincipalId("ada");
assert.ok(EXECUTION && ADA);
const execution = EXECUTION;
const principal = ADA;
const tokenOf = createTokens(Buffer.alloc(32, 1));
const TOKEN = tokenOf(execution, name("KEY"));

function grantOf(hosts: readonly string[], places: SecretGrant["places"] = ["header", "body"]): SecretGrant {
  const read = hosts.map((text) => {
    const host = readSecretHost(text);
    assert.ok(host.ok);
    return host.value;
  });
  return { hosts: read, places, principals: [] };
}
const USUAL: SecretGrants = new Map([[name("KEY"), grantOf(["api.example.com"])]]);

async function lendingOf(fixture: Fixture, grants = USUAL, value: string | null = VALUE) {
  if (value !== null) await fixture.vault.set(name("KEY"), new Secret(value), "operator");
  const { vault, ledger } = fixture;
  return openLending({ execution, principal, grants, tokenOf, vault, ledger, answers: createAnswerMask() });
}
const step = (url: string, headers: Record<string, string> = {}, body?: string): LendingStep => ({
  url: new URL(url),
  headers: new Headers(headers),
  body: body === undefined ? undefined : Buffer.from(body),
});
const show = ({ headers, body }: LendingStep): unknown => [
  Object.fromEntries(headers),
  body && Buffer.from(body).toString(),
];
const about = async (fixture: Fixture): Promise<readonly unknown[]> => (await history(fixture.ledger)).slice(1);
const lent = (places: string, host = "api.example.com"): unknown => [
  "ada",
  "secret.lent",
  "KEY",
  { purpose: "program", execution, host, places, version: 1 },
];
const refused = (place: string, host: string, reason: string): unknown => [
  "ada",
  "secret.refused",
  "KEY",
  { purpose: "program", execution, host, place, reason },
];
const OTHER_HOST = "the secret is not granted for this host";

describe("a lent secret", () => {
  test("a value is inserted for a granted host, in header and body, after the loan is recorded", async () => {
    await using fixture = await setUp();
    const { check, fill } = await lendingOf(fixture);
    const asked = step("https://api.example.com/x", { authorization: `Bearer ${TOKEN}` }, `{"key":"${TOKEN}"}`);
    await check(asked);
    assert.deepEqual(await about(fixture), []);
    assert.deepEqual(show(await fill(asked)), [{ authorization: `Bearer ${VALUE}` }, `{"key":"${VALUE}"}`]);
    assert.deepEqual(await about(fixture), [lent("header, body")]);
    assert.deepEqual(show(asked), [{ authorization: `Bearer ${TOKEN}` }, `{"key":"${TOKEN}"}`]);
  });

  test("a request without a token lends nothing and stays the same", async () => {
    await using fixture = await setUp();
    const { check, fill } = await lendingOf(fixture);
    const asked = step("https://api.example.com/", { accept: "*/*" }, "text");
    await check(asked);
    assert.equal(await fill(asked), asked);
    assert.deepEqual(await about(fixture), []);
  });
});

describe("a token that is not replaced", () => {
  const cases: readonly (readonly [
    what: string,
    asked: LendingStep,
    grants: SecretGrants,
    records: readonly unknown[],
  ])[] = [
    [
      "at another host",
      step("https://api.example.com.evil.test/", { a: TOKEN }, TOKEN),
      USUAL,
      ["header", "body"].map((place) => refused(place, "api.example.com.evil.test", OTHER_HOST)),
    ],
    [
      "without encryption",
      step("http://api.example.com/", { a: TOKEN }),
      USUAL,
      [refused("header", "api.example.com", "the secret is not granted for http")],
    ],
    [
      "in the address and in the name of a header",
      step(`https://api.example.com/${TOKEN}?${TOKEN}`, { [TOKEN]: "1" }),
      USUAL,
      [
        refused("url", "api.example.com", "a token is of no use in an address"),
        refused("header name", "api.example.com", "a header name is not a header value"),
      ],
    ],
    [
      "in the body, when it is granted for headers",
      step("https://api.example.com/", {}, TOKEN),
      new Map([[name("KEY"), grantOf(["api.example.com"], ["header"])]]),
      [refused("body", "api.example.com", "the secret is not granted for the body")],
    ],
  ];
  for (const [what, asked, grants, records] of cases) {
    test(`a token stays a token and is recorded: ${what}`, async () => {
      await using fixture = await setUp();
      const { check, fill } = await lendingOf(fixture, grants);
      await check(asked);
      assert.deepEqual(show(await fill(asked)), show(asked));
      assert.deepEqual(await about(fixture), records);
    });
  }

  test("the token of another execution or of a secret that is not granted is ignored", async () => {
    await using fixture = await setUp();
    const { check, fill } = await lendingOf(fixture);
    const strange = createTokens(Buffer.alloc(32, 2))(execution, name("KEY"));
    const asked = step("https://api.example.com/", { a: strange, b: tokenOf(execution, name("OTHER")) });
    await check(asked);
    assert.equal(await fill(asked), asked);
    assert.deepEqual(await about(fixture), []);
  });

  test("a token in other text is recorded once per place", async () => {
    await using fixture = await setUp();
    const { notice } = await lendingOf(fixture);
    await notice(`x${TOKEN}`, "argument", { tool: "a.b" });
    await notice(`${TOKEN}${TOKEN}`, "argument", { tool: "a.b" });
    await notice(TOKEN, "argument", { tool: "a.c" });
    await notice(TOKEN.slice(1), "log");
    const said = { purpose: "program", execution, place: "argument", reason: "a token is of use in a request only" };
    assert.deepEqual(
      await about(fixture),
      ["a.b", "a.c"].map((tool) => ["ada", "secret.refused", "KEY", { ...said, tool }]),
    );
  });
});

describe("a request with a secret", () => {
  test("a request with a secret is not sent when the URL contains a lent value, wherever it came from", async () => {
    await using fixture = await setUp();
    const { check, fill } = await lendingOf(fixture);
    const away = step(`https://other.example/?it=${encodeURIComponent(VALUE)}`);
    await check(away); // no host has the value yet
    await fill(step("https://api.example.com/", { a: TOKEN }));
    const hosts = [away.url.href, `https://other.example/${Buffer.from(VALUE).toString("hex")}`];
    for (const url of hosts) await assert.rejects(check(step(url)), { code: "EGRESS_DENIED" }, url);
    await check(step("https://other.example/?it=else"));
  });

  test("a request with a secret is not sent when the URL contains a lent value as a redirect would write it", async () => {
    await using fixture = await setUp();
    const value = "wJalrXUt/nFEMI+K7 MDENG/bPxRfiCY==";
    const { check, fill } = await lendingOf(fixture, USUAL, value);
    await fill(step("https://api.example.com/", { a: TOKEN }));
    await assert.rejects(check(step(`https://other.example/steal?k=${value}`)), { code: "EGRESS_DENIED" });
    await check(step(`https://other.example/steal?k=${value.slice(1)}`));
  });

  test("a request with a secret is not sent when it requests a part of the answer", async () => {
    await using fixture = await setUp();
    const { fill } = await lendingOf(fixture);
    for (const part of [{ range: "bytes=0-3" }, { "if-range": "x" }]) {
      await assert.rejects(fill(step("https://api.example.com/", { a: TOKEN, ...part })), { code: "EGRESS_DENIED" });
      const without = step("https://api.example.com/", { a: "b", ...part });
      assert.equal(await fill(without), without);
    }
    assert.deepEqual(await about(fixture), []);
  });

  test("a request with a secret is not sent when the secret is missing or too short to be masked", async () => {
    await using fixture = await setUp();
    const asked = step("https://api.example.com/", { a: TOKEN });
    const missing = await lendingOf(fixture, USUAL, null);
    await assert.rejects(missing.fill(asked), { code: "VAULT_SECRET_MISSING" });
    const short = await lendingOf(fixture, USUAL, "1234567");
    await assert.rejects(short.fill(asked), { code: "EGRESS_DENIED" });
    const enough = await lendingOf(fixture, USUAL, "12345678");
    assert.deepEqual(show(await enough.fill(asked)), [{ a: "12345678" }, undefined]);
  });

  test("a request with a secret is not sent when it holds more than 32 tokens", async () => {
    await using fixture = await setUp();
    const { fill } = await lendingOf(fixture);
    const asked = (times: number) => step("https://api.example.com/", {}, TOKEN.repeat(times));
    for (const times of [31, 32]) assert.deepEqual(show(await fill(asked(times))), [{}, VALUE.repeat(times)]);
    await assert.rejects(fill(asked(33)), { code: "LIMIT_SIZE" });
  });
});

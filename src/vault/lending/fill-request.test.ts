/** Values in the place of tokens: whatever the value, the request stays what it was otherwise. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as fc from "fast-check";

import { Secret } from "../secret.ts";
import { countInBody, countInHeader, fillBody, fillHeaders } from "./fill-request.ts";

const TOKEN = `glovebox-secret-${"0123456789abcdef".repeat(2)}`;
const OTHER = `glovebox-secret-${"fedcba9876543210".repeat(2)}`;
const filling = (value: string, token = TOKEN) => ({ token, secret: new Secret(value) });
const fill = (body: string, type: string, value: string): string =>
  Buffer.from(fillBody(Buffer.from(body), type, [filling(value)])).toString();
const header = (text: string, ...fillings: ReturnType<typeof filling>[]): string | null =>
  fillHeaders(new Headers({ "x-key": text }), fillings).get("x-key");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Anything that the vault takes: signs of every kind, and those that mean something in a request more often. */
const unit = fc.oneof(
  fc.constantFrom(..."&=+% ?#;\"'\\/<>\n\r\taA0".split("")),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);
const values = fc.string({ unit, minLength: 8, maxLength: 60 }).filter((text) => text.isWellFormed());
const around = fc.string({ unit: "grapheme-ascii", maxLength: 20 });

describe("fillBody", () => {
  test("escapes a secret in JSON, so that the body parses to the same value with the secret in it", () => {
    for (const type of [
      "application/json",
      "application/vnd.api+json; charset=utf-8",
      "text/plain;charset=UTF-8",
      "",
    ]) {
      fc.assert(
        fc.property(values, around, around, (value, before, after) => {
          const make = (text: string): object => ({ a: [before + text + after, { [text]: 1 }], b: text, c: "other" });
          const filled: unknown = JSON.parse(fill(JSON.stringify(make(TOKEN)), type, value));
          assert.deepEqual(filled, make(value));
        }),
        { numRuns: 100 },
      );
    }
  });

  test("escapes a secret in a form, in names and values", () => {
    fc.assert(
      fc.property(values, around, (value, before) => {
        const make = (text: string): [string, string][] => [
          ["a", before + text],
          [text, "b c&d"],
        ];
        const filled = fill(new URLSearchParams(make(TOKEN)).toString(), "application/x-www-form-urlencoded", value);
        assert.deepEqual([...new URLSearchParams(filled)], make(value));
      }),
    );
  });

  test("escapes what would end text or an attribute in XML", () => {
    const filled = fill(`<a key="${TOKEN}">${TOKEN}</a>`, "application/soap+xml", `<&"'>`);
    assert.equal(filled, '<a key="&#60;&#38;&#34;&#39;&#62;">&#60;&#38;&#34;&#39;&#62;</a>');
  });

  test("inserts the plain bytes elsewhere, and keeps bytes that are not UTF-8", () => {
    assert.equal(fill(`key=${TOKEN}\n`, "text/plain", 'ü"\n'), 'key=ü"\n\n');
    const body = Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from(TOKEN), Buffer.from([254])]);
    const filled = fillBody(body, "application/octet-stream", [filling("ü")]);
    assert.deepEqual([...filled], [0, 255, 128, 195, 188, 254]);
  });
});

describe("fillHeaders", () => {
  test("fills several tokens of several secrets in headers", () => {
    assert.equal(header(`Bearer ${TOKEN}`, filling("abc def")), "Bearer abc def");
    assert.equal(header(`${TOKEN}, ${OTHER}, ${TOKEN}`, filling("one"), filling("two", OTHER)), "one, two, one");
    assert.equal(header("nothing to fill", filling("one")), "nothing to fill");
  });

  test("fills tokens inside Basic too, and leaves other base64 as it was", () => {
    assert.equal(
      header(`Basic ${base64(`user:${TOKEN}`)}`, filling("pä:ss\nword")),
      `Basic ${base64("user:pä:ss\nword")}`,
    );
    assert.equal(header(`basic  ${base64(`${TOKEN}:`)}`, filling("key")), `basic  ${base64("key:")}`);
    const odd = "Basic dXNlcjpwYXNzd29yZB==";
    assert.equal(header(odd, filling("key")), odd);
    const other = `Custom ${base64(TOKEN)}`;
    assert.equal(header(other, filling("key")), other);
  });

  test("refuses a value with a line break or a non-ASCII character, without repeating it", () => {
    for (const value of ["a\r\nx: y", "a\nb", "a\0b", "ü", "\x7f"]) {
      const message = "The header x-key cannot hold this secret";
      assert.throws(() => header(TOKEN, filling(value)), { code: "EGRESS_DENIED", message });
      assert.equal(header("another text", filling(value)), "another text");
    }
  });
});

test("a token inside the value of another secret is not filled", () => {
  const both = [filling(OTHER), filling("never", OTHER)];
  assert.equal(header(TOKEN, ...both), OTHER);
  assert.equal(Buffer.from(fillBody(Buffer.from(TOKEN), "", both)).toString(), OTHER);
});

test("counts tokens wherever they would be filled", () => {
  assert.equal(countInHeader(`${TOKEN} ${TOKEN}`, TOKEN), 2);
  assert.equal(countInHeader(`Basic ${base64(`${TOKEN}:${TOKEN}`)}`, TOKEN), 2);
  assert.equal(countInHeader(TOKEN.toUpperCase(), TOKEN), 0);
  assert.equal(countInBody(Buffer.from(`{"a":"${TOKEN}"}`), TOKEN), 1);
  assert.equal(countInBody(Buffer.from(OTHER), TOKEN), 0);
});

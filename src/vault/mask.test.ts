/** A known secret is found in every form and position; other text stays as it is. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as fc from "fast-check";

import { createMask } from "./mask.ts";

const SECRET = `s3cr/et+va"lue<&'>é=~ x`;
const bytesOf = (text: string): Buffer => Buffer.from(text);
const everyByte = (text: string): string => bytesOf(text).toString("hex").replaceAll(/../g, "%$&");
const toHtml = (text: string, apostrophe = "&#39;"): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", apostrophe);

const WRITERS: Readonly<Record<string, (secret: string) => string>> = {
  itself: (secret) => secret,
  hex: (secret) => bytesOf(secret).toString("hex"),
  "upper-case hex": (secret) => bytesOf(secret).toString("hex").toUpperCase(),
  base64: (secret) => bytesOf(secret).toString("base64"),
  base64url: (secret) => bytesOf(secret).toString("base64url"),
  percent: (secret) => encodeURIComponent(secret),
  "lower-case percent": (secret) => encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
  "percent of every byte": (secret) => everyByte(secret).toUpperCase(),
  form: (secret) => new URLSearchParams({ a: secret }).toString().slice(2),
  JSON: (secret) => JSON.stringify(secret).slice(1, -1),
  "JSON in JSON": (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  HTML: (secret) => toHtml(secret),
  "HTML of another library": (secret) => toHtml(secret, "&#x27;"),
};

function maskOf(...secrets: readonly string[]): (text: string) => string {
  const mask = createMask();
  for (const secret of secrets) mask.add(secret);
  return mask.hide;
}

describe("a mask", () => {
  for (const [name, write] of Object.entries(WRITERS)) {
    it(`hides a secret as ${name}`, () => {
      assert.match(maskOf(SECRET)(`a ${write(SECRET)} z`), /^a \[secret\]=* z$/);
    });
  }

  it("hides a secret in the base64 of longer text, at every alignment", () => {
    const hide = maskOf(SECRET);
    for (const before of ["", "x", "xy", "xyz"]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const shown = hide(Buffer.from(`${before}${SECRET} and more`).toString(encoding));
        assert.match(shown, /^\S{0,4}\[secret\]\S+$/, `${before.length} before, ${encoding}`);
      }
    }
  });

  it("hides a secret with invisible characters or escapes between its letters, and keeps those of other text", () => {
    const hide = maskOf(SECRET);
    assert.equal(hide(SECRET.split("").join("\u200b")), "[secret]");
    assert.equal(hide(SECRET.split("").join("\u001b[0m")), "[secret]");
    assert.equal(hide("par\u200dle \u202e"), "par\u200dle \u202e");
  });

  it("hides each long line of a secret with several", () => {
    const [first, second] = ["MIIEvQIBADANBgkqhkiG9w0", "BAQEFAASCBKcwggSjAgEAAo"];
    assert.equal(maskOf(`-----BEGIN-----\n${first}\n${second}\n`)(`> ${second}`), "> [secret]");
  });

  it("replaces the longer of two overlapping secrets first, and leaves no part of it", () => {
    assert.equal(maskOf("password", "password-of-ada")("password-of-ada password"), "[secret] [secret]");
  });

  it("hides secrets of eight characters and more", () => {
    assert.equal(maskOf("1234567")("1234567"), "1234567");
    assert.equal(maskOf("12345678")("12345678"), "[secret]");
  });

  it("leaves text without a secret unchanged", () => {
    const text = "An ordinary text, aGVsbG8gd29ybGQ= %20 &amp; 0a0b0c";
    assert.equal(maskOf(SECRET)(text), text);
  });

  it("finds random secrets in each of these forms, in random surroundings", () => {
    const secret = fc.string({ unit: "binary", minLength: 12, maxLength: 40 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(secret, fc.constantFrom(...Object.values(WRITERS)), (value, write) => {
        const written = write(value);
        assert.ok(!maskOf(value)(written).includes(written));
      }),
      { numRuns: 300 },
    );
  });
});

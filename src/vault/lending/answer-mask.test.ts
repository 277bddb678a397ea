/** Answers of hosts that give back what they were sent: in any text, in any bytes, in any disguise that is known. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as fc from "fast-check";

import { createAnswerMask } from "./answer-mask.ts";

const VALUE = 'S3cr3t "value"/with+odd=Chars-ü';

function maskOf(secret: string) {
  const mask = createAnswerMask();
  mask.add(secret);
  return mask;
}
const hideBytes = async (bytes: Buffer, secret = VALUE): Promise<Buffer> =>
  Buffer.from(await maskOf(secret).hideBytes(bytes));
const each = (text: string, write: (code: number) => string): string =>
  Array.from(text, (sign) => write(sign.charCodeAt(0))).join("");
const hex = (code: number): string => code.toString(16).padStart(4, "0");

const PLAIN = "S3cr3t-value/with+odd=Chars";
const DISGUISES: Readonly<Record<string, string>> = {
  plain: PLAIN,
  reversed: Array.from(PLAIN).toReversed().join(""),
  upper: PLAIN.toUpperCase(),
  lower: PLAIN.toLowerCase(),
  base64: Buffer.from(PLAIN).toString("base64"),
  "base64 of the reversed": Buffer.from(Array.from(PLAIN).toReversed().join("")).toString("base64"),
  hex: Buffer.from(PLAIN).toString("hex"),
  percent: encodeURIComponent(PLAIN),
  "escaped for JSON without need": each(PLAIN, (code) => String.raw`\u${hex(code)}`),
  "escaped for JSON in capitals": each(PLAIN, (code) => String.raw`\u${hex(code).toUpperCase()}`),
  "entities of HTML": each(PLAIN, (code) => `&#${code};`),
  "hexadecimal entities": each(PLAIN, (code) => `&#x${code.toString(16)};`),
  invisible: each(PLAIN, (code) => `${String.fromCharCode(code)}\u200b`),
};

describe("createAnswerMask", () => {
  for (const [what, text] of Object.entries(DISGUISES)) {
    test(`hides a secret in an answer: ${what}`, async () => {
      assert.equal(maskOf(PLAIN).hideText(`before ${text} after`).replace("\u200b", ""), "before [secret] after");
      const bytes = Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(text)]);
      const hidden = (await hideBytes(bytes, PLAIN)).toString("latin1").replace("\u00e2\u0080\u008b", "");
      assert.equal(hidden, "\u00ff\u0000[secret]");
    });
  }

  test("hides a secret inside the base64 of longer text, at every offset", () => {
    for (const before of ["", "x", "xy", "xyz"]) {
      const hidden = maskOf(PLAIN).hideText(Buffer.from(`${before}${PLAIN}!`).toString("base64"));
      assert.match(hidden, /^[A-Za-z0-9+/]{0,4}\[secret\][A-Za-z0-9+/]{0,4}={0,2}$/);
    }
  });

  test("hides a secret in bytes that are not UTF-8, also as UTF-16", async () => {
    const raw = Buffer.concat([Buffer.from([0xff, 0x80]), Buffer.from(VALUE), Buffer.from([0x81])]);
    assert.deepEqual(
      await hideBytes(raw),
      Buffer.concat([Buffer.from([0xff, 0x80]), Buffer.from("[secret]"), Buffer.from([0x81])]),
    );
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(PLAIN, "utf16le")]);
    assert.ok((await hideBytes(wide, PLAIN)).includes("[secret]"));
    assert.ok(!(await hideBytes(wide, PLAIN)).includes(Buffer.from(PLAIN, "utf16le")));
  });

  test("hides a secret in JSON, which stays valid JSON", () => {
    const values = fc.string({ unit: "binary", minLength: 8, maxLength: 40 }).filter((text) => text.trim().length >= 8);
    fc.assert(
      fc.property(values, (value) => {
        const hidden = maskOf(value).hideText(JSON.stringify({ before: 1, sent: `<${value}>`, [value]: [value] }));
        assert.deepEqual(JSON.parse(hidden), { before: 1, sent: "<[secret]>", "[secret]": ["[secret]"] });
      }),
    );
  });
});

describe("createAnswerMask without a match", () => {
  test("leaves everything else byte for byte as it was", async () => {
    const mask = maskOf(VALUE);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        assert.equal(await mask.hideBytes(bytes), bytes);
      }),
    );
    for (const text of [String.raw`{"a":"\u0041\u0022\u005c"}`, "&#65;&#x42;", "", "S3cr3t"]) {
      assert.equal(mask.hideText(text), text);
    }
  });
});

/** Encodings of addresses, mails, dumps and programs, one in another too: exactly the encoded run is replaced. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as fc from "fast-check";

import { createAnswerMask } from "./answer-mask.ts";

const KEY = "wJalrXUt/nFEMI+K7 MDENG/bPxRfiCY==";
const LONG = `${KEY}-${"0123456789abcdef".repeat(6)}-ü"\\`;
const [FIRST_LINE, SECOND_LINE] = ["MIIEvQIBADANBgkqhkiG9w0", "BAQEFAASCBKcwggSjAgEAAo"];

function maskOf(secret: string) {
  const mask = createAnswerMask();
  mask.add(secret);
  return mask;
}
const hexOf = (text: string): string => Buffer.from(text).toString("hex");
const base64Of = (text: string): string => Buffer.from(text).toString("base64");
const inLines = (text: string, width: number, end: string): string =>
  text.replaceAll(new RegExp(`.{${width}}(?=.)`, "g"), `$&${end}`);
const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As Python writes it: slashes stay. */
const quote = (text: string): string => encodeURIComponent(text).replaceAll("%2F", "/");
const everyUnit = (text: string): string =>
  text.replaceAll(/[^]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`);
const toHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("'", "&#039;");

const WRITERS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "quoted by Python": quote,
  "quoted by Python, with plus for blanks": (text) => quote(text).replaceAll("%20", "+"),
  "percent-encoded in part": (text) => text.replaceAll(/[%+ ]/g, encodeURIComponent),
  "percent-encoded, digits of both cases": (text) =>
    encodeURIComponent(text).replace(/%../, (digits) => digits.toLowerCase()),
  "percent-encoded twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "percent-encoded in JSON": (text) => jsonOf(quote(text)).replaceAll("/", String.raw`\/`),
  "base64 in lines of 76": (text) => inLines(base64Of(text), 76, "\r\n"),
  "base64 in lines of 64": (text) => inLines(base64Of(text), 64, "\n"),
  "base64 in lines, in JSON": (text) => jsonOf(inLines(base64Of(text), 64, "\n")),
  "base64, percent-encoded": (text) => encodeURIComponent(base64Of(text)),
  "base64 with escaped slashes": (text) => base64Of(text).replaceAll("/", String.raw`\/`),
  "hex with colons": (text) => hexOf(text).replaceAll(/..(?=.)/g, "$&:"),
  "hex with blanks, in capitals": (text) =>
    hexOf(text)
      .toUpperCase()
      .replaceAll(/..(?=.)/g, "$& "),
  "hex with dashes": (text) => hexOf(text).replaceAll(/..(?=.)/g, "$&-"),
  "escapes of programs": (text) => hexOf(text).replaceAll(/../g, String.raw`\x$&`),
  "escapes of JSON in capitals": everyUnit,
  "escapes of JSON and of slashes together": (text) =>
    jsonOf(text)
      .replaceAll("/", String.raw`\/`)
      .replaceAll(/[^ -~]/g, everyUnit),
  "JSON in JSON": (text) => jsonOf(jsonOf(text)),
  HTML: toHtml,
};

describe("findDisguised", () => {
  for (const [what, write] of Object.entries(WRITERS)) {
    test(`finds a secret in an answer, written as ${what}`, async () => {
      for (const secret of [KEY, LONG]) {
        const text = `before <${write(secret)}> after`;
        assert.equal(maskOf(secret).hideText(text), "before <[secret]> after");
        const noText = Buffer.concat([Buffer.from([0xff]), Buffer.from(text)]);
        const hidden = Buffer.from(await maskOf(secret).hideBytes(noText));
        assert.equal(hidden.toString("latin1"), "\u00ffbefore <[secret]> after");
        const other = write(`${secret.slice(0, -8)}another!`);
        assert.equal(maskOf(secret).hideText(other), other);
      }
    });
  }

  test("finds a secret in a URL that a browser would write", () => {
    const { href } = new URL(`http://other.example/steal/${KEY}?k=${KEY}#${KEY}`);
    assert.equal(maskOf(KEY).hideText(href), "http://other.example/steal/[secret]?k=[secret]#[secret]");
    const { href: without } = new URL("http://other.example/steal/wJalrXUt/nFEMI+K7?k=MDENG/bPxRfiCY==");
    assert.equal(maskOf(KEY).hideText(without), without);
  });

  test("finds a secret as a list of numbers, and keeps a list of numbers", () => {
    for (const space of [0, 2]) {
      const hidden = maskOf(KEY).hideText(JSON.stringify({ a: Buffer.from(`<${KEY}>`), b: [1, 2, 300] }, null, space));
      assert.deepEqual(JSON.parse(hidden), { a: Buffer.from("<[secret]>").toJSON(), b: [1, 2, 300] });
    }
  });

  test("finds each line of a secret", () => {
    const hide = maskOf(`-----BEGIN-----\n${FIRST_LINE}\n${SECOND_LINE}\n`).hideText;
    assert.equal(
      hide(`> ${SECOND_LINE.replaceAll("A", "%41")} > ${FIRST_LINE.slice(1)}`),
      `> [secret] > ${FIRST_LINE.slice(1)}`,
    );
  });

  test("finds random secrets in random encodings", () => {
    const secrets = fc.string({ unit: "binary", minLength: 12, maxLength: 40 });
    fc.assert(
      fc.property(secrets, fc.constantFrom(...Object.values(WRITERS)), (secret, write) => {
        const written = write(secret);
        assert.ok(!maskOf(secret).hideText(`<${written}>`).includes(written));
      }),
      { numRuns: 300 },
    );
  });
});

test("searches a long answer in slices, yields in between, and finds secrets across slice boundaries", async () => {
  const EDGE = 128 * 1024;
  const mask = maskOf(KEY);
  const written = encodeURIComponent(KEY);
  for (const offset of [-written.length - 1, -written.length, -7, -1, 0, 1]) {
    const before = ".".repeat(EDGE + offset);
    const hidden = await mask.hideBytes(Buffer.from(`${before}${written}${".".repeat(EDGE)}${written}`));
    assert.ok(Buffer.from(hidden).equals(Buffer.from(`${before}[secret]${".".repeat(EDGE)}[secret]`)), `${offset}`);
  }
  const turns: string[] = [];
  const turn = new Promise<void>((resolve) => setImmediate(resolve)).then(() => turns.push("another"));
  const clean = Buffer.alloc(EDGE + 1, ".");
  assert.equal(await mask.hideBytes(clean), clean);
  turns.push("search");
  await turn;
  assert.deepEqual(turns, ["another", "search"]);
});

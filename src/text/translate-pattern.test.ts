/** A translated pattern must match what JavaScript matches, and nothing else; what cannot be translated has a reason. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { z } from "zod";

import { translatePattern } from "./translate-pattern.ts";

/** As public schemas, OpenAPI documents and schema generators write them. */
const REAL = [
  String.raw`^[a-z0-9]+(?:-[a-z0-9]+)*$`,
  String.raw`^[A-Za-z0-9_.-]{1,64}$`,
  String.raw`^\d{4}-\d{2}-\d{2}$`,
  String.raw`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T\d{2}:\d{2}:\d{2}(?:\.\d+)?(Z|[+-]\d{2}:\d{2})$`,
  String.raw`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`,
  String.raw`^[^@\s]+@[^@\s]+\.[^@\s]+$`,
  String.raw`^[a-zA-Z0-9.!#$%&'*+\/=?^_{|}~-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*$`,
  String.raw`^\+[1-9]\d{1,14}$`,
  String.raw`^(https?|ftp)://[^\s/$.?#].[^\s]*$`,
  String.raw`^arn:(aws[a-zA-Z-]*)?:[a-z]+:[a-z]{2}((-gov)|(-iso(b?)))?-[a-z]+-\d{1}:\d{12}:[a-zA-Z0-9-_]+$`,
  String.raw`^[\w+=,.@-]+$`,
  String.raw`^[\p{L}\p{N}\p{Zs}_.:/=+\-@]*$`,
  String.raw`^[\u0009\u000A\u000D\u0020-\uD7FF\uE000-\uFFFD]*$`,
  String.raw`^[\u0020-\u007E]*$`,
  String.raw`^[\x20-\x7E]+$`,
  String.raw`[\s\S]*`,
  String.raw`\S`,
  String.raw`.*\S.*`,
  String.raw`^$|^[A-Z]{2,3}$`,
  String.raw`^#?([a-fA-F0-9]{6}|[a-fA-F0-9]{3})$`,
  String.raw`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`,
  String.raw`^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\w.-]+))?(?:\+([\w.-]+))?$`,
  String.raw`^[CDG][A-Z0-9]{8,}$`,
  String.raw`^(?<owner>[\w-]+)\/(?<repo>[\w.-]+)$`,
  String.raw`^([01]?[0-9]|2[0-3]):[0-5][0-9]$`,
  String.raw`^[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?$`,
  String.raw`^\$\{[a-z]+\}$`,
  String.raw`^{[a-z]+}$`,
  String.raw`^[\w-.]+$`,
  String.raw`^\@[a-z\_]+\-x$`,
  String.raw`^\/[a-z\/]*$`,
  String.raw`^(\([0-9]{3}\))?[0-9]{3}-[0-9]{4}$`,
  String.raw`\bfoo\b`,
  String.raw`^[^\n\r]*$`,
  String.raw`^[^]*$`,
  String.raw`^\u{1F600}|\ud83d\ude00$`,
  String.raw`^\cJ\0\t$`,
  "",
];
const STRINGS = [
  "",
  "a",
  "hello-world",
  "2024-01-31",
  "2024-12-31T23:59:59.5Z",
  "123e4567-e89b-12d3-a456-426614174000",
  "someone@example.com",
  "+4930123456",
  "https://example.com/a?b#c",
  "arn:aws:iam:eu-west-1:123456789012:user",
  "ABC",
  "#a1b2c3",
  "aGVsbG8=",
  "1.2.3-rc.1+build",
  "C12345678",
  "owner/re.po",
  "23:59",
  "-1.5e10",
  "${name}",
  "{name}",
  "@a_b-x",
  "/a/b/",
  "(123)123-4567",
  "a foo b",
  "line\nbreak",
  "tab\there",
  "\n\0\t",
  "é",
  "日本語 テキスト",
  "😀",
  "a😀b",
  "\u2028",
  "\u00a0",
  "\ufeff",
  " ",
  "٣",
  "\ud800",
  "x".repeat(70),
];

/** Without the flag `u` if JavaScript refuses the pattern with it. */
function toRegExp(pattern: string): { readonly regExp: RegExp | undefined; readonly isLoose: boolean } {
  for (const flags of ["u", ""]) {
    try {
      return { regExp: new RegExp(pattern, flags), isLoose: flags === "" };
    } catch {
      // the other flags
    }
  }
  return { regExp: undefined, isLoose: true };
}

/** Without the flag `u` JavaScript counts units, so the strings that have two in a character are left out. */
function assertSame(pattern: string, strings: readonly string[]): void {
  const translated = translatePattern(pattern);
  const { regExp, isLoose } = toRegExp(pattern);
  if (translated.kind !== "translated") {
    assert.ok(isLoose || translated.why !== "syntax that JavaScript does not have", pattern);
    return;
  }
  assert.ok(regExp, `JavaScript refuses ${pattern}`);
  const matcher = RE2JS.compile(translated.re2);
  for (const text of strings) {
    if (isLoose && /[\u{10000}-\u{10ffff}\ud800-\udfff]/u.test(text)) continue;
    assert.equal(matcher.matcher(text).find(), regExp.test(text), `${pattern} on ${JSON.stringify(text)}`);
  }
}

const ATOMS =
  String.raw`a b A 0 9 _ - . / , : @ é \. \d \w \s \D \W \S \/ \- \n \x41 \u0061 \u{1F600} 😀 \ud83d\ude00 \cJ
\0 [a-c] [^a-c] [^] [] [\w-] [\w.-] [\d-x] [a\]b] [\b] [.*+] [\s\S] [^\s] \p{L} \P{L} [\p{N}x] [^\P{L}a] { } ] \@
\1 \k<n> (?=a) (?<!a) (?i:a) \a \B [b-a] {2} {,3} (?P<x>a) [[:alpha:]]`.split(/\s/);
const { choice } = fc.letrec<{ choice: string; group: string }>((tie) => ({
  choice: fc
    .array(
      fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        { arbitrary: fc.constantFrom(...ATOMS), weight: 6 },
        { arbitrary: fc.constantFrom("^", "$", "\\b", "|"), weight: 2 },
        { arbitrary: tie("group"), weight: 3 },
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join("")),
  group: fc
    .tuple(tie("choice"), fc.constantFrom("", "?:"), fc.constantFrom("", "*", "+", "?", "{2}", "{1,2}", "{0}", "*?"))
    .map(([inside, kind, repetition]) => `(${kind}${inside})${repetition}`),
}));
const string = fc
  .array(
    fc.constantFrom(..."abAx09_-. /\n\t@é{}],:$^".split(""), "😀", "\ud800", "\u2028", "\u00a0", "\0", "\b", "ß", "٣"),
    {
      maxLength: 5,
    },
  )
  .map((chars) => chars.join(""));

describe("a translated pattern", () => {
  for (const pattern of REAL) {
    it(`matches what JavaScript matches: ${pattern}`, () => {
      assert.equal(translatePattern(pattern).kind, "translated");
      assertSame(pattern, STRINGS);
    });
  }
  it("matches what JavaScript matches, for the patterns of a schema generator", () => {
    const { datetime, date, time } = z.iso;
    const types = [z.email(), z.uuid(), z.ipv4(), z.ipv6(), z.cidrv4(), z.base64(), z.e164(), z.ulid(), z.nanoid()];
    for (const type of [...types, datetime({ offset: true }), date(), time(), z.string().includes("a.b")]) {
      const { pattern } = z.toJSONSchema(type);
      assert.ok(pattern !== undefined);
      assert.equal(translatePattern(pattern).kind, "translated", pattern);
      assertSame(pattern, [...STRINGS, "1.2.3.4", "2001:db8::1", "10.0.0.0/8", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "xa.by"]);
    }
  });
  it("matches what JavaScript matches, for random patterns and strings", () => {
    fc.assert(
      fc.property(choice, fc.array(string, { minLength: 4, maxLength: 8 }), (pattern, strings) =>
        assertSame(pattern, strings),
      ),
      { numRuns: 4_000 },
    );
  });
  it("has the same general categories of Unicode as JavaScript", () => {
    for (const category of ["L", "Lu", "Ll", "M", "Mn", "N", "Nd", "P", "Pd", "S", "Sc", "Z", "Zs"]) {
      const found = translatePattern(`^\\p{${category}}$`);
      assert.ok(found.kind === "translated");
      const [matcher, regExp] = [RE2JS.compile(found.re2), new RegExp(`^\\p{${category}}$`, "u")];
      for (let code = 0; code < 0x3000; code += 1) {
        const char = String.fromCodePoint(code);
        assert.equal(matcher.test(char), regExp.test(char), `${category} ${code.toString(16)}`);
      }
    }
  });
});

describe("a pattern that cannot be translated", () => {
  const why = (pattern: string): string => {
    const translated = translatePattern(pattern);
    return translated.kind === "unsupported" ? translated.why : "translated";
  };
  const cases = [
    ["^(?!x)", "a lookahead"],
    ["(?=x)", "a lookahead"],
    ["(?<=x)y", "a lookbehind"],
    [String.raw`(a)\1`, "a backreference"],
    [String.raw`(?<n>a)\k<n>`, "a backreference"],
    ["(?i)a", "a special group"],
    ["(?P<n>a)", "a special group"],
    [String.raw`\p{Script=Greek}`, "a property of Unicode"],
    [String.raw`\Ba`, "a negated word boundary"],
    ["[[:alpha:]]", "a class of POSIX"],
    ["a{,3}", "a repetition without a lower bound"],
    [String.raw`\ud800`, "a lone surrogate"],
    ["(", "syntax that JavaScript does not have"],
    [")", "syntax that JavaScript does not have"],
    ["[", "syntax that JavaScript does not have"],
    ["a**", "syntax that JavaScript does not have"],
    ["a{2,1}", "syntax that JavaScript does not have"],
    ["[b-a]", "syntax that JavaScript does not have"],
    [String.raw`\Aa\Z`, "syntax that JavaScript does not have"],
    ["\\", "syntax that JavaScript does not have"],
  ] as const;
  for (const [pattern, reason] of cases) {
    it(`has a reason: ${pattern} has ${reason}`, () => assert.equal(why(pattern), reason));
  }
  it("has more than 2000 characters", () => {
    assert.deepEqual(
      [1_999, 2_000, 2_001].map((length) => why("a".repeat(length))),
      ["translated", "translated", "more than 2000 characters"],
    );
  });
  it("repeats more than 1000 times, alone or nested", () => {
    assert.deepEqual(
      ["a{999}", "a{1000}", "a{1001}", "(?:a{10}){100}", "(?:a{10}){101}", "((a{100}){100}){100}"].map(why),
      [
        "translated",
        "translated",
        "a repetition above 1000",
        "translated",
        "a repetition above 1000",
        "a repetition above 1000",
      ],
    );
  });
  it("takes more than 4000 instructions", () => {
    assert.deepEqual(["a{999}b{1000}", "a{1000}b{1000}", "a{1000}b{1000}c"].map(why), [
      "translated",
      "translated",
      "a large counted repetition",
    ]);
  });
  it("nests more than 50 groups", () => {
    const nest = (depth: number): string => "(".repeat(depth) + "a" + ")".repeat(depth);
    assert.deepEqual([49, 50, 51].map(nest).map(why), ["translated", "translated", "many nested groups"]);
  });
});

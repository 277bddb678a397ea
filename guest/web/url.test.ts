/** `URL` against Node's own, with the host's half built on Node's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { parseUrlParts, setUrlPart as setHostUrlPart } from "../../src/sandbox/engines/url-parts.ts";
import { URL_PARTS } from "../../src/sandbox/wire.ts";
import { createUrl, structuredClone, URLSearchParams } from "./index.ts";

const Native = globalThis.URL;
const SETTABLE = URL_PARTS.filter((part) => part !== "href" && part !== "origin");

const asked: string[] = [];

/** The host's own half, as the child has it, with a note of what was asked. */
function parseUrl(href: string, base: string | undefined): string | undefined {
  asked.push("parse");
  return parseUrlParts(href, base);
}

function setUrlPart(href: string, part: string, value: string): string {
  asked.push(`set ${part}`);
  return setHostUrlPart(href, part, value);
}

const URL = createUrl(parseUrl, setUrlPart);

/** All that can be read from a URL. */
function read(url: object): unknown {
  return [
    ...URL_PARTS.map((part) => Reflect.get(url, part)),
    [...Reflect.get(url, "searchParams")],
    Reflect.get(url, "toString").call(url),
  ];
}

const piece = fc.constantFrom(
  "http:",
  "https://",
  "a.example",
  "/",
  "//",
  "?",
  "#",
  "a=1",
  "&b=%20",
  ":8080",
  "user:p@",
  "é",
  "..",
  "[::1]",
  "mailto:",
  " ",
  "\ud800",
);
const anyHref = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
);
const anyChange = fc.tuple(
  fc.constantFrom(...SETTABLE),
  fc.oneof(
    fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join("")),
    fc.constantFrom("", "99999", "ftp", "x=y+z"),
  ),
);

test("URL accepts and refuses the same strings as Node, with the same parts", () => {
  fc.assert(
    fc.property(anyHref, fc.option(anyHref, { nil: undefined }), (href, base) => {
      const [mine, native] = [URL.parse(href, base), Native.parse(href, base)];
      assert.equal(URL.canParse(href, base), native !== null);
      assert.deepEqual(mine && read(mine), native && read(native));
    }),
    { numRuns: 500 },
  );
});

test("URL has Node's parts after every sequence of changes", () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), fc.array(anyChange, { maxLength: 5 }), (href, changes) => {
      const [mine, native] = [new URL(href), new Native(href)];
      for (const [part, value] of changes) {
        mine[part] = value;
        native[part] = value;
        assert.deepEqual(read(mine), read(native));
      }
    }),
    { numRuns: 300 },
  );
});

test("changes of searchParams show in the URL and the other way round", () => {
  const url = new URL("https://a.example/?a=1#end");
  const params = url.searchParams;
  params.append("b", "ü &");
  assert.equal(url.href, "https://a.example/?a=1&b=%C3%BC+%26#end");
  params.delete("a");
  assert.equal(url.search, "?b=%C3%BC+%26");
  url.search = "c=3";
  assert.deepEqual([...params], [["c", "3"]]);
  params.set("c", "4");
  url.pathname = "/path";
  assert.equal(url.href, "https://a.example/path?c=4#end");
  url.href = "https://b.example/?d=5";
  assert.deepEqual([...params], [["d", "5"]]);
  params.delete("d");
  assert.equal(url.href, "https://b.example/");
  assert.equal(url.searchParams, params);
});

test("setting a part of a URL replaces earlier changes of searchParams", () => {
  const url = new URL("https://a.example/?a=1");
  url.searchParams.append("b", "2");
  url.search = "?c=3";
  assert.equal(url.href, "https://a.example/?c=3");
  url.searchParams.append("d", "4");
  url.href = "https://b.example/";
  assert.equal(url.href, "https://b.example/");
});

test("many changes of searchParams cost one request to the host", () => {
  const url = new URL("https://a.example/");
  asked.length = 0;
  for (let index = 0; index < 100; index += 1) url.searchParams.append("n", index);
  assert.deepEqual(asked, []);
  assert.equal(url.search, `?${Array.from({ length: 100 }, (_, index) => `n=${index}`).join("&")}`);
  assert.equal(url.hash, "");
  assert.deepEqual(asked, ["set search"]);
});

test("URL returns null or false, or throws a TypeError, for a string that is not a URL", () => {
  assert.throws(() => new URL("nonsense"), { name: "TypeError", message: "Invalid URL: nonsense" });
  assert.throws(() => new URL("/path", "nonsense"), TypeError);
  assert.equal(URL.parse("nonsense"), null);
  assert.equal(URL.canParse("nonsense"), false);
  assert.equal(new URL("/path", "https://a.example").href, "https://a.example/path");
  assert.equal(URL.canParse("/path", "https://a.example"), true);
});

test("a refused href leaves the URL unchanged", () => {
  const url = new URL("https://a.example/");
  assert.throws(() => Reflect.set(url, "href", "nonsense"), TypeError);
  assert.equal(url.href, "https://a.example/");
});

test("the error for an invalid URL repeats only the start of a long string", () => {
  assert.throws(() => new URL("x".repeat(201)), { message: `Invalid URL: ${"x".repeat(200)}` });
  assert.throws(() => new URL("x".repeat(200)), { message: `Invalid URL: ${"x".repeat(200)}` });
});

test("a URL is its href as a string and in JSON", () => {
  const url = new URL("https://a.example");
  assert.equal(JSON.stringify({ url }), '{"url":"https://a.example/"}');
  assert.equal(url.toString(), "https://a.example/");
  assert.equal(new URL(url).href, url.href);
  assert.equal(Object.prototype.toString.call(url), "[object URL]");
  assert.ok(url instanceof URL);
  assert.ok(url.searchParams instanceof URLSearchParams);
  assert.throws(() => structuredClone(url), { name: "DataCloneError" });
});

test("URL does not allow assigning origin or searchParams", () => {
  const url = new URL("https://a.example/?a=1");
  assert.equal(Reflect.set(url, "origin", "https://b.example"), false);
  assert.equal(Reflect.set(url, "searchParams", new URLSearchParams()), false);
  assert.equal(url.href, "https://a.example/?a=1");
});

test("URL refuses a reply of the host that lacks a part", () => {
  const Broken = createUrl(
    () => '{"href":"x"}',
    () => "null",
  );
  assert.throws(() => new Broken("https://a.example"), { message: "The host's reply lacks origin" });
});

test("changing the prototype of URL does not reveal the host's functions", () => {
  const Victim = createUrl(parseUrl, setUrlPart);
  const seen: unknown[] = [];
  Reflect.setPrototypeOf(Victim, function (...args: unknown[]) {
    seen.push(...args);
  });
  assert.throws(() => new Victim("https://a.example"), TypeError);
  assert.deepEqual(seen, []);
  assert.equal(new URL("https://a.example").host, "a.example");
});

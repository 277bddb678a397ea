/** Which names are public suffixes, compared with `tldts`, which the table is made from. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import { PUBLIC_SUFFIXES } from "./public-suffixes.generated.ts";
import { isPublicSuffix } from "./public-suffixes.ts";

interface Tldts {
  getPublicSuffix(name: string, options: object): string | null;
}

const tldts: Tldts = createRequire(import.meta.url)("tldts");

/** The rules of the table as whole names; a wildcard stands for any label. */
function listRules(): readonly string[] {
  return PUBLIC_SUFFIXES.split("|")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const [top = "", ...rules] = line.split(" ");
      return rules.map((rule) => `${rule.replace("*", "any-label")}.${top}`);
    });
}

test("every rule of the table is a public suffix by tldts, and every exception is not", () => {
  const suffixOf = (name: string): string | null => tldts.getPublicSuffix(name, { allowPrivateDomains: true });
  const rules = listRules();
  assert.ok(rules.length > 9_000, `${rules.length} rules`);
  const wrong = rules.filter((rule) =>
    rule.startsWith("!") ? suffixOf(rule.slice(1)) === rule.slice(1) : suffixOf(rule) !== rule,
  );
  assert.deepEqual(wrong, []);
});

test("isPublicSuffix is true for suffixes of registries and hosts, and false for names below them", () => {
  const suffixes = ["com", "co.uk", "xn--p1ai", "github.io", "any.ck", "ck", "kawasaki.jp", "any.kawasaki.jp"];
  const shared = ["amazonaws.com", "s3.eu-west-1.amazonaws.com", "blob.core.windows.net", "webhook.site"];
  const owned = ["example.com", "example.co.uk", "me.github.io", "app2.vercel.app", "www.ck", "city.kawasaki.jp"];
  assert.deepEqual(
    [...suffixes, ...shared, ...owned].filter((name) => isPublicSuffix(name)),
    [...suffixes, ...shared],
  );
});

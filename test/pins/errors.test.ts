/** Freezes the error table, which clients rely on, and holds its pages in `docs/errors/` to it, both ways. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { ERRORS } from "../../src/domain/index.ts";

const PAGES = new URL("../../docs/errors/", import.meta.url);

/** Code, fault, HTTP status, whether a retry may help. A change here is a change of the contract with every client. */
const PINNED: readonly (readonly [code: string, fault: string, http: number, retry: boolean])[] = [
  ["REQUEST_INVALID", "caller", 400, false],
  ["REQUEST_UNAUTHENTICATED", "caller", 401, false],
  ["REQUEST_FORBIDDEN", "caller", 403, false],
  ["REQUEST_NOT_FOUND", "caller", 404, false],
  ["REQUEST_CONFLICT", "caller", 409, false],
  ["REQUEST_CANCELLED", "caller", 499, false],
  ["CONFIG_INVALID", "caller", 500, false],
  ["CONFIG_UNTRUSTED", "caller", 500, false],
  ["LISTEN_FAILED", "caller", 500, false],
  ["PROGRAM_SYNTAX", "program", 422, false],
  ["PROGRAM_FORBIDDEN", "program", 422, false],
  ["PROGRAM_TYPES", "program", 422, false],
  ["PROGRAM_THREW", "program", 422, false],
  ["PROGRAM_RESULT_UNSERIALIZABLE", "program", 422, false],
  ["TOOL_NOT_FOUND", "program", 422, false],
  ["TOOL_WITHHELD", "policy", 403, false],
  ["SKILL_NOT_APPROVED", "policy", 403, false],
  ["SKILL_FROZEN", "policy", 403, false],
  ["TOOL_ARGUMENTS_INVALID", "program", 422, false],
  ["LIMIT_TIME", "limit", 422, false],
  ["LIMIT_MEMORY", "limit", 422, false],
  ["LIMIT_CALLS", "limit", 422, false],
  ["LIMIT_SIZE", "limit", 422, false],
  ["LIMIT_BUSY", "limit", 429, true],
  ["LIMIT_QUOTA", "limit", 429, true],
  ["POLICY_DENIED", "policy", 403, false],
  ["POLICY_APPROVAL_PENDING", "policy", 202, true],
  ["POLICY_APPROVAL_REJECTED", "policy", 403, false],
  ["EGRESS_DENIED", "policy", 403, false],
  ["UPSTREAM_UNREACHABLE", "upstream", 502, true],
  ["UPSTREAM_TIMEOUT", "upstream", 504, true],
  ["UPSTREAM_AUTH_REQUIRED", "upstream", 502, false],
  ["UPSTREAM_FAILED", "upstream", 502, false],
  ["UPSTREAM_RESULT_INVALID", "upstream", 502, false],
  ["VAULT_SECRET_MISSING", "internal", 500, false],
  ["STORE_UNAVAILABLE", "internal", 503, true],
  ["REPLAY_DIVERGED", "internal", 409, false],
  ["SANDBOX_CRASHED", "internal", 500, true],
  ["SANDBOX_UNAVAILABLE", "internal", 503, false],
  ["INTERNAL_BUG", "internal", 500, false],
];

/** What a page says in its title and its table. */
function readPage(code: string): readonly unknown[] {
  const text = readFileSync(new URL(`${code}.md`, PAGES), "utf8");
  const [, title] = /^# (\S+)\n/.exec(text) ?? [];
  const [, fault, http, retry] = /^\| (\w+) \| (\d+) \| (yes|no) \|$/m.exec(text) ?? [];
  return [title, fault, Number(http), retry === "yes"];
}

test("the error table is the pinned one", () => {
  const table = Object.entries(ERRORS).map(([code, { fault, http, retry }]) => [code, fault, http, retry]);
  assert.deepEqual(table, PINNED);
});

test("every code has a page and every page has a code", () => {
  assert.deepEqual(
    readdirSync(PAGES).toSorted(),
    Object.keys(ERRORS)
      .map((code) => `${code}.md`)
      .toSorted(),
  );
});

test("each page states the fault, status and retry of the table", () => {
  assert.deepEqual(
    PINNED.map(([code]) => readPage(code)),
    PINNED,
  );
});

test("each page says what happened, why and what to do, in this order", () => {
  for (const [code] of PINNED) {
    const text = readFileSync(new URL(`${code}.md`, PAGES), "utf8");
    const headings = Array.from(text.matchAll(/^\*\*([A-Z][a-z ]+)\*\*$/gm), ([, heading]) => heading);
    assert.deepEqual(headings, ["What happened", "Why", "What to do"], code);
  }
});

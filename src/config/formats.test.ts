/** Formats of strings, each refusal next to what is accepted. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isHttpUrl, isLoopbackHost, isSqliteUrl, isToolPattern } from "./formats.ts";

function split(matches: (value: string) => boolean, values: readonly string[]): string[] {
  return values.filter(matches);
}

test("isToolPattern accepts its five forms, also with names that servers gave", () => {
  const allowed = [
    "*",
    "github.*",
    "github.createIssue",
    "a.b",
    "a.b.c",
    "Github.*",
    "a.B",
    "a-b.*",
    `${"a".repeat(129)}.*`,
    "github.create*",
    "github.*issue*",
    "a.b.c*",
    "*.delete*",
    "*.delete",
  ];
  const refused = ["", "**", "*.*", "*.", "*.**", "github", "github.", ".x", "git*", "git*.x", "*git.x", "*.a.b*"];
  refused.push("github.**", "a.* ", "a.b\u0000", "a.b*\u0000", "github.a*.b");
  assert.deepEqual(split(isToolPattern, [...allowed, ...refused]), allowed);
});

test("isLoopbackHost accepts only canonical loopback hosts", () => {
  const allowed = ["127.0.0.1", "127.255.255.255", "127.0.0.0", "::1", "localhost"];
  const refused = [
    "",
    "0.0.0.0",
    "::",
    "127.1",
    "127.0.0.256",
    "127.0.0.01",
    "128.0.0.1",
    "127.0.0.1.example.com",
    "localhost.example.com",
    "[::1]",
    "::ffff:127.0.0.1",
    "10.0.0.1",
    "127.0.0.1\n",
  ];
  assert.deepEqual(split(isLoopbackHost, [...allowed, ...refused]), allowed);
});

test("isHttpUrl accepts http and https without credentials and white space", () => {
  const allowed = ["http://localhost:3000/mcp", "https://example.com", "https://[::1]/x?y=1"];
  const refused = [
    "",
    "example.com",
    "ftp://example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://u@h/",
    "https://u:p@h/",
    " https://h/",
    "https://h/a\nb",
    "https://",
  ];
  assert.deepEqual(split(isHttpUrl, [...allowed, ...refused]), allowed);
});

test("isSqliteUrl accepts a file or memory", () => {
  const allowed = [
    "sqlite:./a.db",
    "sqlite:a.db",
    "sqlite:/var/a.db",
    "sqlite:///var/a.db",
    "sqlite:C:\\a.db",
    "sqlite::memory:",
  ];
  const refused = [
    "",
    "sqlite:",
    "a.db",
    "postgres://h/db",
    "SQLITE:a.db",
    "sqlite://host/a.db",
    "sqlite:a.db?mode=ro",
    "sqlite:a#b",
    "sqlite::memory:x",
    "sqlite:folder/",
    "sqlite:a\0b",
  ];
  assert.deepEqual(split(isSqliteUrl, [...allowed, ...refused]), allowed);
});

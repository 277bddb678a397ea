/** Which texts of a configuration count as credentials, and which must not, because they would vanish everywhere. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { findCredentials } from "./find-credentials.ts";

describe("a text of the configuration", () => {
  const credentials: Readonly<Record<string, readonly [string, string, readonly string[]]>> = {
    "under a telling name": ["GITHUB_TOKEN", "short-one", ["short-one", "short-one"]],
    "behind the word of its scheme": ["Authorization", "Bearer abc-defgh", ["Bearer abc-defgh", "abc-defgh"]],
    "in a header": ["x-api-key", "12345678", ["12345678", "12345678"]],
    "that looks like nothing else": ["X", "ghp0123456789abcdefg", ["ghp0123456789abcdefg", "ghp0123456789abcdefg"]],
    "in an address": ["DB", "postgres://ada:p%40ssword@db/x", ["p%40ssword", "p@ssword"]],
  };
  for (const [name, [key, text, found]] of Object.entries(credentials)) {
    it(`${name} is a credential`, () => assert.deepEqual(findCredentials([[key, text]]), found));
  }

  const ordinary: Readonly<Record<string, readonly [string, string]>> = {
    "with less than eight characters": ["API_KEY", "1234567"],
    "that is a path": ["KEY_FILE", "/home/ada/.ssh/id_ed25519"],
    "that is an address without a password": ["TOKEN_URL", "https://login.example.com/oauth2/v2/token"],
    "under a name that only sounds like it": ["AUTHOR", "ada lovelace"],
    "that is a word": ["ENVIRONMENT", "production"],
    "that is a long name": ["REGION", "europe-west-production-cluster"],
  };
  for (const [name, entry] of Object.entries(ordinary)) {
    it(`${name} is none`, () => assert.deepEqual(findCredentials([entry]), []));
  }
});

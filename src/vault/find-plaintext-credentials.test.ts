/** Which strings of a configuration count as credentials, and which must not, because they would be masked everywhere. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId, parseSecretName } from "../domain/index.ts";
import type { ApiSettings, ServerSettings } from "../domain/index.ts";
import { findInApi, findInServer, findPlaintextCredentials } from "./find-plaintext-credentials.ts";

const NETWORK = { tools: [] };

function server(env: Readonly<Record<string, string>>, args: readonly string[] = []): ServerSettings {
  const templates = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, [text]]));
  return { transport: "stdio", command: "node", args, env: templates, cwd: "/", startMs: 1, start: "lazy" };
}

function api(settings: Partial<ApiSettings>): ApiSettings {
  const document = { kind: "file", path: "/api.yaml" } as const;
  const lists = { include: [], exclude: [] };
  return { document, baseUrl: undefined, headers: {}, auth: {}, ...lists, network: NETWORK, startMs: 1, ...settings };
}

describe("findInServer", () => {
  const credentials: Readonly<Record<string, readonly [string, string, readonly string[]]>> = {
    "finds a credential under a telling name": ["GITHUB_TOKEN", "short-one", ["short-one", "short-one"]],
    "finds a credential behind its scheme": ["Authorization", "Bearer abc-defgh", ["Bearer abc-defgh", "abc-defgh"]],
    "finds a credential under a header name": ["x-api-key", "12345678", ["12345678", "12345678"]],
    "finds a string that looks random": ["X", "ghp0123456789abcdefg", ["ghp0123456789abcdefg", "ghp0123456789abcdefg"]],
    "finds a password in a URL, encoded and decoded": [
      "DB",
      "postgres://ada:p%40ssword@db/x",
      ["p%40ssword", "p@ssword"],
    ],
  };
  for (const [name, [key, text, found]] of Object.entries(credentials)) {
    it(name, () => assert.deepEqual(findInServer(server({ [key]: text })), found));
  }

  const ordinary: Readonly<Record<string, readonly [string, string]>> = {
    "ignores a string of less than eight characters": ["API_KEY", "1234567"],
    "ignores a path under a telling name": ["KEY_FILE", "/home/ada/.ssh/id_ed25519"],
    "ignores a URL without a password": ["TOKEN_URL", "https://login.example.com/oauth2/v2/token"],
    "ignores a name that only resembles a telling one": ["AUTHOR", "ada lovelace"],
    "ignores a single word": ["ENVIRONMENT", "production"],
    "ignores a long hyphenated name": ["REGION", "europe-west-production-cluster"],
  };
  for (const [name, [key, text]] of Object.entries(ordinary)) {
    it(name, () => assert.deepEqual(findInServer(server({ [key]: text })), []));
  }

  it("finds the value of an option, written with = or as the next argument", () => {
    assert.deepEqual(
      findInServer(server({}, ["--token=my-secret", "--api-key", "other-secret", "--name", "plainword"])),
      ["my-secret", "my-secret", "other-secret", "other-secret"],
    );
  });

  it("finds a credential in the query of a URL and in a header of an HTTP server", () => {
    const oauth = { scopes: [], grants: [] };
    const rest = { oauth, network: NETWORK, startMs: 1, start: "lazy" } as const;
    const headers = { authorization: ["Bearer abc-defgh"] };
    assert.deepEqual(
      findInServer({ transport: "http", url: "https://example.com/mcp?token=from-query", headers, ...rest }),
      ["Bearer abc-defgh", "abc-defgh", "from-query", "from-query"],
    );
  });

  it("ignores the plain part beside a secret reference", () => {
    const secret = parseSecretName("TOKEN");
    assert.ok(secret);
    const env = { AUTHORIZATION: ["Bearer-of-things ", { secret }] };
    assert.deepEqual(findInServer({ ...server({}), env } as ServerSettings), []);
  });
});

describe("findInApi", () => {
  it("treats every plain value of auth as a credential", () => {
    assert.deepEqual(findInApi(api({ auth: { basic: ["ada:lovelace"] } })), ["ada:lovelace", "ada:lovelace"]);
  });

  it("finds passwords in the base URL and in the URL of the document", () => {
    const document = { kind: "url", url: "https://ada:password-two@example.com/api.yaml" } as const;
    const baseUrl = "https://ada:password-one@example.com";
    const found = ["password-one", "password-one", "password-two", "password-two"];
    assert.deepEqual(findInApi(api({ baseUrl, document })), found);
  });
});

describe("findPlaintextCredentials", () => {
  it("collects the credentials of all servers and APIs", () => {
    const id = parseConnectorId("one");
    assert.ok(id);
    const upstreams = new Map([[id, server({ API_TOKEN: "of-server" })]]);
    const apis = new Map([[id, api({ headers: { "x-api-key": ["of-the-api"] } })]]);
    const found = ["of-server", "of-server", "of-the-api", "of-the-api"];
    assert.deepEqual(findPlaintextCredentials({ upstreams, apis }), found);
  });
});

/** What is pinned of a request: everything in a document that decides where arguments and credentials go. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { JsonObject } from "../../../domain/index.ts";
import { createTestConnector } from "../fixtures/test-connector.ts";
import type { TestSettings } from "../fixtures/test-connector.ts";

const PARAMETER = { name: "q", in: "query", schema: { type: "array", items: { type: "string" } } };
const BODY = { content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } } };
const KEY = { type: "apiKey", in: "header", name: "x-key" };

interface Parts {
  readonly servers?: unknown;
  readonly parameter?: object;
  readonly requestBody?: unknown;
  readonly security?: unknown;
  readonly key?: object;
}

function toDocument({ servers, parameter, requestBody, security, key }: Parts): unknown {
  const operation = {
    operationId: "find",
    parameters: [{ ...PARAMETER, ...parameter }],
    requestBody: requestBody ?? BODY,
    security: security ?? [{ key: [] }],
    responses: { 200: { description: "ok" } },
  };
  return {
    openapi: "3.1.0",
    servers: servers ?? [{ url: "https://a.example/v1" }],
    paths: { "/find": { post: operation } },
    components: { securitySchemes: { key: { ...KEY, ...key }, other: { type: "http", scheme: "bearer" } } },
  };
}

async function requestOf(parts: Parts, settings: TestSettings = {}): Promise<JsonObject | undefined> {
  const readFile = async (): Promise<string> => JSON.stringify(toDocument(parts));
  await using connector = createTestConnector(settings, readFile);
  return (await connector.tools())[0]?.request;
}

const FORM = { style: "form", explode: true, allowReserved: false };
const USUAL = {
  base: "https://a.example/v1",
  parameters: { q: { name: "q", place: "query", format: "style", ...FORM } },
  body: { kind: "form", mediaType: "application/x-www-form-urlencoded", encodings: {}, binaries: [] },
  security: [{ key: { kind: "apiKey", place: "header", name: "x-key" } }],
};

describe("the pinned request of an operation", () => {
  it("a pinned request has its URL, the place of each argument, the form of the body and the credentials", async () => {
    assert.deepEqual(await requestOf({}), USUAL);
  });
  for (const [what, parts] of Object.entries({
    "another address": { servers: [{ url: "https://b.example/v1" }] },
    "another path of the address": { servers: [{ url: "https://a.example/v2" }] },
    "another place of a parameter": { parameter: { in: "header" } },
    "another style of a parameter": { parameter: { style: "pipeDelimited" } },
    "another spreading of a parameter": { parameter: { explode: false } },
    "another media type of the body": { requestBody: { content: { "text/plain": {} } } },
    "no security": { security: [] },
    "another scheme": { security: [{ other: [] }] },
    "another place of the credential": { key: { in: "query" } },
    "another name of the credential": { key: { name: "x-other" } },
  } satisfies Record<string, Parts>)) {
    it(`a pinned request differs with ${what}`, async () => {
      assert.notDeepEqual(await requestOf(parts), USUAL);
    });
  }
  it("a pinned request is the same when the operator sets a credential, and differs with the operator's own base URL", async () => {
    assert.deepEqual(await requestOf({}, { auth: { key: "abc" } }), USUAL);
    const base = "https://c.example/";
    assert.deepEqual(await requestOf({}, { baseUrl: base }), { ...USUAL, base });
  });
  it("a pinned request names every scheme if the document has no security requirements", async () => {
    assert.deepEqual((await requestOf({ security: "?" }))?.["security"], [
      { ...USUAL.security[0], other: { kind: "bearer" } },
    ]);
  });
});

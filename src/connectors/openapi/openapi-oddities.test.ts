/** Unusual requests in documents: bodies where none is allowed, parameters with a media type. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { Connector } from "../connector.ts";
import { openFakeApi } from "./fixtures/fake-api.ts";
import type { FakeApi, SeenRequest } from "./fixtures/fake-api.ts";
import { createTestConnector } from "./fixtures/test-connector.ts";

const requestBody = { required: true, content: { "application/json": { schema: { type: "object" } } } };
const responses = { 200: { description: "ok" } };
const withContent = (name: string, place: string, mediaType: string): unknown => ({
  name,
  in: place,
  content: { [mediaType]: { schema: { type: "string" } } },
});
const DOCUMENT = {
  openapi: "3.0.0",
  paths: {
    "/things": {
      get: { operationId: "list", summary: "Lists", requestBody, responses },
      head: { operationId: "peek", requestBody, responses },
      delete: { operationId: "clear", summary: "Clears", requestBody, responses },
    },
    "/find": {
      get: {
        operationId: "find",
        parameters: [withContent("plain", "query", "text/plain"), withContent("json", "query", "application/json")],
        responses,
      },
    },
  },
};

let api: FakeApi;
let connector: Connector;

before(async () => {
  api = await openFakeApi();
  connector = createTestConnector({ baseUrl: api.origin }, async () => JSON.stringify(DOCUMENT));
});
after(async () => {
  await connector.close();
  await api[Symbol.asyncDispose]();
});

async function send(name: string, args: object): Promise<SeenRequest | undefined> {
  api.seen.length = 0;
  await connector.call(name, { ...args }, { signal: AbortSignal.timeout(5000) });
  return api.seen[0];
}

const NOTE = "The document gives this request a body, which a request of its method cannot have: it is sent without.";

describe("a body in the document", () => {
  it("a body of GET and HEAD is not an argument, the description explains it, and the call works", async () => {
    const tools = new Map((await connector.tools()).map((tool) => [tool.name, tool]));
    const seen = [tools.get("list"), tools.get("peek")].map((tool) => [tool?.description, tool?.input]);
    const input = { type: "object", properties: {}, additionalProperties: false };
    assert.deepEqual(seen, [
      [`Lists\n\n${NOTE}`, input],
      [NOTE, input],
    ]);
    assert.deepEqual([(await send("list", {}))?.body, (await send("peek", {}))?.method], ["", "HEAD"]);
  });
  it("a body of DELETE is sent", async () => {
    const { method, body } = (await send("clear", { body: { all: true } })) ?? {};
    assert.deepEqual([method, body], ["DELETE", '{"all":true}']);
  });
});

describe("a parameter with a media type", () => {
  it("a parameter with a media type is sent as it is for text, and as JSON for JSON", async () => {
    assert.equal((await send("find", { plain: "a b", json: "a b" }))?.url, "/find?plain=a%20b&json=%22a%20b%22");
  });
});

/**
 * What a document expresses through other schemas: optional files, hidden fields of a base, alternative media types.
 */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import type { Json, JsonSchema } from "../../domain/index.ts";
import type { Connector, RemoteTool } from "../connector.ts";
import { openFakeApi } from "./fixtures/fake-api.ts";
import type { FakeApi } from "./fixtures/fake-api.ts";
import { createTestConnector } from "./fixtures/test-connector.ts";

const BYTES = { type: "string", format: "binary" };
const NULL = { type: "null" };
const UPLOAD = {
  type: "object",
  allOf: [{ properties: { based: { anyOf: [BYTES, NULL] } } }],
  properties: {
    either: { anyOf: [BYTES, NULL] },
    one: { oneOf: [NULL, { $ref: "#/components/schemas/File" }] },
    all: { allOf: [{ $ref: "#/components/schemas/File" }] },
    list: { type: "array", items: { anyOf: [BYTES, NULL] } },
    some: { anyOf: [{ type: "array", items: BYTES }, BYTES, NULL] },
    mixed: { anyOf: [BYTES, { type: "string", format: "uri" }] },
    nothing: NULL,
    round: { $ref: "#/components/schemas/Round" },
  },
};
const of = (name: string): object => ({ schema: { $ref: `#/components/schemas/${name}` } });
const answer = (content: object): object => ({ 200: { description: "ok", content } });
const postOf = (name: string): object => ({
  post: {
    operationId: `post${name}`,
    requestBody: { required: true, content: { "application/json": of(name) } },
    responses: answer({ "application/json": of(name) }),
  },
});
const getOf = (operationId: string, content: object): object => ({
  get: { operationId, responses: answer(content) },
});
const patch = { "application/json-patch+json": { schema: { type: "array" } } };
const DOCUMENT = {
  openapi: "3.1.0",
  components: {
    schemas: {
      File: BYTES,
      Round: { anyOf: [{ $ref: "#/components/schemas/Round" }, BYTES] },
      Base: { type: "object", properties: { id: { type: "integer", readOnly: true }, key: { writeOnly: true } } },
      Middle: { allOf: [{ $ref: "#/components/schemas/Base" }, { $ref: "#/components/schemas/Middle" }] },
      Beside: { allOf: [{ $ref: "#/components/schemas/Middle" }], required: ["id", "key", "name"] },
      Sibling: { allOf: [{ $ref: "#/components/schemas/Base" }, { required: ["id", "key", "name"] }] },
      Reference: {
        $ref: "#/components/schemas/Base",
        properties: { at: { type: "string", readOnly: true } },
        required: ["at", "id", "key", "name"],
      },
      Plain: { allOf: [{ properties: { id: { type: "integer" } } }], required: ["id", "key", "name"] },
      Inner: {
        allOf: [{ $ref: "#/components/schemas/Base" }],
        properties: { part: { type: "object", required: ["id"] } },
      },
    },
  },
  paths: {
    "/files": {
      post: {
        operationId: "upload",
        requestBody: { content: { "multipart/form-data": { schema: UPLOAD } } },
        responses: answer({}),
      },
    },
    "/beside": postOf("Beside"),
    "/sibling": postOf("Sibling"),
    "/reference": postOf("Reference"),
    "/plain": postOf("Plain"),
    "/inner": postOf("Inner"),
    "/things": {
      ...getOf("several", { "application/hal+json": of("File"), "Application/JSON; charset=utf-8": of("Base") }),
      patch: {
        operationId: "change",
        requestBody: { content: { ...patch, "application/json; charset=utf-8": { schema: { type: "object" } } } },
        responses: answer({}),
      },
      put: { operationId: "list", requestBody: { content: patch }, responses: answer({}) },
    },
    "/other": getOf("other", { "application/hal+json": of("File"), "application/vnd.a+json": of("Base") }),
    "/open": getOf("open", { "application/hal+json": of("File"), "application/vnd.a+json": {} }),
  },
};

let api: FakeApi;
let connector: Connector;
let tools: ReadonlyMap<string, RemoteTool>;

before(async () => {
  api = await openFakeApi();
  connector = createTestConnector({ baseUrl: api.origin }, async () => JSON.stringify(DOCUMENT));
  tools = new Map((await connector.tools()).map((tool) => [tool.name, tool]));
});
after(async () => {
  await connector.close();
  await api[Symbol.asyncDispose]();
});

/** The parts of a multipart body that were received as files, and those received as text. */
async function upload(field: string, value: Json): Promise<readonly string[]> {
  api.seen.length = 0;
  await connector.call("upload", { body: { [field]: value } }, { signal: AbortSignal.timeout(5000) });
  const parts = (api.seen[0]?.body ?? "").split(/\r\n?--[^\r]*\r\n|^--[^\r]*\r\n/).filter((part) => part !== "");
  return parts.map((part) => `${part.includes("filename=") ? "file" : "text"} ${part.split("\r\n\r\n")[1]}`);
}

describe("a file of a multipart body", () => {
  for (const field of ["based", "either", "one", "all", "list", "some"]) {
    it(`a file is sent as bytes if ${field} is always a file`, async () => {
      assert.deepEqual(await upload(field, "aGk="), ["file hi"]);
      assert.deepEqual(await upload(field, ["aGk=", "aG8="]), ["file hi", "file ho"]);
    });
  }
  for (const field of ["mixed", "nothing", "round", "undescribed"]) {
    it(`a file is sent as text if ${field} may be something else`, async () => {
      assert.deepEqual(await upload(field, "aGk="), ["text aGk="]);
    });
  }
});

describe("a field that only one side writes", () => {
  const requiredIn = (name: string, side: "input" | "output", path: (schema: Json) => Json | undefined): Json[] => {
    const defs = tools.get(`post${name}`)?.[side]?.["$defs"];
    return [path(JSON.parse(JSON.stringify(defs ?? {}))[name]) ?? "none"];
  };
  const own = (schema: Json): Json | undefined => JSON.parse(JSON.stringify(schema)).required;
  const second = (schema: Json): Json | undefined => JSON.parse(JSON.stringify(schema)).allOf[1].required;
  const part = (schema: Json): Json | undefined => JSON.parse(JSON.stringify(schema)).properties.part.required;

  it("a readOnly field is not required of the other side beside the base that hides it", () => {
    assert.deepEqual(requiredIn("Beside", "input", own), [["key", "name"]]);
    assert.deepEqual(requiredIn("Beside", "output", own), [["id", "name"]]);
  });
  it("a readOnly field is not required beside a reference to that base", () => {
    assert.deepEqual(requiredIn("Reference", "input", own), [["key", "name"]]);
    assert.deepEqual(requiredIn("Reference", "output", own), [["at", "id", "name"]]);
  });
  it("a readOnly field is not required by a sibling of that base", () => {
    assert.deepEqual(requiredIn("Sibling", "input", second), [["key", "name"]]);
    assert.deepEqual(requiredIn("Sibling", "output", second), [["id", "name"]]);
  });
  it("a field is required if nothing hides it, and in another object", () => {
    assert.deepEqual(requiredIn("Plain", "input", own), [["id", "key", "name"]]);
    assert.deepEqual(requiredIn("Inner", "input", part), [["id"]]);
  });
});

describe("of several JSON media types", () => {
  const outputOf = (name: string): JsonSchema | null | undefined => tools.get(name)?.output;
  it("application/json describes the answer, because requests ask for it", () => {
    assert.equal(outputOf("several")?.["$ref"], "#/$defs/Base");
  });
  it("all media types describe the answer without application/json, and none if one has no schema", () => {
    assert.deepEqual(outputOf("other")?.["anyOf"], [{ $ref: "#/$defs/File" }, { $ref: "#/$defs/Base" }]);
    assert.equal(outputOf("open"), null);
  });
  it("application/json is used for the body, and another only without it", async () => {
    api.seen.length = 0;
    await connector.call("change", { body: { a: 1 } }, { signal: AbortSignal.timeout(5000) });
    await connector.call("list", { body: [] }, { signal: AbortSignal.timeout(5000) });
    assert.deepEqual(
      api.seen.map(({ headers, body }) => [headers["content-type"], body]),
      [
        ["application/json; charset=utf-8", '{"a":1}'],
        ["application/json-patch+json", "[]"],
      ],
    );
  });
});

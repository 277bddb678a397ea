/** The tools of three documents, one of each version, in the style of public APIs. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { RemoteTool } from "../connector.ts";
import { createTestConnector, pathOf } from "./fixtures/test-connector.ts";
import type { DOCUMENTS, TestSettings } from "./fixtures/test-connector.ts";

async function listTools(
  document: keyof typeof DOCUMENTS,
  settings: TestSettings = {},
): Promise<ReadonlyMap<string, RemoteTool>> {
  const file = { kind: "file", path: pathOf(document) } as const;
  await using connector = createTestConnector({ document: file, baseUrl: "http://127.0.0.1:1", ...settings });
  return new Map((await connector.tools()).map((tool) => [tool.name, tool]));
}

const WRITE = { readOnly: false, destructive: false, idempotent: false, openWorld: true };
const PET = {
  name: { type: "string" },
  weight: { type: "number", minimum: 0, exclusiveMinimum: 0 },
  owner: { type: ["string", "null"] },
  parent: { $ref: "#/$defs/Pet" },
};

test("a Swagger 2.0 operation becomes a tool with both schemas, the definitions that it reaches and its claims", async () => {
  const { request: _, ...tool } = (await listTools("petstore")).get("addPet") ?? {};
  assert.deepEqual(tool, {
    name: "addPet",
    title: "POST /pet",
    description: "Add a pet",
    input: {
      type: "object",
      properties: { body: { $ref: "#/$defs/Pet" } },
      required: ["body"],
      additionalProperties: false,
      $defs: { Pet: { type: "object", properties: PET, required: ["name"] } },
    },
    output: {
      $ref: "#/$defs/Pet",
      $defs: { Pet: { type: "object", properties: { id: { type: "integer" }, ...PET }, required: ["id", "name"] } },
    },
    annotations: WRITE,
  });
});

test("an operation is named by its id, or by method and path", async () => {
  assert.deepEqual(
    [...(await listTools("petstore")).keys()],
    ["getPetById", "deletePet", "addPet", "get_pet_findByStatus", "uploadFile"],
  );
  assert.deepEqual(
    [...(await listTools("codeHost")).keys()],
    [
      "issues/list-for-repo",
      "issues/create",
      "get_repos_by_owner_by_repo",
      "repos/delete",
      "licenses/list",
      "hooks/find",
    ],
  );
});

test("the claimed effect of an operation follows from its method", async () => {
  const tools = await listTools("payments");
  const claims = [...tools].map(([name, { annotations }]) => [name, annotations.readOnly, annotations.destructive]);
  assert.deepEqual(claims, [
    ["GetCustomers", true, false],
    ["PostCustomers", false, false],
    ["PutCustomer", false, false],
    ["head_customers_by_id", true, false],
    ["PutFile", false, false],
    ["PostNote", false, false],
  ]);
  const { annotations } = (await listTools("petstore")).get("deletePet") ?? {};
  assert.deepEqual(annotations, { readOnly: false, destructive: true, idempotent: true, openWorld: true });
});

test("a deprecated operation starts with a note, and one without a text is described by its request", async () => {
  const tools = await listTools("petstore");
  assert.equal(tools.get("get_pet_findByStatus")?.description, "Deprecated. Find pets");
  assert.equal(tools.get("uploadFile")?.description, "POST /pet/{petId}/image");
});

test("the path keeps a name that several places share, and the others are named after their place", async () => {
  const input = (await listTools("payments")).get("PutCustomer")?.input;
  assert.deepEqual(Object.keys(Object(input?.["properties"])), [
    "id",
    "query_id",
    "header_id",
    "X-Request-Id",
    "session",
    "body",
  ]);
  assert.deepEqual(input?.["required"], ["id", "body"]);
});

test("nullable, exclusive ranges and alternatives of 3.0 become 2020-12, and write-only fields are not promised", async () => {
  const output = (await listTools("payments")).get("PostCustomers")?.output;
  assert.deepEqual(output, {
    anyOf: [{ $ref: "#/$defs/customer" }, { type: "null" }],
    $defs: {
      customer: {
        type: "object",
        properties: {
          id: { type: "string" },
          email: { type: "string" },
          balance: { type: ["integer", "null"] },
          state: { type: ["string", "null"], enum: ["active", "gone", null] },
          address: { anyOf: [{ allOf: [{ $ref: "#/$defs/address" }] }, { type: "null" }] },
          referrer: { $ref: "#/$defs/customer" },
          source: { anyOf: [{ $ref: "#/$defs/address" }, { type: "string" }] },
        },
        required: ["id", "email"],
      },
      address: { type: "object", properties: { city: { type: "string" }, line: { type: "string" } } },
    },
  });
});

test("circular definitions stay references, with the keywords beside them in 3.1", async () => {
  const output = (await listTools("codeHost")).get("issues/create")?.output;
  const user = { $ref: "#/$defs/user" };
  const repository = { $ref: "#/$defs/repository" };
  assert.deepEqual(output, {
    $ref: "#/$defs/issue",
    $defs: {
      issue: {
        type: "object",
        properties: {
          number: { type: "integer", exclusiveMinimum: 0 },
          title: { type: "string" },
          user: { anyOf: [user, { type: "null" }] },
          repository: { ...repository, description: "Where it is" },
          parts: { type: "array", prefixItems: [{ type: "string" }, { const: 1 }] },
        },
        required: ["number", "title", "user"],
      },
      user: {
        type: "object",
        properties: { login: { type: "string" }, starred: { type: "array", items: repository } },
      },
      repository: {
        type: "object",
        properties: { name: { type: "string" }, owner: user, fork_of: repository },
        required: ["name"],
      },
    },
  });
});

test("a reference to another document is not followed: the tool's description and the status mention it", async () => {
  const path = pathOf("codeHost");
  await using connector = createTestConnector({ document: { kind: "file", path }, baseUrl: "http://127.0.0.1:1" });
  const tool = (await connector.tools()).find(({ name }) => name === "licenses/list");
  assert.deepEqual(
    [tool?.output, tool?.description],
    [
      null,
      "GET /licenses\n\nParts of its schemas are in other documents, which are not read; those parts take and hold any value.",
    ],
  );
  assert.equal(
    connector.status().hint,
    "1 operations refer to other documents, which are not read; bundle them into one document",
  );
});

test("include and exclude select operations by name or by method and path", async () => {
  const names = async (settings: TestSettings): Promise<readonly string[]> => [
    ...(await listTools("petstore", settings)).keys(),
  ];
  assert.deepEqual(await names({ include: ["get*"] }), ["getPetById", "get_pet_findByStatus"]);
  assert.deepEqual(await names({ include: ["* /pet/{petId}*"], exclude: ["post *"] }), ["getPetById", "deletePet"]);
  assert.deepEqual(await names({ include: ["getpetbyid"] }), ["getPetById"]);
  assert.deepEqual(await names({ exclude: ["*"] }), []);
  assert.deepEqual(await names({ include: ["*pet*pet*"] }), []);
});

test("include and exclude also match the name in programs, and the status names patterns without a match", async () => {
  const document = { kind: "file", path: pathOf("codeHost") } as const;
  const listWith = async (settings: TestSettings): Promise<readonly [readonly string[], string | undefined]> => {
    await using connector = createTestConnector({ document, baseUrl: "http://127.0.0.1:1", ...settings });
    const names = (await connector.tools()).map(({ name }) => name);
    return [names, connector.status().hint];
  };
  const both = ["issues/list-for-repo", "issues/create"];
  assert.deepEqual(await listWith({ include: ["issuesListForRepo", "issues/cre*"] }), [both, undefined]);
  assert.deepEqual(await listWith({ include: ["issues*"], exclude: ["issuesListForRepo"] }), [[both[1]], undefined]);
  const hint =
    "No operation matches issuesDelete, PUT /issues: correct or remove these patterns in include, exclude and tools";
  const unfit = { include: ["issues*", "issuesDelete"], exclude: ["PUT /issues"] };
  assert.deepEqual(await listWith(unfit), [both, hint]);
  const many = Array.from({ length: 12 }, (_, index) => `none${index}`);
  const [, short] = await listWith({ include: ["issues*"], exclude: many });
  assert.equal(short, `No operation matches ${many.slice(0, 10).join(", ")} and 2 more: ${hint.split(": ")[1]}`);
});

test("an OAuth scheme is a hint for the operator until a credential is set", async () => {
  const hintWith = async (settings: TestSettings): Promise<string | undefined> => {
    await using connector = createTestConnector(settings);
    await connector.tools();
    return connector.status().hint;
  };
  const hint = "This API takes OAuth tokens (petstore_auth): fetch one and set it as the header Authorization";
  assert.equal(await hintWith({}), hint);
  assert.equal(await hintWith({ headers: { authorization: "Bearer x" } }), undefined);
  assert.equal(await hintWith({ auth: { petstore_auth: "x" } }), undefined);
});

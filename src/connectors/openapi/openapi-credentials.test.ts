/** Credentials are added on the host: a program can neither replace nor see one, whatever the API returns. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { openFakeApi } from "./fixtures/fake-api.ts";
import type { FakeApi, SeenRequest } from "./fixtures/fake-api.ts";
import { createTestConnector, pathOf } from "./fixtures/test-connector.ts";
import type { DOCUMENTS, TestSettings } from "./fixtures/test-connector.ts";

const CANARY = "canary-4711/+ value";
let api: FakeApi;

before(async () => {
  api = await openFakeApi();
});
after(() => api[Symbol.asyncDispose]());

interface Seen {
  readonly request: SeenRequest | undefined;
  readonly value: unknown;
}

async function call(
  document: keyof typeof DOCUMENTS,
  settings: TestSettings,
  [name, args]: readonly [string, JsonObject],
): Promise<Seen> {
  const file = { kind: "file", path: pathOf(document) } as const;
  await using connector = createTestConnector({ document: file, baseUrl: api.origin, ...settings });
  const { value } = await connector.call(name, args, { signal: AbortSignal.timeout(5000) });
  return { request: api.seen.at(-1), value };
}

test("each kind of scheme puts its credential where the document says", async () => {
  const key = await call("petstore", { auth: { api_key: "k1-secret" } }, ["getPetById", { petId: 1 }]);
  assert.equal(key.request?.headers["x-api-key"], "k1-secret");
  const basic = await call("petstore", { auth: { login: "ada:pass word" } }, ["deletePet", { petId: 1 }]);
  assert.equal(basic.request?.headers["authorization"], `Basic ${btoa("ada:pass word")}`);
  const bearer = await call("payments", { auth: { bearer: "t1-secret" } }, ["GetCustomers", {}]);
  assert.equal(bearer.request?.headers["authorization"], "Bearer t1-secret");
  const query = await call("payments", { auth: { key: "q&1-secret" } }, ["GetCustomers", { limit: 1 }]);
  assert.equal(query.request?.url, "/customers?limit=1&api_key=q%261-secret");
});

test("a restart resolves the credentials again and notifies the listeners", async () => {
  const auth = { api_key: "k1-secret" };
  await using connector = createTestConnector({ baseUrl: api.origin, auth });
  let heard = 0;
  connector.onToolsChanged(() => (heard += 1));
  const seenKey = async (): Promise<unknown> => {
    await connector.call("getPetById", { petId: 1 }, { signal: AbortSignal.timeout(5000) });
    return api.seen.at(-1)?.headers["x-api-key"];
  };
  assert.equal(await seenKey(), "k1-secret");
  auth.api_key = "k2-secret";
  assert.equal(await seenKey(), "k1-secret");
  await connector.restart?.();
  assert.deepEqual([await seenKey(), heard], ["k2-secret", 1]);
});

test("an operation gets the credentials that it names and no others", async () => {
  const auth = { api_key: "k1-secret", login: "ada:secret" };
  const get = await call("petstore", { auth }, ["getPetById", { petId: 1 }]);
  assert.deepEqual(
    [get.request?.headers["x-api-key"], get.request?.headers["authorization"]],
    ["k1-secret", undefined],
  );
  const both = { bearer: "t1-secret", key: "q1-secret" };
  const first = await call("payments", { auth: both }, ["GetCustomers", {}]);
  assert.deepEqual([first.request?.headers["authorization"], first.request?.url], ["Bearer t1-secret", "/customers"]);
  const open = await call("payments", { auth: both }, ["PostNote", { body: "x" }]);
  assert.deepEqual([open.request?.headers["authorization"], open.request?.url], [undefined, "/notes"]);
});

test("an argument cannot replace a credential", async () => {
  const header = { headers: { "x-request-id": "ours-is-set" } };
  const args = { id: "1", "X-Request-Id": "theirs", Authorization: "theirs", body: {} };
  const put = await call("payments", { ...header, auth: { bearer: "t1-secret" } }, ["PutCustomer", args]);
  assert.deepEqual(
    [put.request?.headers["x-request-id"], put.request?.headers["authorization"]],
    ["ours-is-set", "Bearer t1-secret"],
  );
  const cookie = await call("payments", { headers: { Cookie: "session=ours" } }, [
    "PutCustomer",
    { id: "1", session: "theirs", body: {} },
  ]);
  assert.equal(cookie.request?.headers["cookie"], "session=ours");
});

test("what the host fills in is not offered as an argument", async () => {
  const argumentsWith = async (settings: TestSettings): Promise<readonly string[]> => {
    const file = { kind: "file", path: pathOf("payments") } as const;
    await using connector = createTestConnector({ document: file, baseUrl: api.origin, ...settings });
    const tool = (await connector.tools()).find(({ name }) => name === "PutCustomer");
    return Object.keys(Object(tool?.input["properties"]));
  };
  const all = ["id", "query_id", "header_id", "X-Request-Id", "session", "body"];
  assert.deepEqual(await argumentsWith({}), all);
  const headers = { "x-request-id": "r", Cookie: "c" };
  assert.deepEqual(await argumentsWith({ headers }), ["id", "query_id", "header_id", "body"]);
});

test("an object that is spread over a query cannot set the key's parameter, in any case", async () => {
  const document = { kind: "url", url: `${api.origin}/spread.json` } as const;
  const parameters = [{ name: "any", in: "query", schema: { type: "object" } }];
  const key = { type: "apiKey", in: "query", name: "api_key" };
  const paths = { "/find": { get: { operationId: "find", parameters, responses: {} } } };
  api.answers.set("GET /spread.json", {
    body: { openapi: "3.0.0", paths, components: { securitySchemes: { key } } },
  });
  const any = { api_key: "theirs", API_KEY: "theirs", other: "kept" };
  const settings = { document, baseUrl: undefined, auth: { key: "ours-secret" } };
  const { request } = await call("petstore", settings, ["find", { any }]);
  assert.equal(request?.url, "/find?other=kept&api_key=ours-secret");
});

test("an API that echoes a credential does not show it to the program", async () => {
  const settings = { auth: { key: CANARY }, headers: { "X-Token": `Token ${CANARY}x` }, secretHeaders: ["x-token"] };
  const { value, request } = await call("payments", settings, ["GetCustomers", {}]);
  assert.ok(JSON.stringify(request).includes("canary-4711"));
  assert.ok(!JSON.stringify(value).includes("canary-4711"), JSON.stringify(value));
  const plain = await call("payments", {}, ["GetCustomers", { ids: [CANARY] }]);
  assert.ok(JSON.stringify(plain.value).includes("canary-4711"), "without the credential nothing is hidden");
});

test("a header without a secret may appear in an answer", async () => {
  const headers = { "X-Region": "europe", Authorization: "Bearer hidden-token" };
  const { value } = await call("payments", { headers }, [
    "GetCustomers",
    { ids: ["europe", "hidden-token", "Bearer"] },
  ]);
  assert.equal(Object(value).url, "/customers?ids=europe%20[secret]%20Bearer");
  assert.deepEqual([Object(value).headers["x-region"], Object(value).headers.authorization], ["europe", "[secret]"]);
});

test("no error, state or description shows a credential", async () => {
  const file = { kind: "file", path: pathOf("payments") } as const;
  const auth = { bearer: CANARY };
  await using connector = createTestConnector({ document: file, baseUrl: api.origin, auth });
  for (const status of [400, 401, 500]) {
    api.answers.set("GET /customers", { status, body: `your token is ${CANARY}, ${encodeURIComponent(CANARY)}` });
    const failure = await connector.call("GetCustomers", {}, { signal: AbortSignal.timeout(5000) }).catch((e) => e);
    assert.ok(failure instanceof GloveboxError);
    assert.match(failure.message, /your token is \[secret\]/);
    assert.ok(!JSON.stringify([failure.message, failure.details]).includes("canary-4711"));
  }
  api.answers.delete("GET /customers");
  assert.ok(!JSON.stringify([connector.status(), await connector.tools()]).includes("canary-4711"));
});

test("auth for an unknown scheme is an error that lists the schemes of the document", async () => {
  await using connector = createTestConnector({ baseUrl: api.origin, auth: { apikey: "x" } });
  await assert.rejects(connector.tools(), {
    code: "CONFIG_INVALID",
    message: 'api: the document has no security scheme "apikey"',
    details: { hint: "Correct auth; the schemes of the document are: api_key, login, petstore_auth" },
  });
});

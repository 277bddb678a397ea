/** Requests to an API: every style and kind of body, and values that try to leave their place. */

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { assert as assertProperty, asyncProperty, constantFrom, oneof, string } from "fast-check";

import { GloveboxError } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import type { Connector } from "../connector.ts";
import { openFakeApi } from "./fixtures/fake-api.ts";
import type { FakeApi, SeenRequest } from "./fixtures/fake-api.ts";
import { createTestConnector, pathOf } from "./fixtures/test-connector.ts";
import type { DOCUMENTS, TestSettings } from "./fixtures/test-connector.ts";

let api: FakeApi;
const opened: Connector[] = [];

before(async () => {
  api = await openFakeApi();
});
beforeEach(() => {
  api.seen.length = 0;
});
after(async () => {
  for (const connector of opened) await connector.close();
  await api[Symbol.asyncDispose]();
});

function connect(document: keyof typeof DOCUMENTS, settings: TestSettings = {}): Connector {
  const file = { kind: "file", path: pathOf(document) } as const;
  const connector = createTestConnector({ document: file, baseUrl: `${api.origin}/base/`, ...settings });
  opened.push(connector);
  return connector;
}

/** The request that a call makes. */
async function send(connector: Connector, name: string, args: JsonObject): Promise<SeenRequest> {
  api.seen.length = 0;
  await connector.call(name, args, { signal: AbortSignal.timeout(5000) });
  const [request, ...more] = api.seen;
  assert.ok(request && more.length === 0);
  return request;
}

const urlOf = async (connector: Connector, name: string, args: JsonObject): Promise<string> =>
  (await send(connector, name, args)).url;

test("query parameters follow their styles", async () => {
  const payments = connect("payments");
  const ask = (args: JsonObject): Promise<string> => urlOf(payments, "GetCustomers", args);
  assert.equal(await ask({}), "/base/customers");
  assert.equal(await ask({ created: { gte: 1, lt: 5 } }), "/base/customers?created[gte]=1&created[lt]=5");
  assert.equal(await ask({ expand: ["a", "b"] }), "/base/customers?expand[0]=a&expand[1]=b");
  assert.equal(await ask({ ids: ["a b", "c"] }), "/base/customers?ids=a%20b%20c");
  assert.equal(await ask({ fields: ["a,b", "c"] }), "/base/customers?fields=a%2Cb,c");
  assert.equal(await ask({ limit: 5, fields: [] }), "/base/customers?limit=5");
});

test("arrays of Swagger follow their collection format", async () => {
  const args = { status: ["available", "sold"], tags: ["a", "b"], codes: ["x", "y"] };
  assert.equal(
    await urlOf(connect("petstore"), "get_pet_findByStatus", args),
    "/base/pet/findByStatus?status=available&status=sold&tags=a,b&codes=x%7Cy",
  );
});

test("path parameters follow their styles, and JSON, reserved characters and objects work in a query", async () => {
  const args = {
    filter: ["a", "b/c"],
    coords: { x: 1, y: 2 },
    query: { q: [1] },
    raw: "a/b?c&d=e#f",
    any: { "k&1": "v=2" },
    tags: ["p", "q"],
  };
  assert.equal(
    await urlOf(connect("codeHost"), "hooks/find", args),
    "/base/hooks/;filter=a;filter=b%2Fc/x=1,y=2?query=%7B%22q%22%3A%5B1%5D%7D&raw=a/b?c%26d%3De%23f&k%261=v%3D2&tags=p%7Cq",
  );
});

test("headers, cookies and one name in three places are sent where they belong", async () => {
  const args = { id: "1", query_id: "2", header_id: "3", "X-Request-Id": "r", session: "a;b", body: { email: "e" } };
  const { method, url, headers, body } = await send(connect("payments"), "PutCustomer", args);
  assert.deepEqual(
    [method, url, headers["id"], headers["x-request-id"], headers["cookie"], headers["content-type"], body],
    ["PUT", "/base/customers/1?id=2", "3", "r", "session=a%3Bb", "application/vnd.payments+json", '{"email":"e"}'],
  );
});

test("a form spreads objects by their style, repeats arrays and writes other objects as JSON", async () => {
  const body = {
    email: "a@b.c",
    balance: null,
    metadata: { "a b": "1" },
    address: { city: "X", line: { deep: [1, 2] } },
    plans: ["p", "q"],
    options: { o: 1 },
  };
  const seen = await send(connect("payments"), "PostCustomers", { body });
  assert.equal(seen.headers["content-type"], "application/x-www-form-urlencoded");
  assert.equal(
    seen.body,
    "email=a%40b.c&metadata[a%20b]=1&address[city]=X&address[line][deep][0]=1&address[line][deep][1]=2&plans=p&plans=q&options=%7B%22o%22%3A1%7D",
  );
});

test("a multipart body has fields and files, which are base64 in programs", async () => {
  const petstore = connect("petstore");
  const body = { note: 'a "b"', file: Buffer.from("\0bytes").toString("base64") };
  const seen = await send(petstore, "uploadFile", { petId: 1, body });
  const [, boundary = ""] = /^multipart\/form-data; boundary=(.+)$/.exec(seen.headers["content-type"] as string) ?? [];
  assert.deepEqual(seen.body.split(`--${boundary}`), [
    "",
    '\r\nContent-Disposition: form-data; name="note"\r\n\r\na "b"\r\n',
    '\r\nContent-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\n\0bytes\r\n',
    "--\r\n",
  ]);
  await refuses(petstore, "uploadFile", { petId: 1, body: { file: "no base64!" } });
});

test("bytes and text are sent as bodies, and an absent body is not sent", async () => {
  const payments = connect("payments");
  const file = await send(payments, "PutFile", { name: "a", body: "AAEC" });
  assert.deepEqual([file.url, file.headers["content-type"], file.body], ["/base/files/.a", "image/png", "\0\x01\x02"]);
  const note = await send(payments, "PostNote", { body: "hello" });
  assert.deepEqual([note.headers["content-type"], note.body], ["text/plain", "hello"]);
  const none = await send(payments, "PostNote", {});
  assert.deepEqual([none.headers["content-type"], none.body], [undefined, ""]);
});

async function refuses(connector: Connector, name: string, args: JsonObject): Promise<void> {
  api.seen.length = 0;
  const calling = connector.call(name, args, { signal: AbortSignal.timeout(5000) });
  await assert.rejects(
    calling,
    (thrown) => thrown instanceof GloveboxError && thrown.code === "TOOL_ARGUMENTS_INVALID",
  );
  assert.deepEqual(api.seen, []);
}

test("a path value cannot leave its segment", async () => {
  const host = connect("codeHost");
  const ask = (repo: string): Promise<string> => urlOf(host, "get_repos_by_owner_by_repo", { owner: "o", repo });
  assert.equal(await ask("../x"), "/base/repos/o/..%2Fx");
  assert.equal(await ask("a?b#c"), "/base/repos/o/a%3Fb%23c");
  assert.equal(await ask("%2f%2e"), "/base/repos/o/%252f%252e");
  assert.equal(await ask("a\\b"), "/base/repos/o/a%5Cb");
  assert.equal(await ask("..."), "/base/repos/o/...");
  assert.equal(await ask("\ud800"), "/base/repos/o/%EF%BF%BD");
  for (const repo of [".", "..", ""]) await refuses(host, "get_repos_by_owner_by_repo", { owner: "o", repo });
  await refuses(host, "get_repos_by_owner_by_repo", { owner: "o" });
  await refuses(connect("payments"), "PutFile", { name: ".", body: "" });
});

test("a request has the same path segments for every value", async () => {
  const host = connect("codeHost", { baseUrl: `${api.origin}/base` });
  const text = oneof(string(), constantFrom("..", "%2e%2e", "/..", "\t", "//x", "?", "#"));
  await assertProperty(
    asyncProperty(text, text, async (owner, repo) => {
      const isRefused = [owner, repo].some((one) => ["", ".", ".."].includes(one));
      if (isRefused) return refuses(host, "get_repos_by_owner_by_repo", { owner, repo });
      const url = await urlOf(host, "get_repos_by_owner_by_repo", { owner, repo });
      const parts = url.split("/").map(decodeURIComponent);
      assert.deepEqual(parts, ["", "base", "repos", owner.toWellFormed(), repo.toWellFormed()]);
      return undefined;
    }),
    { numRuns: 100 },
  );
});

test("a header value cannot end the header early or contain invalid characters", async () => {
  const payments = connect("payments");
  const ask = (value: string): JsonObject => ({ id: "1", "X-Request-Id": value, body: {} });
  for (const value of ["a\r\nX-Evil: 1", "a\nb", "a\0b", "a\u2028b"])
    await refuses(payments, "PutCustomer", ask(value));
  assert.equal((await send(payments, "PutCustomer", ask("a: b; c"))).headers["x-request-id"], "a: b; c");
});

test("an operation that the document does not have is not called", async () => {
  const calling = connect("petstore").call("toString", {}, { signal: AbortSignal.timeout(5000) });
  await assert.rejects(calling, { code: "UPSTREAM_FAILED", message: "api: the document has no such operation" });
});

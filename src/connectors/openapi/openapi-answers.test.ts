/** What an API returns, and where it is: values, attachments, failures, limits, cancellation. */

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";

import type { Connector, RemoteResult } from "../connector.ts";
import { openFakeApi } from "./fixtures/fake-api.ts";
import type { FakeAnswer, FakeApi } from "./fixtures/fake-api.ts";
import { createTestConnector, pathOf } from "./fixtures/test-connector.ts";
import type { TestSettings } from "./fixtures/test-connector.ts";

let api: FakeApi;
let connector: Connector;

before(async () => {
  api = await openFakeApi();
});
beforeEach(async () => {
  api.answers.clear();
  api.seen.length = 0;
  connector = createTestConnector({ baseUrl: api.origin, messageBytes: 1000 });
});
after(() => api[Symbol.asyncDispose]());

async function answerWith(answer: FakeAnswer): Promise<RemoteResult> {
  api.answers.set("GET /pet/1", answer);
  return connector.call("getPetById", { petId: 1 }, { signal: AbortSignal.timeout(5000) });
}

const type = (contentType: string): { readonly "content-type": string } => ({ "content-type": contentType });

test("JSON becomes its value, text a string and an empty body null", async () => {
  const valueOf = async (answer: FakeAnswer): Promise<unknown> => (await answerWith(answer)).value;
  assert.deepEqual(await valueOf({ body: { id: 1 } }), { id: 1 });
  assert.deepEqual(await valueOf({ headers: type("application/problem+json; charset=utf-8"), body: "[1]" }), [1]);
  assert.equal(await valueOf({ headers: type("text/plain"), body: "[1]" }), "[1]");
  assert.equal(await valueOf({ headers: type("application/xml"), body: "<a/>" }), "<a/>");
  assert.equal(await valueOf({ body: "plain" }), "plain");
  assert.equal(await valueOf({ status: 204 }), null);
  assert.equal(await valueOf({ headers: type("application/json"), body: "" }), null);
});

test("bytes become an attachment, and the value describes them", async () => {
  assert.deepEqual(await answerWith({ headers: type("image/png; x=y"), body: Buffer.from([0, 255]) }), {
    value: { type: "image", mimeType: "image/png", bytes: 2 },
    attachments: [{ path: [], kind: "image", mimeType: "image/png", base64: "AP8=" }],
  });
  const { value } = await answerWith({ body: Buffer.from([0, 255]) });
  assert.deepEqual(value, { type: "blob", mimeType: "application/octet-stream", bytes: 2 });
});

test("a failure has the status, the beginning of the body and a code with a remedy", async () => {
  const place = "api: GET /pet/{petId} answered with status";
  await assert.rejects(answerWith({ status: 404, body: "no such pet" }), {
    code: "UPSTREAM_FAILED",
    message: `${place} 404: no such pet`,
    details: { hint: "Check the arguments against the tool's description" },
  });
  await assert.rejects(answerWith({ status: 401 }), { code: "UPSTREAM_AUTH_REQUIRED", message: `${place} 401` });
  await assert.rejects(answerWith({ status: 403 }), { code: "UPSTREAM_AUTH_REQUIRED", message: `${place} 403` });
  await assert.rejects(answerWith({ status: 429, headers: { "retry-after": "7" } }), {
    code: "UPSTREAM_FAILED",
    message: `${place} 429 (retry after 7 s)`,
    details: { hint: "Wait before the next call, and make fewer of them" },
  });
  await assert.rejects(answerWith({ status: 503, headers: { "retry-after": "<b>soon</b>" } }), {
    message: `${place} 503`,
  });
  await assert.rejects(answerWith({ status: 304 }), { code: "UPSTREAM_FAILED", message: `${place} 304` });
  await assert.rejects(answerWith({ status: 500, body: "x".repeat(900) }), {
    message: `${place} 500: ${"x".repeat(900)}`,
  });
});

test("the text of a failure is cut at 2 KiB", async () => {
  await connector.close();
  connector = createTestConnector({ baseUrl: api.origin });
  await assert.rejects(answerWith({ status: 500, body: "x".repeat(100_000) }), {
    message: `api: GET /pet/{petId} answered with status 500: ${"x".repeat(2048)}`,
  });
});

test("an answer that is declared as JSON but is not fails as the API's fault", async () => {
  await assert.rejects(answerWith({ headers: type("application/json"), body: "<html>" }), {
    code: "UPSTREAM_RESULT_INVALID",
    message: "api: the answer to GET /pet/{petId} is declared as JSON but is not",
  });
});

test("an answer may have as many bytes as the limit and not one more", async () => {
  const { value } = await answerWith({ headers: type("text/plain"), body: "x".repeat(1000) });
  assert.equal(value, "x".repeat(1000));
  await assert.rejects(answerWith({ headers: type("text/plain"), body: "x".repeat(1001) }), { code: "LIMIT_SIZE" });
});

test("a redirect is followed within the origin and refused to another", async () => {
  api.answers.set("GET /moved", { body: { moved: true } });
  assert.deepEqual((await answerWith({ status: 307, headers: { location: "/moved" } })).value, { moved: true });
  await assert.rejects(answerWith({ status: 307, headers: { location: "http://localhost:1/" } }), {
    code: "EGRESS_DENIED",
  });
});

test("a time limit and a cancellation end the request, also at the server", async () => {
  api.answers.set("GET /pet/1", { silent: true });
  /** Nothing ends before the request was received. */
  const callUntilSeen = async (end: (own: AbortController) => void): Promise<unknown> => {
    const [own, before] = [new AbortController(), api.seen.length];
    const call = connector.call("getPetById", { petId: 1 }, { signal: own.signal });
    call.catch(() => undefined);
    while (api.seen.length === before) await new Promise((turn) => setTimeout(turn, 5));
    end(own);
    return call;
  };
  const late = new DOMException("too late", "TimeoutError");
  await assert.rejects(
    callUntilSeen((own) => own.abort(late)),
    { code: "UPSTREAM_TIMEOUT" },
  );
  await assert.rejects(
    callUntilSeen((own) => own.abort()),
    { code: "REQUEST_CANCELLED" },
  );
  await assert.rejects(
    callUntilSeen(() => void connector.close()),
    { code: "UPSTREAM_UNREACHABLE" },
  );
  while (api.abandoned() < 3) await new Promise((turn) => setTimeout(turn, 5));
  assert.equal(api.seen.length, 3);
});

test("a private base URL must be configured; a document file alone cannot lead there", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-api-"));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "api.json");
  const operation = { get: { operationId: "look", responses: { 200: { description: "ok" } } } };
  await writeFile(
    path,
    JSON.stringify({ openapi: "3.1.0", servers: [{ url: api.origin }], paths: { "/look": operation } }),
  );
  api.answers.set("GET /look", { body: { seen: true } });
  const look = async (baseUrl?: string): Promise<unknown> => {
    await using local = createTestConnector({ document: { kind: "file", path }, baseUrl });
    return (await local.call("look", {}, { signal: AbortSignal.timeout(5000) })).value;
  };
  await assert.rejects(look(), {
    code: "EGRESS_DENIED",
    details: { hint: "Write its address in the configuration, as url or baseUrl" },
  });
  assert.deepEqual([api.seen.length, await look(api.origin)], [0, { seen: true }]);
});

test("an API without a listener is unreachable, and only its calls fail", async () => {
  await using closed = createTestConnector({ baseUrl: "http://127.0.0.1:1" });
  await assert.rejects(closed.call("getPetById", { petId: 1 }, { signal: AbortSignal.timeout(5000) }), {
    code: "UPSTREAM_UNREACHABLE",
  });
  assert.equal(closed.status().state, "ready");
});

async function placeOf(settings: TestSettings): Promise<unknown> {
  await using one = createTestConnector({ include: ["issues/list-for-repo", "getPetById"], ...settings });
  try {
    await one.call("issues/list-for-repo", { owner: "o", repo: "r" }, { signal: AbortSignal.timeout(5000) });
    return api.seen.at(-1)?.url;
  } catch {
    const { state, cause } = one.status();
    return [state, cause];
  }
}

test("the base URL is the configured one, else the document's server, else the document's origin", async () => {
  const file = { kind: "file", path: pathOf("codeHost") } as const;
  assert.deepEqual(await placeOf({ document: file }), ["failed", "the document does not name a server"]);
  assert.equal(await placeOf({ document: file, baseUrl: `${api.origin}/x` }), "/x/repos/o/r/issues");
  const operation = { operationId: "issues/list-for-repo", responses: {} };
  const paths = { "/repos/{owner}/{repo}/issues": { get: operation } };
  const serve = (name: string, more: object): TestSettings => {
    api.answers.set(`GET ${name}`, { body: { openapi: "3.1.0", paths, ...more } });
    return { document: { kind: "url", url: api.origin + name } };
  };
  assert.equal(await placeOf(serve("/docs/a.json", {})), "/repos/o/r/issues");
  assert.equal(await placeOf(serve("/docs/b.json", { servers: [{ url: "../v3" }] })), "/v3/repos/o/r/issues");
  const swagger = { openapi: undefined, swagger: "2.0", basePath: "/v2" };
  assert.equal(await placeOf(serve("/docs/c.json", swagger)), "/v2/repos/o/r/issues");
});

test("a document from the network cannot send the gateway to another origin", async () => {
  const elsewhere = { servers: [{ url: "http://{host}/", variables: { host: { default: "169.254.169.254" } } }] };
  api.answers.set("GET /evil.json", { body: { openapi: "3.1.0", paths: {}, ...elsewhere } });
  const document = { kind: "url", url: `${api.origin}/evil.json` } as const;
  assert.deepEqual(await placeOf({ document }), [
    "failed",
    "the document names the server http://169.254.169.254, which is not the origin of the document",
  ]);
  await using twin = createTestConnector({ document, baseUrl: api.origin });
  assert.deepEqual(await twin.tools(), []);
});

test("a document is fetched without credentials, and a failed fetch is repeated", async () => {
  const settings: TestSettings = {
    document: { kind: "url", url: `${api.origin}/later.json` },
    headers: { authorization: "Bearer secret-token" },
  };
  await using one = createTestConnector(settings);
  api.answers.set("GET /later.json", { status: 404 });
  await assert.rejects(one.tools(), { code: "UPSTREAM_UNREACHABLE" });
  assert.deepEqual([one.status().state, api.seen[0]?.headers["authorization"]], ["failed", undefined]);
  api.answers.set("GET /later.json", { body: { openapi: "3.1.0", paths: {} } });
  while (one.status().state !== "ready") await one.tools().catch(() => new Promise((turn) => setTimeout(turn, 20)));
  assert.deepEqual(await one.tools(), []);
});

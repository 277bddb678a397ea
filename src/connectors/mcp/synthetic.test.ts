/** Resources and prompts as tools, from real servers and from ones with invalid answers. */

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";

import { Validator } from "@cfworker/json-schema";

import { isJsonObject } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import type { Connector, RemoteResult, RemoteTool } from "../connector.ts";
import { child, connect, locate, modernChild } from "./fixtures/connect.ts";
import { callSynthetic, defineSynthetic } from "./messages/synthetic.ts";

let everything: Connector;
let fixture: Connector;
before(() => {
  everything = connect(child(locate("server-everything"), "stdio"));
  fixture = connect(modernChild());
});
after(() => Promise.all([everything.close(), fixture.close()]));

/** Calls a tool and checks the answer against the schema that the tool declares. */
async function call(connector: Connector, name: string, args: JsonObject = {}): Promise<RemoteResult> {
  const tool = (await connector.tools()).find((one) => one.name === name);
  assert.ok(tool?.output);
  assert.deepEqual([tool.annotations, tool.synthetic], [{ readOnly: true }, true]);
  const result = await connector.call(name, args, { signal: AbortSignal.timeout(10_000) });
  const checked = new Validator({ ...tool.output }).validate(result.value);
  assert.deepEqual(checked.errors, []);
  return result;
}

function listOf(value: unknown, key: string): readonly JsonObject[] {
  assert.ok(isJsonObject(value) && Array.isArray(value[key]));
  return value[key].filter((item) => isJsonObject(item));
}

test("the everything server's resources are listed with their templates and can be read", async () => {
  const { value } = await call(everything, "resources/list");
  const [resource] = listOf(value, "resources");
  assert.equal(typeof resource?.["uri"], "string");
  assert.ok(listOf(value, "templates").every(({ uriTemplate }) => typeof uriTemplate === "string"));
  assert.ok(listOf(value, "templates").length > 0);
  const { value: read } = await call(everything, "resources/read", { uri: resource?.["uri"] ?? "" });
  assert.equal(typeof listOf(read, "contents")[0]?.["text"], "string");
});

test("a binary resource moves from the value to the attachments", async () => {
  assert.deepEqual(await call(fixture, "resources/read", { uri: "a://blob" }), {
    value: {
      contents: [{ uri: "a://blob", mimeType: "image/png", blob: { type: "blob", mimeType: "image/png", bytes: 8 } }],
    },
    attachments: [{ path: ["contents", 0, "blob"], kind: "blob", mimeType: "image/png", base64: "iVBORw0KGgo=" }],
  });
});

test("resources and prompts of 2026-07-28 are complete", async () => {
  assert.deepEqual((await call(fixture, "resources/list")).value, {
    resources: [{ uri: "a://text", name: "text", mimeType: "text/plain" }],
    templates: [{ uriTemplate: "a://{name}", name: "any" }],
  });
  assert.deepEqual((await call(fixture, "resources/read", { uri: "a://x" })).value, {
    contents: [{ uri: "a://x", text: "the text of a://x" }],
  });
  assert.deepEqual((await call(fixture, "prompts/list")).value, {
    prompts: [{ name: "greet", description: "Greets", arguments: [{ name: "who", required: true }] }],
  });
  const { value, attachments } = await call(fixture, "prompts/get", { name: "greet", arguments: { who: "Ada" } });
  assert.deepEqual(value, {
    description: "greet",
    messages: [
      { role: "user", content: { type: "text", text: "Hello Ada" } },
      { role: "assistant", content: { type: "image", mimeType: "image/png", bytes: 8 } },
    ],
  });
  assert.deepEqual(attachments[0]?.path, ["messages", 1, "content"]);
});

test("the everything server's prompts are listed and filled in", async () => {
  const { value } = await call(everything, "prompts/list");
  const names = listOf(value, "prompts").map(({ name }) => name);
  assert.ok(names.includes("args-prompt"), JSON.stringify(names));
  const got = await call(everything, "prompts/get", { name: "args-prompt", arguments: { city: "Bern" } });
  assert.match(JSON.stringify(got.value), /Bern/);
});

test("an unknown resource or prompt fails with the server's refusal", async () => {
  const signal = AbortSignal.timeout(10_000);
  for (const [name, args] of [
    ["resources/read", { uri: "no://such" }],
    ["prompts/get", { name: "no such prompt" }],
  ] as const) {
    await assert.rejects(everything.call(name, args, { signal }), { code: "UPSTREAM_FAILED" });
  }
});

test("only what the server offers is added, and a real tool with the same name in programs takes precedence", async () => {
  const real = (name: string): RemoteTool => ({ name, description: "", input: {}, output: null, annotations: {} });
  const names = (offers: object, tools: readonly RemoteTool[] = []): readonly string[] =>
    defineSynthetic({ resources: false, prompts: false, ...offers }, tools).map(({ name }) => name);
  assert.deepEqual(names({}), []);
  assert.deepEqual(names({ resources: true }), ["resources/list", "resources/read"]);
  assert.deepEqual(names({ prompts: true }), ["prompts/list", "prompts/get"]);
  assert.deepEqual(names({ resources: true }, [real("resources/list")]), ["resources/read"]);
  assert.deepEqual(names({ prompts: true }, [real("promptsList"), real("prompts_get")]), []);
  await using plain = connect(child(locate("server-filesystem"), tmpdir()));
  assert.ok((await plain.tools()).every(({ synthetic }) => synthetic === undefined));
});

test("invalid resources and prompts are refused, and a server without templates is accepted", async () => {
  const answer = (name: string, raw: unknown): Promise<unknown> => callSynthetic(name, {}, async () => raw);
  const wrong = [
    ["resources/list", {}],
    ["resources/list", { resources: [{ uri: "x" }] }],
    ["resources/list", { resources: ["x"] }],
    ["resources/read", { contents: {} }],
    ["resources/read", { contents: [1] }],
    ["resources/read", { contents: [{ uri: "x" }] }],
    ["resources/read", { contents: [{ uri: "x", blob: "%" }] }],
    ["prompts/list", { prompts: [{}] }],
    ["prompts/list", { prompts: [{ name: "x", arguments: [{}] }] }],
    ["prompts/get", {}],
    ["prompts/get", { messages: [{ content: { type: "text", text: "x" } }] }],
    ["prompts/get", { messages: [{ role: "user", content: "x" }] }],
  ] as const;
  for (const [name, raw] of wrong) await assert.rejects(answer(name, raw), { code: "UPSTREAM_RESULT_INVALID" });
  const resources = [{ uri: "a://b", name: "b", size: "large", title: 1, annotations: {} }];
  assert.deepEqual(await answer("resources/list", { resources }), {
    value: { resources: [{ uri: "a://b", name: "b" }], templates: [] },
    attachments: [],
  });
});

test("an endless list of resources ends at the same limits as one of tools", async () => {
  const page = { resources: [{ uri: "a://b", name: "b" }], nextCursor: "more" };
  await assert.rejects(
    callSynthetic("resources/list", {}, async () => page),
    { code: "UPSTREAM_RESULT_INVALID", message: /more than 100 pages/ },
  );
});

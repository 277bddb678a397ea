/** Files beside a text: images, audio and others are separate blocks, never base64 in a text. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isInputRequiredResult } from "@modelcontextprotocol/server";

import { createTool, known, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parseResultId } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import type { Media } from "../../execution/index.ts";
import type { Gateway, McpDoor } from "../gateway.ts";
import { callTool } from "./call-tool.ts";
import { AGENT, EXECUTION, createMemoryGateway, createResult } from "./fixtures/memory-gateway.ts";
import { getPrompt, readResource } from "./pass-through.ts";
import { renderPart } from "./render.ts";

const HANDLE = known(parseResultId(`rs_${"0".repeat(24)}`));
const DATA = Buffer.from("picture").toString("base64");
const SIGNAL = new AbortController().signal;

function mediaOf(mimeType: string): Media {
  return { handle: HANDLE, mimeType, base64: DATA, labels: [] };
}

/** A gateway that keeps these files and answers every call with `value`. */
function doorOf(media: readonly Media[], value: Json = null): McpDoor {
  const tools = ["resources/read", "prompts/get"].map((remoteName, index) => {
    const tool = createTool(index === 0 ? "files.read" : "files.prompt");
    return { ...tool, origin: { ...tool.origin, remoteName } };
  });
  const gateway = {
    ...createMemoryGateway(),
    findMedia: async () => media,
    takeSnapshot: async () => snapshotOf(tools),
    callTools: async () => ({ result: createResult(), replies: [{ ok: true as const, json: JSON.stringify(value) }] }),
  };
  return { gateway, principal: AGENT, report: () => "in_1" };
}

test("each kind of file is a separate block beside the text of a program", async () => {
  const door = doorOf(["image/png", "audio/wav", "application/pdf"].map(mediaOf));
  const request = { name: "execute", rawArguments: { code: "1" }, signal: SIGNAL };
  const answered = await callTool(door, request);
  assert.ok(!isInputRequiredResult(answered));
  const [text, ...files] = answered.content;
  assert.deepEqual(files, [
    { type: "image", mimeType: "image/png", data: DATA },
    { type: "audio", mimeType: "audio/wav", data: DATA },
    {
      type: "resource",
      resource: { uri: `glovebox://glovebox/${HANDLE}`, mimeType: "application/pdf", blob: DATA },
    },
  ]);
  assert.doesNotMatch(JSON.stringify(text), new RegExp(DATA));
});

type KeptPart = Awaited<ReturnType<Gateway["readResult"]>>;

function partOf(value: Json, change: Partial<KeptPart["summary"]>, next?: number): KeptPart {
  const summary = {
    id: HANDLE,
    principal: AGENT.id,
    execution: EXECUTION,
    mimeType: "application/json",
    bytes: 7,
    shape: "string",
    labels: [],
    createdAt: 0,
    expiresAt: 1,
    ...change,
  };
  return { value, summary, total: 7, ...(next !== undefined && { next }) };
}

test("a whole file that is read by its handle is a block; a page of it is data", () => {
  const file = { shape: "", mimeType: "image/png" };
  const head = { handle: HANDLE, mimeType: "image/png", bytes: 7, total: 7 };
  const whole = renderPart(partOf({ mimeType: "image/png", bytes: 7, base64: DATA }, file));
  assert.deepEqual(whole.structuredContent, head);
  assert.deepEqual(whole.content[1], { type: "image", mimeType: "image/png", data: DATA });
  const value = { mimeType: "image/png", bytes: 7, base64: "AAAA", next: 3 };
  const page = renderPart(partOf(value, file, 3));
  assert.deepEqual(page.structuredContent, { ...head, next: 3, value });
  assert.equal(page.content.length, 1);
});

test("a part at the size limit is returned whole, one above only as its shape with the offset to continue", () => {
  const most = 1024 * 1024;
  const below = renderPart(partOf("x".repeat(most), {}));
  assert.equal(Object(below.structuredContent).value.length, most);
  const above = renderPart(partOf("x".repeat(most + 1), {}, 5));
  assert.deepEqual(above.structuredContent, {
    handle: HANDLE,
    mimeType: "application/json",
    bytes: 7,
    total: 7,
    next: 5,
    shape: "string",
  });
  const [block] = above.content;
  assert.ok(block?.type === "text" && Buffer.byteLength(block.text) <= 20_000);
  assert.match(block.text, /7 in all, more at offset 5\]$/);
});

test("a file of a resource or a prompt is restored in its place", async () => {
  const placeholder = { mimeType: "image/png", bytes: 7, handle: HANDLE };
  const uri = "glovebox://files/note%3A%2F%2Fa";
  const resource = doorOf([mediaOf("image/png")], { contents: [{ type: "blob", uri: "note://a", ...placeholder }] });
  assert.deepEqual(await readResource(resource, uri, SIGNAL), {
    contents: [{ uri, mimeType: "image/png", blob: DATA }],
  });
  const nested = { uri: "note://a", mimeType: "image/png", blob: { type: "blob", ...placeholder } };
  const listed = await readResource(doorOf([mediaOf("image/png")], { contents: [nested] }), uri, SIGNAL);
  assert.deepEqual(listed, { contents: [{ uri, mimeType: "image/png", blob: DATA }] });
  const content = { type: "image", ...placeholder };
  const prompt = doorOf([mediaOf("image/png")], { messages: [{ role: "user", content }] });
  assert.deepEqual(await getPrompt(prompt, { name: "files_x", args: {} }, SIGNAL), {
    messages: [{ role: "user", content: { type: "image", mimeType: "image/png", data: DATA } }],
  });
});

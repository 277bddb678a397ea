/** The rule from protocol results to JSON values. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { GloveboxError } from "../../../domain/index.ts";

import { runAtOnce } from "../../../timing/index.ts";
import { parseResult as parseInSlices } from "./parse-result.ts";

const clean = (text: string): string => text.replaceAll("\u001b", "");
const text = (value: string): { readonly type: "text"; readonly text: string } => ({ type: "text", text: value });
const parseResult = (...args: Parameters<typeof parseInSlices>) => runAtOnce(parseInSlices(...args));
const convert = (raw: unknown): unknown => parseResult(raw, clean).value;

function refused(raw: unknown): readonly [string, string] {
  try {
    convert(raw);
  } catch (thrown) {
    assert.ok(thrown instanceof GloveboxError);
    return [thrown.code, thrown.message];
  }
  return assert.fail("The result should have been refused");
}

test("structured content takes precedence over blocks, for every JSON value", () => {
  assert.deepEqual(convert({ content: [text("{}")], structuredContent: { a: [1] } }), { a: [1] });
  assert.deepEqual(convert({ structuredContent: 0 }), 0);
  assert.deepEqual(convert({ content: [], structuredContent: false }), false);
});

test("structured content that is null is ignored", () => {
  assert.equal(convert({ content: [text("plain")], structuredContent: null }), "plain");
  assert.equal(convert({ structuredContent: null }), null);
});

test("one text block with a JSON object or array becomes that value", () => {
  assert.deepEqual(convert({ content: [text(' {"a":1} ')] }), { a: 1 });
  assert.deepEqual(convert({ content: [text("[1,[2]]")] }), [1, [2]]);
});

test("one text block with anything else stays a string", () => {
  for (const value of ["", "42", "true", "null", '"quoted"', "{broken", "[1,", "plain"]) {
    assert.equal(convert({ content: [text(value)] }), value);
  }
});

test("a result without blocks is null", () => {
  assert.equal(convert({ content: [] }), null);
});

test("several blocks become an array, reduced to the fields of their kind", () => {
  const resource = { type: "resource", resource: { uri: "a://b", text: "c" }, annotations: { priority: 1 } };
  const link = { type: "resource_link", uri: "a://b", name: "b" };
  const content = [{ ...text("[1]"), _meta: { x: 1 } }, resource, link];
  const value = [{ type: "text", text: "[1]" }, resource, link];
  assert.deepEqual(parseResult({ content }, clean), { value, attachments: [] });
  assert.deepEqual(convert({ content: [link] }), [link]);
});

test("binary data moves to the attachments and leaves a placeholder with its size", () => {
  const content = [
    { type: "image", mimeType: "image/png", data: "AAAA", annotations: {} },
    { type: "audio", mimeType: "audio/wav; rate=8000", data: "AQ==" },
    { type: "resource", resource: { uri: "a://b", mimeType: "<script>", blob: "AQI=" } },
  ];
  const blob = { type: "blob", mimeType: "application/octet-stream", bytes: 2 };
  assert.deepEqual(parseResult({ content }, clean), {
    value: [
      { type: "image", mimeType: "image/png", bytes: 3 },
      { type: "audio", mimeType: "audio/wav; rate=8000", bytes: 1 },
      { type: "resource", resource: { uri: "a://b", mimeType: "<script>", blob } },
    ],
    attachments: [
      { path: [0], kind: "image", mimeType: "image/png", base64: "AAAA" },
      { path: [1], kind: "audio", mimeType: "audio/wav; rate=8000", base64: "AQ==" },
      { path: [2, "resource", "blob"], kind: "blob", mimeType: "application/octet-stream", base64: "AQI=" },
    ],
  });
});

test("structured content is unchanged, also beside pictures and when it looks like one", () => {
  const structuredContent = { type: "image", mimeType: "image/png", data: "AAAA" };
  const content = [{ type: "image", mimeType: "image/png", data: "AAAA" }];
  assert.deepEqual(parseResult({ content, structuredContent }, clean), { value: structuredContent, attachments: [] });
});

test("the size of a placeholder is that of the decoded data, and invalid base64 is refused", () => {
  const image = (data: string): unknown => ({ content: [{ type: "image", mimeType: "image/png", data }] });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      const data = Buffer.from(bytes).toString("base64");
      assert.deepEqual(convert(image(data)), [{ type: "image", mimeType: "image/png", bytes: bytes.length }]);
    }),
  );
  for (const data of ["A", "AA", "AA=A", "AA A", "A===", "====", "AAA_", "AAAA\n", "AAAA;===", "ÄÄÄÄ"]) {
    assert.equal(refused(image(data))[0], "UPSTREAM_RESULT_INVALID", data);
  }
});

test("an error result throws the text of its blocks, cleaned and cut", () => {
  const content = [text("first \u001b[31m"), { type: "image", mimeType: "a/b", data: "" }, text("second")];
  assert.deepEqual(refused({ isError: true, content }), ["UPSTREAM_FAILED", "first [31m\nsecond"]);
  for (const [length, shown] of [
    [2047, 2047],
    [2048, 2048],
    [2049, 2048],
  ] as const) {
    assert.equal(refused({ isError: true, content: [text("x".repeat(length))] })[1].length, shown);
  }
  assert.equal(Buffer.byteLength(refused({ isError: true, content: [text("é€😀".repeat(500))] })[1]) <= 2048, true);
});

test("an error result without text has a default message, and isError false is a value", () => {
  assert.deepEqual(refused({ isError: true, content: [] }), [
    "UPSTREAM_FAILED",
    "The tool reported an error without a message",
  ]);
  assert.equal(convert({ isError: false, content: [text("fine")] }), "fine");
});

test("anything but a tool result is refused", () => {
  const wrong = [
    undefined,
    null,
    "text",
    [],
    {},
    { toolResult: 1 },
    { content: {} },
    { content: [null] },
    { content: ["text"] },
    { content: [{ text: "no type" }] },
    { content: [{ type: "text" }] },
    { content: [{ type: "text", text: 1 }] },
    { content: [{ type: "image", data: "AA==" }] },
    { content: [{ type: "resource" }] },
    { content: [{ type: "resource", resource: { uri: "a://b" } }] },
    { content: [{ type: "resource", resource: { text: "no uri" } }] },
    { content: [{ type: "resource_link" }] },
    { content: [{ type: "video", data: "", mimeType: "" }] },
    { content: [], isError: "yes" },
    { content: [{}], structuredContent: {} },
  ];
  assert.deepEqual([...new Set(wrong.map((raw) => refused(raw)[0]))], ["UPSTREAM_RESULT_INVALID"]);
});

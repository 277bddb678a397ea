/** What is read out of a journal. */

import assert from "node:assert/strict";
import { it } from "node:test";

import type { EngineName } from "../domain/index.ts";
import { parseJournal } from "./journal-schema.ts";
import { toRecording } from "./journal.ts";

const ASKED = {
  kind: "asked",
  principal: { id: "agent", kind: "agent", groups: [] },
  source: "1",
  limits: { wallMs: 1 },
};
const PROGRAM = { digest: "", source: "", checkable: "", javascript: "", insertions: [], calls: [], findings: [] };
const BEGAN = {
  kind: "began",
  start: { seed: [1, 2, 3, 4], atMs: 0 },
  program: PROGRAM,
  namespaces: [],
  network: false,
};
const GIVEN = { kind: "given", delivery: { kind: "tick", id: 1, atMs: 0, text: "" } };
const SWITCHED = { kind: "switched", engine: "isolate" };

function engineOf(...events: readonly object[]): EngineName | undefined {
  const text = [ASKED, ...events].map((event) => JSON.stringify(event)).join("\n");
  return toRecording(parseJournal([text]))?.started?.engine;
}

it("a journal is replayed on the engine that it names", () => {
  assert.equal(engineOf({ ...BEGAN, engine: "quickjs" }, GIVEN), "quickjs");
});
it("a journal with a change of engine is replayed on the last one", () => {
  assert.equal(engineOf({ ...BEGAN, engine: "quickjs" }, GIVEN, SWITCHED, GIVEN), "isolate");
});
it("a journal that names no engine is replayed on a V8 isolate", () => {
  assert.equal(engineOf(BEGAN, GIVEN), "isolate");
});
it("a journal of a program that never started names no engine", () => {
  assert.equal(engineOf(), undefined);
});
it("a journal with an unknown engine cannot be read", () => {
  assert.throws(() => engineOf({ ...BEGAN, engine: "other" }), { code: "STORE_UNAVAILABLE" });
});

function textsOf(...lines: readonly string[]): readonly string[] {
  const pieces = [JSON.stringify(ASKED), ...lines];
  return toRecording(parseJournal(pieces))?.deliveries.map(({ delivery }) => delivery.text) ?? [];
}

it("a text in several lines belongs to the delivery after them", () => {
  const two = JSON.stringify({ ...GIVEN, textLines: 2 });
  assert.deepEqual(textsOf('>"a', '>b"', two, JSON.stringify(GIVEN)), ['"ab"', ""]);
});
it("lines of a delivery that was not written to its end are ignored", () => {
  const one = JSON.stringify({ ...GIVEN, textLines: 1 });
  assert.deepEqual(textsOf('>"lost', '>"a"', one, '>"lost'), ['"a"']);
});
it("a delivery whose text is not complete cannot be read", () => {
  const two = JSON.stringify({ ...GIVEN, textLines: 2 });
  assert.throws(() => textsOf('>b"', two), { code: "STORE_UNAVAILABLE" });
});
it("a text in the line after its delivery, as former versions wrote it, is read", () => {
  assert.deepEqual(textsOf(`${JSON.stringify({ ...GIVEN, isTextNext: true })}\n"a"`), ['"a"']);
});

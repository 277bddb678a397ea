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
  return toRecording(parseJournal(text))?.started?.engine;
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

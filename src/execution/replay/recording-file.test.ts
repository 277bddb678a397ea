/** Exports of executions: what they hold, that any change shows, and that nothing is believed of one. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { digestOf } from "../../text/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { openRecorder } from "./fixtures/record.ts";
import type { KeptExecution } from "./kept.ts";
import { parseRecordingFile, toRecordingFile } from "./recording-file.ts";
import { replay } from "./replay.ts";

const signal = new AbortController().signal;
const FACTS = { version: "1.2.3", hide: (text: string) => text };

describe("an export", () => {
  let opened: Awaited<ReturnType<typeof openRecorder>>;
  let kept: KeptExecution;
  before(async () => {
    opened = await openRecorder("isolate");
    kept = await opened.record(
      `const { args } = await files.read({ a: Math.random() }); console.log(Date.now()); return args;`,
    );
  });
  after(() => opened.sandbox.close());
  const copy = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

  it("an export can be replayed after it was written and parsed", async () => {
    const back = parseRecordingFile(copy(toRecordingFile(kept, FACTS)));
    assert.deepEqual(back, copy(kept));
    assert.equal((await replay(back, { signal }, opened.rooms)).difference, undefined);
  });
  it("an export has its kind, its version and its engine", () => {
    const { kind, format, version, engine, masked } = toRecordingFile(kept, FACTS);
    assert.deepEqual([kind, format, version, engine, masked], ["glovebox.recording", 1, "1.2.3", "isolate", false]);
  });
  it("an export does not contain the session", () => {
    const { recording } = kept;
    const principal = { ...recording.request.principal, session: "s-1" };
    const named = { ...kept, recording: { ...recording, request: { ...recording.request, principal } } };
    assert.doesNotMatch(JSON.stringify(toRecordingFile(named, FACTS)), /s-1|session/);
  });
  it("an export is masked and marked as masked", () => {
    const hide = (text: string): string => text.replaceAll("files.read", "[hidden]");
    const file = toRecordingFile(kept, { version: "1", hide });
    assert.doesNotMatch(JSON.stringify(file), /files\.read/);
    assert.equal(parseRecordingFile(copy(file)).isMasked, true);
  });
  it("an export is refused when any part was changed, and accepted unchanged", () => {
    const file = copy(toRecordingFile(kept, FACTS));
    assert.ok(parseRecordingFile(file));
    for (const key of Object.keys(file)) {
      const changed: Json = typeof file[key] === "boolean" ? !file[key] : key === "format" ? 2 : "x";
      assert.throws(() => parseRecordingFile({ ...file, [key]: changed }), { code: "REQUEST_INVALID" }, key);
    }
    assert.throws(() => parseRecordingFile({ ...file, more: 1 }), /was changed after it was written/);
  });
  it("an incomplete export is refused, also with a valid digest", () => {
    const { digest: _, ...body } = copy(toRecordingFile(kept, FACTS));
    const signed = (changed: JsonObject): JsonObject => ({ ...changed, digest: digestOf(changed) });
    assert.ok(parseRecordingFile(signed(body)));
    for (const key of ["execution", "request", "begun", "given", "masked"]) {
      const { [key]: _gone, ...rest } = body;
      assert.throws(() => parseRecordingFile(signed(rest)), /The export is incomplete/, key);
    }
    const given = [{ delivery: { kind: "reply", id: "1", atMs: 0, text: "" } }];
    assert.throws(
      () => parseRecordingFile(signed({ ...body, given })),
      /The export is incomplete: given\.0\.delivery\.id/,
    );
  });
  it("anything but an export is refused", () => {
    const deep = JSON.parse(`${"[".repeat(1_500)}${"]".repeat(1_500)}`) as Json;
    const file = toRecordingFile(kept, FACTS);
    for (const raw of [undefined, null, 5, "x", [], {}, { kind: "other" }, { ...file, given: deep }])
      assert.throws(() => parseRecordingFile(raw), { code: "REQUEST_INVALID" });
  });
});

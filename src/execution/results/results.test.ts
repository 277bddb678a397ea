/** Kept results on a real store: samples, shapes, files, attachments, and who may read them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as fc from "fast-check";

import { AGENT, EXECUTION, known } from "../../../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_LIMITS, GloveboxError, parsePrincipalId, parseResultId } from "../../domain/index.ts";
import type { ExecutionResult, Json } from "../../domain/index.ts";
import { openUnlockedStore } from "../../store/fixtures/sample-seal.ts";
import { findMedia } from "./find-media.ts";
import { keepAttachments } from "../../bridge/steps/take-result.ts";
import { keepLarge } from "../kept-results.ts";
import { createResults } from "./create-results.ts";
import { MAX_SAMPLE_BYTES, sampleValue } from "../kept-results.ts";

const OWNER = { principal: AGENT.id, execution: EXECUTION, labels: [] };
const OTHER = known(parsePrincipalId("other"));

async function open(totalBytes = 1_000_000) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  let made = 0;
  const createId = () => known(parseResultId(`rs_${String((made += 1)).padStart(24, "0")}`));
  return createResults({ store: store.results, now: () => 7, createId, keepMs: 100, totalBytes });
}

function resultOf(value: Json, outputBytes: number): ExecutionResult {
  return {
    execution: EXECUTION,
    state: "completed",
    value,
    logs: [],
    calls: [],
    findings: [],
    stats: { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 0, outputBytes },
    engine: "isolate",
    isolation: "process",
  };
}

const isNotFound = (error: unknown): boolean => error instanceof GloveboxError && error.code === "REQUEST_NOT_FOUND";

describe("a sample", () => {
  it("sampleValue returns small valid JSON for any value, and a small value unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (raw) => {
        const value = JSON.parse(JSON.stringify(raw)) as Json;
        const text = JSON.stringify(sampleValue(value));
        assert.ok(Buffer.byteLength(text) <= MAX_SAMPLE_BYTES);
        assert.ok(text.isWellFormed());
      }),
    );
    assert.deepEqual(sampleValue({ a: [1, "x", null] }), { a: [1, "x", null] });
  });
  it("sampleValue keeps the first items, keys and characters", () => {
    const items = Array.from({ length: 100 }, (_, id) => ({ id, text: "x".repeat(500) }));
    assert.deepEqual(
      sampleValue(items),
      [0, 1, 2, 3, 4].map((id) => ({ id, text: `${"x".repeat(200)}…` })),
    );
    assert.equal(sampleValue("🧤".repeat(2_000)), `${"🧤".repeat(100)}…`);
  });
});

describe("a large value", () => {
  it("keepLarge stores a value above outputBytes, not below or at it", async () => {
    const results = await open();
    const limits = { ...DEFAULT_LIMITS, outputBytes: 10 };
    const keep = (bytes: number) =>
      keepLarge(resultOf([1, 2], bytes), limits, (value) => results.keepValue(OWNER, value));
    assert.deepEqual([await keep(9), await keep(10)], [resultOf([1, 2], 9), resultOf([1, 2], 10)]);
    const truncated = { handle: `rs_${"1".padStart(24, "0")}`, bytes: 5, shape: "number[] (2)" };
    assert.deepEqual(await keep(11), { ...resultOf([1, 2], 11), truncated });
    assert.deepEqual((await results.read(AGENT.id, truncated.handle, {})).value, [1, 2]);
  });
  it("keepLarge fails with the rest of the result when the value cannot be stored", async () => {
    const results = await open(4);
    const { value: _, ...rest } = resultOf([1, 2], 11);
    const failed = await keepLarge(resultOf([1, 2], 11), { ...DEFAULT_LIMITS, outputBytes: 10 }, (value) =>
      results.keepValue(OWNER, value),
    );
    assert.deepEqual({ ...failed, error: failed.error?.code }, { ...rest, state: "failed", error: "LIMIT_SIZE" });
  });
  it("kept values that are read in turns are parsed once", async () => {
    const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
    const found: string[] = [];
    const find: typeof store.results.find = (id, reader) => {
      found.push(id);
      return store.results.find(id, reader);
    };
    const ids = ["1", "2", "3"].map((digit) => known(parseResultId(`rs_${digit.repeat(24)}`)));
    const [one, two, three] = ids;
    const results = createResults({
      store: { ...store.results, find },
      now: () => 7,
      createId: () => known(ids.shift()),
      keepMs: 100,
      totalBytes: 100_000_000,
    });
    const large = "x".repeat(9 * 1024 * 1024);
    await results.keepValue(OWNER, { a: 1 });
    await results.keepValue(OWNER, { a: 2 });
    await results.keepValue(OWNER, [large]);
    const read = async (id: unknown, path: string) => (await results.read(AGENT.id, id, { path })).value;
    assert.deepEqual(
      [await read(one, "a"), await read(two, "a"), await read(one, "a"), await read(two, "a")],
      [1, 2, 1, 2],
    );
    assert.deepEqual(found, [one, two]);
    assert.equal(await read(three, "[0]"), large);
    assert.equal(await read(one, "a"), 1);
    assert.deepEqual(found, [one, two, three]);
  });
  it("kept values that are read at the same time are parsed once, also after one reader was refused", async () => {
    const results = await open();
    const { handle } = await results.keepValue(OWNER, { a: 1 });
    let parses = 0;
    const spend = <T>(slice: () => T): T => {
      parses += 1;
      return slice();
    };
    const refuse = (): never => assert.fail("refused");
    const read = (run: Parameters<typeof results.read>[3]) => results.read(AGENT.id, handle, { path: "a" }, run);
    const [first, ...others] = await Promise.allSettled([read(refuse), read(spend), read(spend), read(spend)]);
    assert.equal(first?.status, "rejected");
    assert.deepEqual(
      others.map((one) => one.status === "fulfilled" && one.value.value),
      [1, 1, 1],
    );
    assert.equal(parses, 4); // one parse, and a slice for each path
  });
  it("reading counts the time of its slices and ends with a refused one", async () => {
    const results = await open();
    const { handle } = await results.keepValue(OWNER, ["a"]);
    let spent = 0;
    const spend = <T>(slice: () => T): T => {
      spent += 1;
      return slice();
    };
    await results.read(AGENT.id, handle, { grep: "a" }, spend);
    assert.equal(spent, 2); // parsing and the search
    const refuse = (): never => {
      throw new GloveboxError("LIMIT_TIME", "enough");
    };
    await assert.rejects(results.read(AGENT.id, handle, { grep: "a" }, refuse), { code: "LIMIT_TIME" });
  });
  it("a kept value can be read by its principal only", async () => {
    const results = await open();
    const { handle } = await results.keepValue(OWNER, { secret: 1 });
    assert.deepEqual((await results.read(AGENT.id, handle, { path: "secret" })).value, 1);
    await assert.rejects(results.read(OTHER, handle, {}), isNotFound);
    await assert.rejects(results.summarize(OTHER, handle), isNotFound);
    await assert.rejects(results.read(AGENT.id, "rs_1' OR 1=1", {}), isNotFound);
  });
});

describe("a file", () => {
  const body = Buffer.from([0, 1, 2, 250, 251]);
  it("a kept file is read in pages of bytes", async () => {
    const results = await open();
    const handle = await results.keepFile(OWNER, { mimeType: "image/png", body });
    const whole = { mimeType: "image/png", bytes: 5, base64: body.toString("base64") };
    assert.deepEqual((await results.read(AGENT.id, handle, {})).value, whole);
    assert.deepEqual((await results.read(AGENT.id, handle, { offset: 1, limit: 3 })).value, {
      ...whole,
      base64: body.subarray(1, 4).toString("base64"),
      next: 4,
    });
  });
  it("a kept file refuses path and grep", async () => {
    const results = await open();
    const handle = await results.keepFile(OWNER, { mimeType: "text/plain", body });
    const isInvalid = (error: unknown): boolean => error instanceof GloveboxError && error.code === "REQUEST_INVALID";
    await assert.rejects(results.read(AGENT.id, handle, { path: "a" }), isInvalid);
    await assert.rejects(results.read(AGENT.id, handle, { grep: "a" }), isInvalid);
    assert.equal((await results.read(AGENT.id, handle, { offset: 5 })).total, 5);
  });
  it("a file with the MIME type of JSON stays a file", async () => {
    const results = await open();
    const handle = await results.keepFile(OWNER, { mimeType: "application/json", body });
    assert.deepEqual((await results.read(AGENT.id, handle, {})).total, 5);
  });
  it("a file of a call is replaced by its handle, and findMedia returns it for a value with that handle", async () => {
    const results = await open();
    const base64 = body.toString("base64");
    const attachments = [{ path: ["blocks", 1], kind: "image", mimeType: "image/png", base64 }] as const;
    const value = { blocks: ["text", { type: "image", note: "placeholder" }] };
    const kept = await keepAttachments({ value, attachments }, 6, (file) => results.keepFile(OWNER, file));
    const handle = `rs_${"1".padStart(24, "0")}`;
    const placeholder = { type: "image", note: "placeholder", mimeType: "image/png", bytes: 5, handle };
    assert.deepEqual(kept, { blocks: ["text", placeholder] });
    assert.deepEqual(await findMedia(results, AGENT.id, [kept, kept]), [
      { handle, mimeType: "image/png", base64, labels: [] },
    ]);
    assert.deepEqual(await findMedia(results, OTHER, kept), []);
    assert.deepEqual(await findMedia(results, AGENT.id, { handle }), []);
  });
  it("files above the limit of a call are refused before anything is stored", async () => {
    const attachments = [{ path: [], kind: "blob", mimeType: "x/y", base64: "AAAAAAAA" }] as const;
    const keep = (most: number) => keepAttachments({ value: null, attachments }, most, () => Promise.resolve(HANDLE));
    const HANDLE = known(parseResultId(`rs_${"0".repeat(24)}`));
    const refused = (error: unknown): boolean => error instanceof GloveboxError && error.code === "LIMIT_SIZE";
    await assert.rejects(keep(5), refused);
    assert.deepEqual(await keep(6), { type: "blob", mimeType: "x/y", bytes: 6, handle: HANDLE });
  });
});

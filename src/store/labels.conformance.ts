/** The conformance suite of `Store["labels"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseExecutionId, parsePrincipalId, parseResultId, parseToolAddress } from "../domain/index.ts";
import type { LabelSource } from "../domain/index.ts";
import type { OpenStore } from "./store.conformance.ts";
import type { LabelRow } from "./store.ts";

const EXECUTION = certain(parseExecutionId(`ex_${"0".repeat(24)}`));
const TOOL = certain(parseToolAddress("files.read"));
const SOURCES: readonly LabelSource[] = [
  { label: "private", tool: TOOL, execution: EXECUTION, seq: 1 },
  { label: "untrusted", tool: TOOL, execution: EXECUTION, seq: 2 },
];

function row(name: string, takenAt: number, sources = SOURCES): LabelRow {
  return { principal: certain(parsePrincipalId(name)), sources, takenAt };
}

export function describeLabels(open: OpenStore): void {
  test("put replaces the labels of a principal, and list sorts by name", async () => {
    await using store = await open();
    assert.deepEqual(await store.labels.list(0), []);
    await store.labels.put(row("grace", 5));
    await store.labels.put(row("ada", 6, SOURCES.slice(0, 1)));
    await store.labels.put(row("grace", 7));
    assert.deepEqual(await store.labels.list(0), [row("ada", 6, SOURCES.slice(0, 1)), row("grace", 7)]);
  });

  test("list deletes older labels and keeps younger ones", async () => {
    await using store = await open();
    for (const [name, takenAt] of [
      ["a", 9],
      ["b", 10],
      ["c", 11],
    ] as const)
      await store.labels.put(row(name, takenAt));
    assert.deepEqual(await store.labels.list(10), [row("c", 11)]);
    assert.deepEqual(await store.labels.list(0), [row("c", 11)]);
  });

  test("labels of a stored result are returned with it", async () => {
    await using store = await open();
    const [id, principal] = [certain(parseResultId(`rs_${"0".repeat(24)}`)), certain(parsePrincipalId("ada"))];
    const about = {
      id,
      principal,
      execution: EXECUTION,
      mimeType: "x/y",
      bytes: 1,
      shape: "",
      createdAt: 1,
      expiresAt: 9,
    };
    await store.results.put({ ...about, labels: SOURCES, body: new Uint8Array(1) }, 10);
    assert.deepEqual(await store.results.findSummary(id, { principal, now: 2 }), { ...about, labels: SOURCES });
  });
}

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

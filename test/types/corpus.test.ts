/** Honest programs are never held back, and mistaken ones are told what is wrong, against real servers. */

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import type { ExecutionResult } from "../../src/main.ts";
import { openReal, readHonest, readMistaken, runSample, wordsOf } from "./corpus.ts";
import type { Sample } from "./corpus.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-types-")));
const glovebox = await openReal(folder);
after(async () => {
  await glovebox.close();
  rmSync(folder, { recursive: true });
});

const run = (sample: Sample): Promise<ExecutionResult> => runSample(glovebox, sample, folder);

describe("honest programs", () => {
  const samples = readHonest();
  it("has at least 150 honest samples", () => assert.ok(samples.length >= 150, String(samples.length)));
  it("completes every honest program without a type error", async () => {
    const troubled: unknown[] = [];
    for (const sample of samples) {
      const result = await run(sample);
      const errors = result.findings.filter(({ rule, severity }) => rule === "types" && severity === "error");
      const isUnchecked = result.findings.some(({ message }) => message.includes("not checked"));
      if (result.state !== "completed" || isUnchecked || errors.length > 0)
        troubled.push([sample.name, result.error, errors]);
    }
    assert.deepEqual(troubled, []);
  });
});

describe("mistaken programs", () => {
  const samples = readMistaken();
  it("has at least 100 mistaken samples", () => assert.ok(samples.length >= 100, String(samples.length)));
  it("refuses every mistaken program before it runs, at the right line, with the words of the fix", async () => {
    const missed: unknown[] = [];
    for (const sample of samples) {
      const result = await run(sample);
      const { error, calls, logs } = result;
      const isRight = error?.code === "PROGRAM_TYPES" && error.line === sample.line && error.frame !== undefined;
      const words = wordsOf(result);
      if (!isRight || !sample.expected.test(words)) missed.push([sample.name, sample.code, error?.code, words]);
      assert.deepEqual([calls, logs], [[], []], sample.name);
    }
    assert.deepEqual(missed, []);
  });
});

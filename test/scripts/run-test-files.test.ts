/** The runner of `npm test`: counts every test once, and fails with a test, a process or a file without tests. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { planBatches } from "../../scripts/run-test-files.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-runner-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

const TEST = 'import { after, before, test } from "node:test";';
const FILES = {
  passes: `${TEST} test("one", () => {}); test("two", () => {});`,
  fails: `${TEST} test("fails", () => { throw new Error("no"); });`,
  failsLate: `${TEST} test("ends", () => { setTimeout(() => { throw new Error("late"); }, 1); });
    test("waits", () => new Promise((done) => setTimeout(done, 100)));`,
  hookFails: `${TEST} after(() => { throw new Error("no"); }); test("passes", () => {});`,
  hasNone: "export {};",
  doesNotLoad: 'throw new Error("no");',
  exits: `${TEST} test("exits", () => process.exit(0));`,
  crashes: `${TEST} test("crashes", () => process.kill(process.pid, "SIGKILL"));`,
  setsUp: `${TEST} before(() => { globalThis.isUp = true; }); after(() => { delete globalThis.isUp; });
    test("is up", (t) => t.assert.equal(globalThis.isUp, true));`,
  isApart: `${TEST} test("is not up", (t) => t.assert.equal(globalThis.isUp, undefined));`,
};

interface Ending {
  readonly code: unknown;
  /** The closing lines: `tests 2`, `pass 2` and so on. */
  readonly counts: string;
  readonly complaints: string;
}

/** Runs the files in one process below the runner. */
function runFiles(...names: readonly (keyof typeof FILES)[]): Promise<Ending> {
  const paths = names.map((name) => {
    const path = join(folder, `${name}.test.ts`);
    writeFileSync(path, FILES[name]);
    return path;
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // otherwise it reports to the runner of this test
  return new Promise((ended) => {
    execFile(process.execPath, ["scripts/run-test-files.ts", ...paths], { env }, (error, stdout, stderr) => {
      const counts = [...stdout.matchAll(/^ℹ ((?:tests|pass|fail|cancelled) \d+)$/gm)].map(([, count]) => count);
      ended({ code: error?.code ?? 0, counts: counts.join(", "), complaints: stderr.replaceAll(`${folder}/`, "") });
    });
  });
}

describe("the test runner", { concurrency: 2 }, () => {
  test("the runner counts all tests once and ends with 0 when they pass", async () => {
    const ending = await runFiles("passes", "setsUp", "isApart");
    assert.deepEqual(ending, { code: 0, counts: "tests 4, pass 4, fail 0, cancelled 0", complaints: "" });
  });

  test("the runner ends with 1 when a test fails, and still runs the files after it", async () => {
    const ending = await runFiles("fails", "passes");
    assert.deepEqual(ending, { code: 1, counts: "tests 3, pass 2, fail 1, cancelled 0", complaints: "" });
  });

  test("the runner ends with 1 when a file does not load, and still runs the files after it", async () => {
    const ending = await runFiles("doesNotLoad", "passes");
    assert.deepEqual([ending.code, ending.counts], [1, "tests 2, pass 2, fail 0, cancelled 0"]);
  });

  test("the runner ends with 1 and names a file without tests", async () => {
    const ending = await runFiles("passes", "hasNone", "isApart");
    const complaints = "hasNone.test.ts has no test that ended.\n";
    assert.deepEqual(ending, { code: 1, counts: "tests 3, pass 3, fail 0, cancelled 0", complaints });
  });

  for (const name of ["exits", "crashes"] as const)
    test(`the runner ends with 1 when a process ${name}, and names the files that did not end`, async () => {
      const { code, complaints } = await runFiles(name, "passes");
      const unended = [name, "passes"].map((file) => `${file}.test.ts has no test that ended.\n`);
      assert.deepEqual([code, complaints], [1, unended.join("")]);
    });

  for (const name of ["failsLate", "hookFails"] as const)
    test(`the runner ends with 1 for an error outside of any test: ${name}`, async () => {
      assert.equal((await runFiles(name)).code, 1);
    });
});

describe("the plan of the test runner", () => {
  test("files of one room share processes, and other files do not", () => {
    const files = ["test/a/one.test.ts", "src/b/two.test.ts", "src/c/three.test.ts", "src/b/d/four.test.ts"];
    assert.deepEqual(planBatches(files), [
      ["test/a/one.test.ts"],
      ["src/b/two.test.ts", "src/b/d/four.test.ts"],
      ["src/c/three.test.ts"],
    ]);
  });

  test("scenarios of one subject share processes", () => {
    const files = ["test/scenarios/a/one.test.ts", "test/scenarios/b/two.test.ts", "test/scenarios/a/three.test.ts"];
    assert.deepEqual(planBatches(files), [
      ["test/scenarios/a/one.test.ts", "test/scenarios/a/three.test.ts"],
      ["test/scenarios/b/two.test.ts"],
    ]);
  });

  test("a file that measures its own process has a process", () => {
    const files = ["src/sandbox/a.test.ts", "src/sandbox/frames.test.ts", "src/sandbox/b.test.ts"];
    assert.deepEqual(planBatches(files), [
      ["src/sandbox/a.test.ts", "src/sandbox/b.test.ts"],
      ["src/sandbox/frames.test.ts"],
    ]);
  });

  test("every file is in one batch", () => {
    const files = Array.from({ length: 50 }, (_, index) => `src/a/${index}.test.ts`);
    assert.deepEqual(planBatches(files).flat(), files);
  });
});

/**
 * Runs test files, several of one folder in one process: half of the time of a short file is the start of its process
 * and the compilation of its imports. Sets the exit code to 1 if a test fails, a process crashes, or a file has no test.
 */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/** These measure the memory of their own process. */
const ALONE = new Set([
  "src/processes/measure-family.test.ts",
  "src/sandbox/frames.test.ts",
  "src/sandbox/measure.test.ts",
  "test/escape/corpus.test.ts",
  "test/escape/wire.test.ts",
]);
/** Folders of `test/` with short files, which share processes. */
const SHORT_TESTS = new Set(["answers", "docs", "pins", "plans", "search"]);
/** Folders of `test/` whose files share a process with each other. */
const SHARED_TESTS = new Set(["agent", "engines", "evidence", "flows", "repair", "replays", "scripts", "types"]);
/** More files in one process save little, and the last process would run alone for longer. */
const MAX_BATCH = 12;
/** A process that takes this long has left something open. */
const TIMEOUT_MS = 1_200_000;

const CACHE = resolve("node_modules/.cache");
const RUNNER = pathToFileURL(join(dirname(fileURLToPath(import.meta.url)), "test-batch.ts")).href;

/** Keeps the order of the files, and shares a process only among files of one room. */
export function planBatches(files: readonly string[]): readonly (readonly string[])[] {
  const batches: { readonly room: string; readonly files: string[] }[] = [];
  for (const file of files) {
    const room = ALONE.has(file) ? file : roomOf(file);
    const last = batches.findLast((batch) => batch.room === room);
    if (last && last.files.length < MAX_BATCH) last.files.push(file);
    else batches.push({ room, files: [file] });
  }
  return batches.map((batch) => batch.files);
}

/** A file that takes long has a process of its own, so that others run meanwhile. */
function roomOf(file: string): string {
  const [top = "", room = ""] = file.split("/");
  if (top !== "test") return top === "src" ? `${top}/${room}` : top;
  if (room === "scenarios" || SHARED_TESTS.has(room)) return dirname(file);
  return SHORT_TESTS.has(room) ? top : file;
}

/** Runs the files and prints each test, then the counts of all. Resolves when all have ended. */
export function runTestFiles(files: readonly string[]): Promise<void> {
  // Every process loads the same modules, which it need not compile again.
  process.env["NODE_COMPILE_CACHE"] = join(CACHE, "tests");
  const folder = join(CACHE, `batches-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const batches = planBatches(files).map((batch, index) => writeBatch(folder, index, batch));
  // Four processes at once keep two cores busy: tests wait for processes and timers.
  const results = run({ files: batches, concurrency: 4, timeout: TIMEOUT_MS });
  const unseen = new Set(files);
  let tests = 0;
  results.on("test:fail", ({ name, nesting }) => {
    process.exitCode = 1;
    if (nesting === 0) unseen.delete(name);
    tests = nesting === 0 ? 0 : tests + 1;
  });
  results.on("test:pass", ({ name, nesting }) => {
    if (nesting === 0 && tests > 0) unseen.delete(name);
    tests = nesting === 0 ? 0 : tests + 1;
  });
  results.once("end", () => {
    for (const file of unseen) console.error(`${file} has no test that ended.`);
    if (unseen.size > 0) process.exitCode = 1;
  });
  const printed = results.compose(spec);
  printed.pipe(process.stdout);
  return finished(printed);
}

/** Writes a module that runs these files, and returns its path. */
function writeBatch(folder: string, index: number, files: readonly string[]): string {
  const path = join(folder, `${String(index).padStart(3, "0")}.mjs`);
  writeFileSync(path, `import { runBatch } from "${RUNNER}";\nawait runBatch(${JSON.stringify(files)});\n`);
  return path;
}

if (import.meta.main) await runTestFiles(process.argv.slice(2));

/** `npm test`: builds, checks, and runs every test; with arguments, it runs only the test files that they name. */

import { globSync } from "node:fs";
import { resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

import { runSteps } from "./steps.ts";
import type { Step } from "./steps.ts";

const node = process.execPath;
const chosen = process.argv.slice(2);

/** The long files are in `test/` and start first, so that the short ones fill the cores at the end. */
const PATTERNS = ["test/**/*.test.ts", "{guest,web}/**/*.test.ts", "src/**/*.test.ts"];

const build: Step = { name: "build", command: [node, "scripts/build.ts"] };
const check: Step = { name: "check", command: [node, "scripts/check.ts"] };

const good = await runSteps(chosen.length > 0 ? [build] : [build, check]);
if (!good) process.exitCode = 1;

const files = (chosen.length > 0 ? chosen : PATTERNS).flatMap((pattern) => globSync(pattern).toSorted());
if (files.length === 0) throw new Error(`No test file matches ${chosen.join(" ")}.`);

// Every test file is a process that loads the same modules: half of its start is compiling them.
process.env["NODE_COMPILE_CACHE"] = resolve("node_modules/.cache/tests");
// Three files at once keep two cores busy: a test file waits for processes and timers a third of its time.
// A file that takes minutes has left something open.
const results = run({ files, concurrency: 3, timeout: 300_000 });
results.on("test:fail", () => (process.exitCode = 1));
results.compose(spec).pipe(process.stdout);

/** `npm test`: builds, checks, and runs every test; with arguments, it runs only the test files that they name. */

import { globSync } from "node:fs";

import { runTestFiles } from "./run-test-files.ts";
import { runSteps } from "./steps.ts";
import type { Step } from "./steps.ts";

const node = process.execPath;
const chosen = process.argv.slice(2);

/** The files that take longest start first, so that the short ones fill the cores at the end. */
const PATTERNS = ["test/**/*.test.ts", "src/sandbox/**/*.test.ts", "{guest,web}/**/*.test.ts", "src/**/*.test.ts"];

const build: Step = { name: "build", command: [node, "scripts/build.ts"] };
const check: Step = { name: "check", command: [node, "scripts/check.ts", "--beside-tests"] };

if (!(await runSteps([build]))) process.exitCode = 1;

const found = (chosen.length > 0 ? chosen : PATTERNS).flatMap((pattern) => globSync(pattern).toSorted());
const files = [...new Set(found)];
if (files.length === 0) throw new Error(`No test file matches ${chosen.join(" ")}.`);
// The checks run beside the first tests, which leave a part of the cores idle.
const [isChecked] = await Promise.all([chosen.length > 0 || runSteps([check]), runTestFiles(files)]);
if (!isChecked) {
  console.error("`npm run check` failed; its output is above.");
  process.exitCode = 1;
}

/** `npm test`: builds, checks, and runs every test; with arguments, it runs only the test files that they name. */

import { globSync } from "node:fs";

import { runTestFiles } from "./run-test-files.ts";
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
runTestFiles(files);

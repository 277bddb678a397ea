/** `npm test`: builds, checks, and runs every test; with arguments, it runs only the test files that they name. */

import { runSteps } from "./steps.ts";
import type { Step } from "./steps.ts";

const node = process.execPath;
const chosen = process.argv.slice(2);
const files = chosen.length > 0 ? chosen : ["{src,guest,web,test}/**/*.test.ts"];

const build: Step = { name: "build", command: [node, "scripts/build.ts"] };
const check: Step = { name: "check", command: [node, "scripts/check.ts"] };
// Three files at once keep two cores busy: a test file waits for processes and timers a third of its time.
// A file that takes minutes has left something open.
const flags = ["--test", "--test-concurrency=3", "--test-timeout=300000"];
const tests: Step = { name: "tests", command: [node, ...flags, ...files], live: true };

const good = await runSteps(chosen.length > 0 ? [build, tests] : [build, check, tests]);
process.exit(good ? 0 : 1);

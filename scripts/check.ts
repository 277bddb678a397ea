/**
 * `npm run check`: checks format, lint, types of the three projects, architecture, generated files and documents, in
 * seconds. With `--beside-tests` it leaves out the test files, which then run with all others.
 */

import { runSteps } from "./steps.ts";
import type { Step } from "./steps.ts";

const node = process.execPath;
const tsc = "node_modules/typescript/bin/tsc";

const isBesideTests = process.argv.includes("--beside-tests");
/** The tests use every core: more checkers only repeat work, and memory costs less than its collection. */
const checkers = isBesideTests ? ["--checkers", "1"] : [];
if (isBesideTests) process.env["GOGC"] ??= "400";

const tests = {
  name: "architecture and pins",
  command: [node, "--test", "test/architecture.test.ts", "test/pins/*.test.ts"],
} satisfies Step;

const good = await runSteps([
  { name: "format", command: ["oxfmt", "--check", "."] },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "types: gateway, tests and scripts", command: [node, tsc, "-p", "tsconfig.json", ...checkers] },
  { name: "types: guest", command: [node, tsc, "-p", "guest/tsconfig.json"] },
  { name: "types: web", command: [node, tsc, "-p", "web/tsconfig.json"] },
  { name: "generated files", command: [node, "scripts/generate.ts", "--check"] },
  ...(isBesideTests ? [] : [tests]),
  { name: "words", command: [node, "scripts/check-words.ts"] },
  { name: "documents", command: [node, "scripts/check-docs.ts"] },
]);
process.exit(good ? 0 : 1);

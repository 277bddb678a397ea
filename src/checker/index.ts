/** The front door of `checker`: does a program fit the generated API? It reads no disk and runs no program. */

export { checkProgram } from "./check-program.ts";
export type { CheckContext } from "./check-program.ts";
export { openChecker } from "./open-checker.ts";
export type { CheckResult, Checker, CheckerOptions, CheckRequest } from "./open-checker.ts";

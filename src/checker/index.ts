/** The front door of `checker`: checks programs against the generated API. It reads no files but its library, and runs no programs. */

export { checkProgram } from "./check-program.ts";
export type { CheckContext } from "./check-program.ts";
export { openChecker } from "./open-checker.ts";
export type { CheckResult, Checker, CheckerOptions, CheckRequest } from "./open-checker.ts";

/** The front door of the command line. */

export { createTerminal } from "./create-terminal.ts";
export { openBrowser } from "./open-browser.ts";
export { runCli } from "./run-cli.ts";
export type { CliContext } from "./run-cli.ts";

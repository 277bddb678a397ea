/** The front door of the command line. */

export { createTerminal } from "./create-terminal.ts";
export { runCli } from "./run-cli.ts";
export type { CliContext } from "./run-cli.ts";

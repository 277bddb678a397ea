/** The front door of the command line. */

export { runCli } from "./run-cli.ts";
export type { CliContext } from "./run-cli.ts";

/** The front door of the command line. */

export { openBrowser } from "./open-browser.ts";
export { createTerminal } from "./powers.ts";
export { runCli } from "./run-cli.ts";

/** The front door of `surfaces`: what the composition root has to provide. The command line itself is loaded on demand. */

export type { CliPowers, Terminal } from "./cli/powers.ts";
export type { ExecuteRequest, ExecutionSummary, Gateway, Health } from "./gateway.ts";

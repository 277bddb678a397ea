/** The front door of `policy`: decides allow, ask or deny, and carries nothing out. */

export { decide } from "./decide.ts";
export type { Question } from "./decide.ts";
export { matchesTool } from "./matches-tool.ts";

/** The wording of what an approval covers, at the command line and on the admin page. */

import type { Approval } from "../domain/index.ts";

export type DecidedScope = NonNullable<Approval["scope"]> | "always-arguments" | "always-tool";

/** Completes "for …", from the narrowest to the widest. */
export const DESCRIBED_SCOPES: Readonly<Record<DecidedScope, string>> = {
  call: "this call only",
  execution: "every call of this tool under this rule in this execution",
  session: "this tool with these arguments in this session",
  "session-tool": "every call of this tool under this rule in this session",
  "always-arguments": "this tool with these arguments by this principal, always",
  "always-tool": "every call of this tool by this principal, always",
};

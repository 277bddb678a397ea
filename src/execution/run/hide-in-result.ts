/** Takes secrets out of a whole result, wherever a program or a server may have put a text. */

import { mapTexts } from "../../domain/index.ts";
import type { ExecutionResult, PublicError } from "../../domain/index.ts";

/** Before it is kept, recorded or given out. Numbers, codes and ids are the host's own and stay. */
export function hideInExecution(result: ExecutionResult, hide: (text: string) => string): ExecutionResult {
  const { value, error } = result;
  return {
    ...result,
    ...(value !== undefined && { value: mapTexts(value, hide) }),
    ...(error && { error: hideInPublicError(error, hide) }),
    logs: result.logs.map((line) => ({ ...line, text: hide(line.text) })),
    calls: result.calls.map((call) => ({ ...call, tool: hide(call.tool) })),
    findings: result.findings.map((finding) => ({ ...finding, message: hide(finding.message) })),
  };
}

function hideInPublicError(error: PublicError, hide: (text: string) => string): PublicError {
  const { message, hint, frame } = error;
  return {
    ...error,
    message: hide(message),
    ...(hint !== undefined && { hint: hide(hint) }),
    ...(frame !== undefined && { frame: hide(frame) }),
  };
}

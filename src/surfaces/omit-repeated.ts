/** What a model or a person has read in the error is not said a second time by a finding. */

import type { ExecutionResult, Finding } from "../domain/index.ts";

/** Without those that only say what the error says. */
export function omitRepeatedFindings({
  findings,
  error,
}: Pick<ExecutionResult, "findings" | "error">): readonly Finding[] {
  if (!error) return findings;
  return findings.filter(
    ({ line, column, rule, message }) =>
      line !== error.line ||
      column !== error.column ||
      (!error.message.includes(message) && !error.message.startsWith(`${rule}: `)),
  );
}

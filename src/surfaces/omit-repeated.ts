/** What a model or a person has read in the error is not said a second time. */

import { defined } from "../domain/index.ts";
import type { ExecutionResult, Finding, PublicError } from "../domain/index.ts";

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

/** Some messages end with their remedy. */
export function omitRepeatedHint({ hint, ...error }: PublicError): PublicError {
  const isSaid = hint !== undefined && error.message.toLowerCase().includes(hint.toLowerCase());
  return { ...error, ...defined({ hint: isSaid ? undefined : hint }) };
}

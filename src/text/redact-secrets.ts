/**
 * The door through which text leaves the gateway: known secrets are removed here, once per text. `hide` is the mask of
 * the gateway; it also finds secrets between whose letters are invisible characters.
 */

import { defined, mapTexts } from "../domain/index.ts";
import type { Approval, ExecutionEvent, ExecutionResult, LogLine, PublicError } from "../domain/index.ts";

import { cleanText } from "./clean-text.ts";
import type { CleanOptions } from "./clean-text.ts";
import { mapLargeTexts } from "./large-json.ts";
import type { Pieces } from "./large-json.ts";

type HideSecrets = (text: string) => string;

const MESSAGE_BYTES = 2_000;

export interface RedactOptions {
  /** The message of the error is a program's or a server's own: it is also cleaned, shortened, and its paths are masked. */
  readonly foreignPaths?: CleanOptions["paths"];
}

/**
 * The result of an execution, before it is kept, recorded or returned. Numbers, codes and ids are our own and stay. A
 * value that is large is redacted in pieces.
 */
export function* redactResult(
  result: ExecutionResult,
  hide: HideSecrets,
  { foreignPaths }: RedactOptions = {},
): Pieces<ExecutionResult> {
  const { value, error } = result;
  const redacted = value === undefined ? undefined : yield* mapLargeTexts(value, hide);
  return {
    ...result,
    ...defined({
      value: redacted,
      error: error && redactError(error, hide, foreignPaths),
    }),
    logs: result.logs.map((line) => redactLine(line, hide)),
    calls: result.calls.map((call) => ({ ...call, tool: hide(call.tool) })),
    findings: result.findings.map((finding) => ({ ...finding, message: hide(finding.message) })),
  };
}

/** What a client observes while an execution runs. The message of an upstream's progress was redacted on its way in. */
export function redactEvent(event: ExecutionEvent, hide: HideSecrets): ExecutionEvent {
  switch (event.kind) {
    case "log":
      return { ...event, line: redactLine(event.line, hide) };
    case "answered": // a program may call any name, such as the value of a secret
      return { ...event, record: { ...event.record, tool: hide(event.record.tool) } };
    case "asked":
      return { ...event, approval: redactApproval(event.approval, hide) };
    case "opened":
    case "called":
    case "progress":
      return event;
    default:
      return event satisfies never;
  }
}

/** A call that waits for approval, before a person sees it. Of its plan, only literal arguments can hold a secret. */
export function redactApproval(approval: Approval, hide: HideSecrets): Approval {
  const { args, reason, plan, evidence } = approval;
  const calls = plan?.calls.map((call) =>
    defined({ ...call, args: call.args?.map((literals) => mapTexts(literals, hide)) }),
  );
  const shown = defined({
    plan: plan && calls && { ...plan, calls },
    evidence: evidence && redactNames(evidence, hide),
  });
  return { ...approval, args: mapTexts(args, hide), reason: hide(reason), ...shown };
}

/** Names of arguments are written by the program. */
function redactNames(evidence: NonNullable<Approval["evidence"]>, hide: HideSecrets): typeof evidence {
  if (evidence.kind === "none") return evidence;
  return { ...evidence, args: evidence.args.map((one) => ({ ...one, name: hide(one.name) })) };
}

function redactLine(line: LogLine, hide: HideSecrets): LogLine {
  return { ...line, text: cleanText(line.text, { maxBytes: Number.MAX_SAFE_INTEGER, hide }) };
}

function redactError(error: PublicError, hide: HideSecrets, paths: RedactOptions["foreignPaths"]): PublicError {
  const { message, hint, frame } = error;
  return defined({
    ...error,
    message: paths ? cleanText(message, { maxBytes: MESSAGE_BYTES, paths, hide }) : hide(message),
    hint: hint === undefined ? undefined : hide(hint),
    frame: frame === undefined ? undefined : hide(frame),
  });
}

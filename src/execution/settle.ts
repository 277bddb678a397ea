/** Turns the outcome of an execution into the result object that clients read. */

import { cleanText } from "../text/index.ts";
import { frameAt, toAuthorPosition } from "../analysis/index.ts";
import type { AnalysisResult } from "../analysis/index.ts";
import type { Bridge } from "../bridge/index.ts";
import { ERRORS, GloveboxError, describeError, mapTexts, toPublicError } from "../domain/index.ts";
import type {
  Approval,
  EngineName,
  ErrorCode,
  Execution,
  ExecutionResult,
  LogLine,
  Program,
  PublicError,
} from "../domain/index.ts";
import type { ProgramEnding, SandboxResult } from "../sandbox/index.ts";

export interface SettleDeps {
  readonly engine: EngineName;
  readonly isolation: ExecutionResult["isolation"];
  /** Logs an internal fault and returns the id of the incident. */
  report(thrown: unknown): string;
  /** Removes known secrets from a string. */
  readonly hide: (text: string) => string;
}

type ThrownValue = Extract<ProgramEnding, { kind: "threw" }>["thrown"];

interface ProgramOutcome {
  readonly program: Program;
  readonly bridge: Pick<Bridge, "records" | "failureOf" | "labels" | "dryRun">;
  readonly ran: SandboxResult;
  /** The approvals that a suspended program waits for. */
  readonly pending?: readonly Approval[];
}

const MESSAGE_BYTES = 2_000;
const NO_STATS: ExecutionResult["stats"] = {
  queueMs: 0,
  wallMs: 0,
  cpuMs: 0,
  peakMemoryBytes: 0,
  calls: 0,
  outputBytes: 0,
};
/** A stack frame of the program. The program controls this string, so the numbers are checked against its source. */
const PROGRAM_FRAME = /program\.ts:(\d{1,7}):(\d{1,7})/;

export function settleResult(
  execution: Execution,
  { program, bridge, ran, pending = [] }: ProgramOutcome,
  context: SettleDeps,
): ExecutionResult {
  const { ending, logs, usage } = ran;
  const calls = bridge.records();
  const labels = bridge.labels();
  const dryRun = bridge.dryRun();
  const settled = (
    state: ExecutionResult["state"],
    outcome: Pick<ExecutionResult, "value" | "error" | "approvals" | "questions">,
  ): ExecutionResult => {
    const whole = {
      ...emptyResult(execution, state, context),
      ...outcome,
      logs: logs.map((line) => cleanLine(line, context)),
      calls,
      findings: program.findings,
      ...(dryRun && { dryRun }),
      ...(labels.length > 0 && { labels }),
      stats: { ...roundStats(usage), calls: calls.length },
    };
    return hideInExecution(whole, context.hide);
  };
  switch (ending.kind) {
    case "returned":
      return settled("completed", ending.value === undefined ? {} : { value: ending.value });
    case "threw":
      return settled("failed", { error: toProgramError(ending.thrown, { program, bridge }, context) });
    case "failed":
      return settled("failed", { error: toPublicError(ending.error, (thrown) => context.report(thrown)) });
    case "cancelled":
      return settled("cancelled", { error: errorOf("REQUEST_CANCELLED", "The execution was cancelled") });
    case "paused":
      return settled("paused", { approvals: pending.map(({ id }) => id), questions: pending.map(toNotice) });
    default:
      return ending satisfies never;
  }
}

function toNotice({ id, seq, tool, reason, expiresAt }: Approval): NonNullable<ExecutionResult["questions"]>[number] {
  return { approval: id, seq, tool, reason, expiresAt };
}

export function settleRefusal(
  execution: Execution,
  refused: Extract<AnalysisResult, { ok: false }>,
  context: SettleDeps,
): ExecutionResult {
  const { error, findings } = refused;
  return hideInExecution({ ...emptyResult(execution, "failed", context), error, findings }, context.hide);
}

/** The result of an execution that failed outside the sandbox. */
export function settleFailure(execution: Execution, thrown: unknown, context: SettleDeps): ExecutionResult {
  const error = toPublicError(thrown, (fault) => context.report(fault));
  const state = error.code === "REQUEST_CANCELLED" ? "cancelled" : "failed";
  return hideInExecution({ ...emptyResult(execution, state, context), error }, context.hide);
}

/** A result with the fields that every result has. */
export function emptyResult(
  execution: Pick<Execution, "id">,
  state: ExecutionResult["state"],
  context: Pick<SettleDeps, "engine" | "isolation">,
): ExecutionResult {
  const { engine, isolation } = context;
  return { execution: execution.id, state, logs: [], calls: [], findings: [], stats: NO_STATS, engine, isolation };
}

/** An uncaught failure of a tool is reported as the host recorded it; any other error is the program's own. */
function toProgramError(
  thrown: ThrownValue,
  { program, bridge }: Pick<ProgramOutcome, "program" | "bridge">,
  context: SettleDeps,
): PublicError {
  const place = findPlace(thrown, program);
  const failure = thrown.seq === undefined ? undefined : bridge.failureOf(thrown.seq);
  if (failure) return { ...failure, message: cleanMessage(failure.message, context), ...place };
  const claimed = CLAIMABLE.find((code) => code === thrown.code);
  const text = thrown.name === "" || claimed ? thrown.message : `${thrown.name}: ${thrown.message}`;
  const message = cleanMessage(text, context);
  const code = claimed ?? CODES[thrown.kind];
  const hint = claimed && CLAIMED_HINTS[claimed];
  return {
    ...errorOf(code, message === "" ? "The program threw a value without a message" : message),
    ...(hint !== undefined && { hint }),
    ...place,
  };
}

/** Refusals that the guest side makes before a call reaches the host. A program that forges one affects only its own error. */
const CLAIMABLE: readonly ErrorCode[] = ["EGRESS_DENIED", "LIMIT_SIZE", "TOOL_ARGUMENTS_INVALID"];

/** Hints come from the host only: text from a program must not become advice. */
const CLAIMED_HINTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  EGRESS_DENIED: "Call a tool of an upstream instead; an operator can add the API as one",
};

const CODES: Readonly<Record<ThrownValue["kind"], ErrorCode>> = {
  thrown: "PROGRAM_THREW",
  stuck: "PROGRAM_THREW",
  unserializable: "PROGRAM_RESULT_UNSERIALIZABLE",
  syntax: "PROGRAM_SYNTAX",
};

function findPlace(thrown: ThrownValue, program: Program): Pick<PublicError, "line" | "column" | "frame"> {
  const [, line, column] = PROGRAM_FRAME.exec(thrown.stack) ?? [];
  if (line === undefined || column === undefined) return {};
  const place = toAuthorPosition(program, Number(line), Number(column));
  if (!place) return {};
  return { ...place, frame: frameAt(program.source, place.line, place.column) };
}

/** A message may contain text of the program and of upstreams. */
export function cleanMessage(text: string, { hide }: Pick<SettleDeps, "hide">): string {
  return cleanText(text, { maxBytes: MESSAGE_BYTES, paths: true, hide });
}

function errorOf(code: ErrorCode, message: string): PublicError {
  return { code, message, retry: ERRORS[code].retry };
}

/** A log line without terminal escapes, invisible characters and secrets. */
export function cleanLine(line: LogLine, { hide }: Pick<SettleDeps, "hide">): LogLine {
  return { ...line, text: cleanText(line.text, { maxBytes: Number.MAX_SAFE_INTEGER, hide }) };
}

function roundStats(usage: SandboxResult["usage"]): Omit<ExecutionResult["stats"], "calls"> {
  const { queueMs, wallMs, cpuMs, peakMemoryBytes, outputBytes } = usage;
  return { queueMs: toTenths(queueMs), wallMs: toTenths(wallMs), cpuMs: toTenths(cpuMs), peakMemoryBytes, outputBytes };
}

/** Rounds to tenths of a millisecond. */
function toTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Removes secrets from a whole result before it is stored, recorded or returned. Numbers, codes and ids are the host's. */
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

/** The abort reason when an operator cancels an execution. */
export function toCancelReason(by: string): GloveboxError {
  return new GloveboxError("REQUEST_CANCELLED", `The execution was cancelled by ${by}`, {
    hint: "Ask the operator before you run the program again",
  });
}

/** Adds the abort reason to a cancelled result if it is one of ours; text of a client is not repeated. */
export function withCancelReason(result: ExecutionResult, { reason }: AbortSignal): ExecutionResult {
  if (result.state !== "cancelled" || !(reason instanceof GloveboxError)) return result;
  return { ...result, error: describeError(reason) };
}

/** Also marks a dry run that never ran. */
export function markDryRun(
  result: ExecutionResult,
  { dryRun = false }: { readonly dryRun?: boolean },
): ExecutionResult {
  return dryRun ? { ...result, dryRun: result.dryRun ?? { writes: [] } } : result;
}

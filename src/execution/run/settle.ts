/** Turns whatever an execution came to into the one object that clients read. */

import { cleanText } from "../../text/index.ts";
import { frameAt, toAuthorPosition } from "../../analysis/index.ts";
import type { AnalysisResult } from "../../analysis/index.ts";
import type { Bridge } from "../../bridge/index.ts";
import { ERRORS, toPublicError } from "../../domain/index.ts";
import type {
  Approval,
  EngineName,
  ErrorCode,
  Execution,
  ExecutionResult,
  LogLine,
  Program,
  PublicError,
} from "../../domain/index.ts";
import type { ProgramEnding, SandboxResult } from "../../sandbox/index.ts";

import { hideInExecution } from "./hide-in-result.ts";

export interface SettleContext {
  readonly engine: EngineName;
  readonly isolation: ExecutionResult["isolation"];
  /** Keeps the details of an internal fault and returns the incident's id. */
  report(thrown: unknown): string;
  /** Takes known secrets out of a text. */
  readonly hide: (text: string) => string;
}

type ThrownValue = Extract<ProgramEnding, { kind: "threw" }>["thrown"];

interface ProgramOutcome {
  readonly program: Program;
  readonly bridge: Pick<Bridge, "records" | "failureOf" | "labels" | "dryRun">;
  readonly ran: SandboxResult;
  /** What it waited for when it was put away. */
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
/** A program's frames in a stack; it may write what it likes there, so the numbers are checked against its source. */
const PROGRAM_FRAME = /program\.ts:(\d{1,7}):(\d{1,7})/;

export function settleResult(
  execution: Execution,
  { program, bridge, ran, pending = [] }: ProgramOutcome,
  context: SettleContext,
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
  context: SettleContext,
): ExecutionResult {
  const { error, findings } = refused;
  return hideInExecution({ ...emptyResult(execution, "failed", context), error, findings }, context.hide);
}

/** For what broke on the way to the sandbox or after it. */
export function settleFailure(execution: Execution, thrown: unknown, context: SettleContext): ExecutionResult {
  const error = toPublicError(thrown, (fault) => context.report(fault));
  const state = error.code === "REQUEST_CANCELLED" ? "cancelled" : "failed";
  return hideInExecution({ ...emptyResult(execution, state, context), error }, context.hide);
}

/** What every result has, before anything is known. */
export function emptyResult(
  execution: Pick<Execution, "id">,
  state: ExecutionResult["state"],
  context: Pick<SettleContext, "engine" | "isolation">,
): ExecutionResult {
  const { engine, isolation } = context;
  return { execution: execution.id, state, logs: [], calls: [], findings: [], stats: NO_STATS, engine, isolation };
}

/** A tool's failure that nobody caught is reported as the host knows it; anything else is the program's own error. */
function toProgramError(
  thrown: ThrownValue,
  { program, bridge }: Pick<ProgramOutcome, "program" | "bridge">,
  context: SettleContext,
): PublicError {
  const place = findPlace(thrown, program);
  const failure = thrown.seq === undefined ? undefined : bridge.failureOf(thrown.seq);
  if (failure) return { ...failure, message: cleanMessage(failure.message, context), ...place };
  const claimed = CLAIMABLE.find((code) => code === thrown.code);
  const said = thrown.name === "" || claimed ? thrown.message : `${thrown.name}: ${thrown.message}`;
  const message = cleanMessage(said, context);
  const code = claimed ?? CODES[thrown.kind];
  const hint = claimed && CLAIMED_HINTS[claimed];
  return {
    ...errorOf(code, message === "" ? "The program threw something without a message" : message),
    ...(hint !== undefined && { hint }),
    ...place,
  };
}

/** Refusals that the guest side makes itself, before anything reaches the host. A program that forges one fools itself. */
const CLAIMABLE: readonly ErrorCode[] = ["EGRESS_DENIED", "LIMIT_SIZE", "TOOL_ARGUMENTS_INVALID"];

/** The host's own words: what a program says about its errors is not repeated as advice. */
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

/** Names and values of the program are in it, and perhaps an upstream's words. */
export function cleanMessage(text: string, { hide }: Pick<SettleContext, "hide">): string {
  return cleanText(text, { maxBytes: MESSAGE_BYTES, paths: true, hide });
}

function errorOf(code: ErrorCode, message: string): PublicError {
  return { code, message, retry: ERRORS[code].retry };
}

/** A line as it may be shown: terminal escapes, invisible characters and secrets are gone. */
export function cleanLine(line: LogLine, { hide }: Pick<SettleContext, "hide">): LogLine {
  return { ...line, text: cleanText(line.text, { maxBytes: Number.MAX_SAFE_INTEGER, hide }) };
}

function roundStats(usage: SandboxResult["usage"]): Omit<ExecutionResult["stats"], "calls"> {
  const { queueMs, wallMs, cpuMs, peakMemoryBytes, outputBytes } = usage;
  return { queueMs: toTenths(queueMs), wallMs: toTenths(wallMs), cpuMs: toTenths(cpuMs), peakMemoryBytes, outputBytes };
}

/** Finer digits are noise. */
function toTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

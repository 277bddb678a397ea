/** Turns the outcome of an execution into the result object that clients read. */

import { cleanText, redactResult } from "../text/index.ts";
import type { createPathMask } from "../text/index.ts";
import { frameAt, toAuthorPosition } from "../analysis/index.ts";
import type { AnalysisResult } from "../analysis/index.ts";
import type { Bridge } from "../bridge/index.ts";
import { ERRORS, GloveboxError, defined, describeError, toPublicError } from "../domain/index.ts";
import type {
  Approval,
  EngineName,
  ErrorCode,
  Execution,
  ExecutionResult,
  Finding,
  Program,
  PublicError,
} from "../domain/index.ts";
import type { ProgramEnding, SandboxResult } from "../sandbox/index.ts";
import { runAtOnce } from "../timing/index.ts";
import type { SlicedWork } from "../timing/index.ts";

export interface SettleDeps {
  readonly engine: EngineName;
  readonly isolation: ExecutionResult["isolation"];
  /** Logs an internal fault and returns the id of the incident. */
  report(thrown: unknown): string;
  /** Removes known secrets from a string. */
  readonly hide: (text: string) => string;
  /** Masks the paths of the gateway itself in the message of an error. Without it, all paths are masked. */
  readonly maskPaths?: ReturnType<typeof createPathMask>["own"];
}

type ThrownValue = Extract<ProgramEnding, { kind: "threw" }>["thrown"];

interface ProgramOutcome {
  readonly program: Program;
  readonly bridge: Pick<Bridge, "records" | "failureOf" | "labels" | "dryRun"> & Partial<Pick<Bridge, "mismatches">>;
  readonly ran: SandboxResult;
  /** The approvals that a suspended program waits for. */
  readonly pending?: readonly Approval[];
  /** What value the program's error met, in the words of the host. */
  readonly met?: string;
}

const NO_STATS: ExecutionResult["stats"] = {
  queueMs: 0,
  wallMs: 0,
  cpuMs: 0,
  peakMemoryBytes: 0,
  calls: 0,
  outputBytes: 0,
};
/** A stack frame of the program. The program controls this string, so the numbers are checked against its source. */
export const PROGRAM_FRAME = /program\.ts:(\d{1,7}):(\d{1,7})/;

/** In slices, because the value may have megabytes. */
export function settleResult(
  execution: Execution,
  { program, bridge, ran, pending = [], met }: ProgramOutcome,
  context: SettleDeps,
): SlicedWork<ExecutionResult> {
  const { ending, logs } = ran;
  const calls = bridge.records();
  const labels = bridge.labels();
  const settled = (
    state: ExecutionResult["state"],
    outcome: Pick<ExecutionResult, "value" | "error" | "approvals" | "questions">,
    options: Parameters<typeof redactResult>[2] = {},
  ): SlicedWork<ExecutionResult> => {
    const whole = {
      ...emptyResult(execution, state, { ...context, engine: ran.engine }),
      ...outcome,
      logs,
      calls,
      findings: [...program.findings, ...toMismatchFindings(bridge.mismatches?.() ?? [], program.calls)],
      ...defined({ dryRun: bridge.dryRun(), labels: labels.length > 0 ? labels : undefined }),
      stats: { ...roundStats(ran.usage), calls: calls.length },
    };
    return redactResult(whole, context.hide, options);
  };
  switch (ending.kind) {
    case "returned":
      return settled("completed", defined({ value: ending.value }));
    case "threw": {
      const error = toProgramError(ending.thrown, { program, bridge, ...defined({ met }) });
      return settled("failed", { error }, { foreignPaths: context.maskPaths ?? "all" });
    }
    case "failed":
      return settled("failed", { error: toPublicError(ending.error, (thrown) => context.report(thrown)) });
    case "cancelled":
      return settled("cancelled", { error: errorOf("REQUEST_CANCELLED", "The execution was cancelled") });
    case "paused":
      return settled("paused", toQuestions(pending));
    default:
      return ending satisfies never;
  }
}

/** The approvals that an execution waits for, as its result names them. */
export function toQuestions(pending: readonly Approval[]): Required<Pick<ExecutionResult, "approvals" | "questions">> {
  return {
    approvals: pending.map(({ id }) => id),
    questions: pending.map(({ id, seq, tool, reason, expiresAt }) => ({ approval: id, seq, tool, reason, expiresAt })),
  };
}

export function settleRefusal(
  execution: Execution,
  { error, findings }: Extract<AnalysisResult, { ok: false }>,
  context: SettleDeps,
): ExecutionResult {
  return runAtOnce(redactResult({ ...emptyResult(execution, "failed", context), error, findings }, context.hide));
}

/** The result of an execution that failed outside the sandbox. */
export function settleFailure(execution: Pick<Execution, "id">, thrown: unknown, context: SettleDeps): ExecutionResult {
  const error = toPublicError(thrown, (fault) => context.report(fault));
  const state = error.code === "REQUEST_CANCELLED" ? "cancelled" : "failed";
  return runAtOnce(redactResult({ ...emptyResult(execution, state, context), error }, context.hide));
}

/** A result with the fields that every result has. */
export function emptyResult(
  execution: Pick<Execution, "id">,
  state: ExecutionResult["state"],
  { engine, isolation }: Pick<SettleDeps, "engine" | "isolation">,
): ExecutionResult {
  return { execution: execution.id, state, logs: [], calls: [], findings: [], stats: NO_STATS, engine, isolation };
}

/** At the first call of the tool. A server chose the words of its schema, so the message is cleaned and short. */
export function toMismatchFindings(
  mismatches: ReturnType<Bridge["mismatches"]>,
  calls: Program["calls"],
): readonly Finding[] {
  return mismatches.map(({ tool, problem }) => {
    const { line, column } = calls.find(({ address }) => address === tool) ?? { line: 1, column: 1 };
    const text = `${tool} returned a value that does not match its own schema: ${problem}; the value was kept`;
    const message = cleanText(text, { maxBytes: MISMATCH_BYTES }).replaceAll(/[\n\t]/g, " ");
    return { rule: "result-schema", severity: "warn", message, line, column };
  });
}

const MISMATCH_BYTES = 400;

/** An uncaught failure of a tool is reported as the host recorded it; any other error is the program's own. */
function toProgramError(
  thrown: ThrownValue,
  { program, bridge, met }: Pick<ProgramOutcome, "program" | "bridge" | "met">,
): PublicError {
  const place = findPlace(thrown, program);
  const failure = thrown.seq === undefined ? undefined : bridge.failureOf(thrown.seq);
  if (failure) return { ...failure, ...place };
  const claimed = CLAIMABLE.find((code) => code === thrown.code);
  const text = thrown.name === "" || claimed ? thrown.message : `${thrown.name}: ${thrown.message}`;
  const isBlank = cleanText(text, { maxBytes: text.length }) === "";
  return {
    ...errorOf(claimed ?? CODES[thrown.kind], isBlank ? "The program threw a value without a message" : text),
    ...defined({ hint: claimed === "EGRESS_DENIED" ? EGRESS_HINT : met }),
    ...place,
  };
}

/** Refusals that the guest side makes before a call reaches the host. A program that forges one affects only its own error. */
const CLAIMABLE: readonly ErrorCode[] = ["EGRESS_DENIED", "LIMIT_SIZE", "TOOL_ARGUMENTS_INVALID"];

/** Hints come from the host only: text from a program must not become advice. */
const EGRESS_HINT = "Call a tool of an upstream instead; an operator can add the API as one";

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
  return place ? { ...place, frame: frameAt(program.source, place.line, place.column) } : {};
}

function errorOf(code: ErrorCode, message: string): PublicError {
  return { code, message, retry: ERRORS[code].retry };
}

function roundStats(usage: SandboxResult["usage"]): Omit<ExecutionResult["stats"], "calls"> {
  const { queueMs, wallMs, cpuMs, peakMemoryBytes, outputBytes, switches } = usage;
  const ms = { queueMs: toTenths(queueMs), wallMs: toTenths(wallMs), cpuMs: toTenths(cpuMs) };
  return { ...ms, peakMemoryBytes, outputBytes, switches };
}

/** Rounds to tenths of a millisecond. */
export function toTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
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

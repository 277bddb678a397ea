/**
 * Parses what clients send: one schema for MCP, the library and batches, so that a mistake is always a
 * `REQUEST_INVALID` with a remedy, before anything is opened or recorded.
 */

import * as z from "zod";

import type { SearchRequest } from "../catalog/index.ts";
import { parseLimits, parseNetworkPolicy } from "../config/index.ts";
import type { WrittenNetworkPolicy } from "../config/index.ts";
import { DEFAULT_LIMITS, GloveboxError, defined, depthOf, isJsonObject, parseTraceContext } from "../domain/index.ts";
import type { ExecutionEvent, Json, ResultQuery } from "../domain/index.ts";
import { parseRecordingFile } from "../execution/index.ts";
import type { ExecuteInput, KeptExecution } from "../execution/index.ts";

/** Names in one `describe` of MCP. */
export const MAX_NAMES = 50;
/** Tools in one page of `search`. */
export const MAX_PAGE = 50;
const MAX_GREP_CHARS = 1_000;
/** The most that `limits.depth` can be. Deeper JSON is refused right after it was parsed, because later steps recurse. */
export const MOST_DEPTH = 512;
/** The longest delay of a timer. */
const MOST_MS = 2_147_483_647;

const SEARCH = z.strictObject({
  query: z.string().optional(),
  server: z.string().optional(),
  effect: z.enum(["read", "write", "destroy", "unknown"]).optional(),
  limit: z.int().min(1).max(MAX_PAGE).optional(),
  cursor: z.string().optional(),
});

const DESCRIBE = z.strictObject({
  names: z.array(z.string()).min(1).max(MAX_NAMES),
  detail: z.enum(["brief", "types", "full"]).default("types"),
});

/** Adds all calls and statistics to `structuredContent`. */
export type ResultDetail = "full";
const RESULT_DETAIL = z.literal("full").optional();

/** Strict, because an argument that is silently ignored (`dryrun: true`) would be a broken promise. */
const EXECUTE = z.strictObject({
  code: z.string(),
  language: z.enum(["typescript", "javascript"]).optional(),
  input: z.unknown().optional(),
  limits: z.partialRecord(z.enum(Object.keys(DEFAULT_LIMITS)), z.int().min(1)).optional(),
  dryRun: z.boolean().optional(),
  idempotencyKey: z.string().optional(),
  detail: RESULT_DETAIL,
});

const RESUME = z.strictObject({
  execution: z.string().optional(),
  handle: z.string().optional(),
  path: z.string().optional(),
  offset: z.int().min(0).optional(),
  limit: z.int().min(1).optional(),
  grep: z.string().min(1).max(MAX_GREP_CHARS).optional(),
  detail: RESULT_DETAIL,
});

const BATCH_LINE = EXECUTE.pick({ code: true, limits: true }).loose();

const duration = z.number().min(0).max(MOST_MS).optional();
const signal = z.instanceof(AbortSignal).optional();
const LIBRARY_EXECUTE = EXECUTE.omit({ language: true, detail: true })
  .extend({
    networkPolicy: z.custom<WrittenNetworkPolicy>().optional(),
    principal: z.string().optional(),
    session: z.string().optional(),
    signal,
    onEvent: z
      .custom<(event: ExecutionEvent) => void>((raw) => typeof raw === "function", "expected a function")
      .optional(),
    trace: z.unknown().optional(),
  })
  .loose();
const LIBRARY_BEGIN = z.object({ patienceMs: duration });
const LIBRARY_RESUME = z.object({ execution: z.string(), waitMs: duration, signal });
const LIBRARY_DESCRIBE = z.object({ names: z.array(z.string()), detail: DESCRIBE.shape.detail });

/** A request of the library: nothing that only the command line may set, and the network policy as a person writes it. */
export interface LibraryRequest extends Omit<
  ExecuteInput,
  "principal" | "analysis" | "types" | "source" | "networkPolicy"
> {
  readonly code: string;
  /** The name of one of your people, for whom the program runs. Without it the principal is `library`. */
  readonly principal?: string;
  /** Names a conversation: what one has read does not count for the others. By default all are one. */
  readonly session?: string;
  /** Can only tighten `sandbox.networkPolicy`. */
  readonly networkPolicy?: WrittenNetworkPolicy;
}

export function parseSearchArguments(raw: unknown): SearchRequest {
  return defined(parseWith(SEARCH, "search", raw));
}

export function parseDescribeArguments(raw: unknown): z.output<typeof DESCRIBE> {
  return parseWith(DESCRIBE, "describe", raw);
}

/** The language is checked and dropped: TypeScript is a superset. */
export function parseExecuteArguments(raw: unknown): Pick<
  ExecuteInput,
  "source" | "input" | "limits" | "dryRun" | "idempotencyKey"
> & {
  readonly detail?: ResultDetail;
} {
  const { code: source, input, limits, dryRun, idempotencyKey, detail } = parseWith(EXECUTE, "execute", raw);
  // It came out of a JSON parser.
  const json = input as Json | undefined;
  if (json !== undefined) refuseDeep(json);
  return { source, ...defined({ input: json, limits, dryRun, idempotencyKey, detail }) };
}

/** Refuses anything but either an execution to view, or a handle to read from. */
export function parseResumeArguments(
  raw: unknown,
):
  | { readonly execution: string; readonly detail?: ResultDetail }
  | { readonly handle: string; readonly query: ResultQuery } {
  const { execution, handle, detail, ...query } = parseWith(RESUME, "resume", raw);
  if (execution !== undefined && handle === undefined && Object.keys(query).length === 0) {
    return { execution, ...defined({ detail }) };
  }
  if (handle !== undefined && execution === undefined && detail === undefined) return { handle, query: defined(query) };
  throw invalid(
    "resume",
    "pass either an execution or a handle",
    "resume({ execution, detail }) or resume({ handle, path, offset, limit, grep })",
  );
}

export function parseBatchLine(raw: unknown): Pick<ExecuteInput, "source" | "limits"> {
  const { code: source, limits } = parseWith(BATCH_LINE, "a batch line", raw);
  return { source, ...defined({ limits }) };
}

/** A request of a program without a type checker. Returns a copy with `input` as plain JSON. */
export function parseLibraryRequest(
  raw: unknown,
): Omit<ExecuteInput, "principal"> & Pick<LibraryRequest, "session" | "principal"> {
  const parsed = parseWith(LIBRARY_EXECUTE, "execute", parseObject(raw, "execute"));
  const { code: source, limits, dryRun, idempotencyKey, principal, session, signal, onEvent } = parsed;
  const trace = parseTraceContext(parsed.trace);
  const input = parsed.input === undefined ? undefined : parseInput(parsed.input);
  const networkPolicy = parsed.networkPolicy === undefined ? undefined : parseNetworkPolicy(parsed.networkPolicy);
  return {
    source,
    ...defined({ limits, dryRun, idempotencyKey, principal, session, signal, onEvent, trace, input, networkPolicy }),
  };
}

export function parsePatience(raw: unknown): number | undefined {
  return parseWith(LIBRARY_BEGIN, "begin", parseObject(raw, "begin")).patienceMs;
}

export function parseLibraryResume(raw: unknown) {
  const { execution, waitMs, signal } = parseWith(LIBRARY_RESUME, "resume", parseObject(raw, "resume"));
  return { execution, ...defined({ waitMs, signal }) };
}

export function parseLibraryDescribe(raw: unknown): z.output<typeof LIBRARY_DESCRIBE> {
  return parseWith(LIBRARY_DESCRIBE, "describe", parseObject(raw, "describe"));
}

/** An export of an execution as it comes from outside: held to its form, its digest and the ranges of limits. */
export function parseRecording(raw: unknown): KeptExecution {
  const { recording, ...rest } = parseRecordingFile(raw);
  const limits = parseLimits(recording.request.limits);
  return { ...rest, recording: { ...recording, request: { ...recording.request, limits } } };
}

/** Throws with every problem, and with the accepted fields as the hint. */
export function parseWith<Schema extends z.ZodObject>(schema: Schema, what: string, raw: unknown): z.output<Schema> {
  const parsed = schema.safeParse(raw ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    const problem = message.replace(/^Invalid (input|option): /, "");
    return path.length === 0 ? problem : `${path.join(".")}: ${problem}`;
  });
  throw invalid(what, problems.join("; "), `${what} takes ${Object.keys(schema.shape).join(", ")}`);
}

/** `undefined` is an empty object. */
function parseObject(raw: unknown, method: string): object {
  if (raw === undefined) return {};
  if (isJsonObject(raw)) return { ...raw };
  throw invalid(method, "it takes one object", `${method}({ … })`);
}

/** Converts as `JSON.stringify` does, dates to strings, but refuses what that drops or cannot write. */
function parseInput(raw: unknown): Json {
  try {
    const value: Json = JSON.parse(JSON.stringify(raw, refuseForeign));
    refuseDeep(value);
    return value;
  } catch (cause) {
    if (cause instanceof GloveboxError) throw cause;
    throw notJson("it is circular, too deep or not serializable");
  }
}

/** The limit of the request may be lower and is checked when the execution starts. */
function refuseDeep(input: Json): void {
  if (depthOf(input, MOST_DEPTH) <= MOST_DEPTH) return;
  throw invalid("execute", `\`input\` nests deeper than ${MOST_DEPTH} levels`, "Send a flatter value");
}

function refuseForeign(key: string, value: unknown): unknown {
  const kind = typeof value;
  const isForeign = kind === "bigint" || kind === "function" || kind === "symbol";
  const isNumberless = kind === "number" && !Number.isFinite(value);
  const isCollection = value instanceof Map || value instanceof Set;
  if (!isForeign && !isNumberless && !isCollection) return value;
  const what = isCollection ? "a Map or a Set" : isNumberless ? String(value) : `a ${kind}`;
  throw notJson(`${key === "" ? "it" : JSON.stringify(key.slice(0, 60))} is ${what}`);
}

function notJson(why: string): GloveboxError {
  return invalid(
    "execute",
    `\`input\` must be JSON: ${why}`,
    "Use strings, finite numbers, booleans, null, arrays and objects",
  );
}

function invalid(method: string, problem: string, hint: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `Wrong arguments for ${method}: ${problem}`, { hint });
}

/**
 * Parses what clients send to `execute`: one schema for MCP, the library and batches, so that a mistake is always a
 * `REQUEST_INVALID` with a remedy, before anything is opened or recorded.
 */

import * as z from "zod";

import { parseNetworkPolicy } from "../config/index.ts";
import type { WrittenNetworkPolicy } from "../config/index.ts";
import { DEFAULT_LIMITS, GloveboxError, defined, parseTraceContext } from "../domain/index.ts";
import type { ExecutionEvent, Json } from "../domain/index.ts";
import type { ExecuteInput } from "../execution/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";
import type { Gateway } from "./gateway.ts";

/** Strict, because an argument that is silently ignored (`dryrun: true`) would be a broken promise. */
const EXECUTE = z.strictObject({
  code: z.string(),
  language: z.enum(["typescript", "javascript"]).optional(),
  input: z.unknown().optional(),
  limits: z.partialRecord(z.enum(Object.keys(DEFAULT_LIMITS)), z.int().min(1)).optional(),
  dryRun: z.boolean().optional(),
  idempotencyKey: z.string().optional(),
});

const BATCH_LINE = EXECUTE.pick({ code: true, limits: true }).loose();

const LIBRARY = EXECUTE.omit({ language: true })
  .extend({
    networkPolicy: z.custom<WrittenNetworkPolicy>().optional(),
    session: z.string().optional(),
    signal: z.instanceof(AbortSignal).optional(),
    onEvent: z
      .custom<(event: ExecutionEvent) => void>((raw) => typeof raw === "function", "expected a function")
      .optional(),
    trace: z.unknown().optional(),
  })
  .loose();

/** The part of a request that is the same on every surface. */
type ProgramInput = Pick<ExecuteInput, "source" | "input" | "limits" | "dryRun" | "idempotencyKey">;

/** A request of the library: nothing that only the command line may set, and the network policy as a person writes it. */
export interface LibraryRequest extends Omit<
  ExecuteInput,
  "principal" | "analysis" | "types" | "source" | "networkPolicy"
> {
  readonly code: string;
  /** Names a conversation: what one has read does not count for the others. By default all are one. */
  readonly session?: string;
  /** Can only tighten `sandbox.networkPolicy`. */
  readonly networkPolicy?: WrittenNetworkPolicy;
}

/** Arguments of the MCP tool `execute`. The language is checked and dropped: TypeScript is a superset. */
export function parseExecuteArguments(raw: unknown): ProgramInput {
  const { code: source, input, limits, dryRun, idempotencyKey } = parseWith(EXECUTE, "execute", raw);
  // It came out of a JSON parser.
  return { source, ...defined({ input: input as Json | undefined, limits, dryRun, idempotencyKey }) };
}

/** One line of a batch. */
export function parseBatchLine(raw: unknown): Pick<ProgramInput, "source" | "limits"> {
  const { code: source, limits } = parseWith(BATCH_LINE, "a batch line", raw);
  return { source, ...defined({ limits }) };
}

/** A request of a program without a type checker. Returns a copy with `input` as plain JSON. */
export function parseExecuteRequest(raw: unknown): Omit<ExecuteInput, "principal"> & Pick<LibraryRequest, "session"> {
  const { code: source, ...rest } = parseWith(LIBRARY, "execute", parseObject(raw, "execute"));
  const { input, limits, dryRun, idempotencyKey, session, networkPolicy, signal, onEvent, trace } = rest;
  return {
    source,
    ...defined({ limits, dryRun, idempotencyKey, session, signal, onEvent, trace: parseTraceContext(trace) }),
    ...(input !== undefined && { input: parseInput(input) }),
    ...(networkPolicy !== undefined && { networkPolicy: parseNetworkPolicy(networkPolicy) }),
  };
}

/** Throws `REQUEST_INVALID` with every problem, and with the accepted fields as the hint. */
export function parseWith<Schema extends z.ZodObject>(schema: Schema, what: string, raw: unknown): z.output<Schema> {
  const parsed = schema.safeParse(raw ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describeIssue(issue)).join("; ");
  throw new GloveboxError("REQUEST_INVALID", `Wrong arguments for ${what}: ${problems}`, {
    hint: `${what} takes ${Object.keys(schema.shape).join(", ")}`,
  });
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  const problem = message.replace(/^Invalid (input|option): /, "");
  return path.length === 0 ? problem : `${path.join(".")}: ${problem}`;
}

/** Throws `REQUEST_INVALID` without an execution id, or for an invalid time. */
export function parseResumeRequest(raw: unknown): Omit<Parameters<Gateway["view"]>[0], "principal"> {
  const { execution, waitMs, signal } = parseObject(raw, "resume");
  if (typeof execution !== "string") {
    throw invalid("resume", "`execution` must be a string", 'resume({ execution: "ex_…" })');
  }
  return {
    execution,
    ...(waitMs !== undefined && { waitMs: parseMs(waitMs, "resume", "waitMs") }),
    ...(signal !== undefined && { signal: parseSignal(signal, "resume") }),
  };
}

/** Throws `REQUEST_INVALID` for anything but a duration that a timer accepts. */
export function parseMs(raw: unknown, method: string, name: string): number {
  if (typeof raw === "number" && raw >= 0 && raw <= MOST_MS) return raw;
  throw invalid(method, `\`${name}\` must be a number of milliseconds from 0 to ${MOST_MS}`, `${name}: 5000`);
}

/** The longest delay of a timer. */
const MOST_MS = 2_147_483_647;

function parseSignal(raw: unknown, method: string): AbortSignal {
  if (raw instanceof AbortSignal) return raw;
  throw invalid(method, "`signal` must be an AbortSignal", "signal: AbortSignal.timeout(5000)");
}

/** Throws `REQUEST_INVALID` for anything but an array of strings. */
export function parseNames(raw: unknown): readonly string[] {
  if (Array.isArray(raw) && raw.every((name) => typeof name === "string")) return raw;
  throw invalid("describe", "`names` must be an array of strings", 'describe({ names: ["github.listIssues"] })');
}

/** Throws `REQUEST_INVALID` for an unknown level of detail. */
export function parseDetail(raw: unknown): DescribeDetail {
  if (raw === "brief" || raw === "types" || raw === "full") return raw;
  throw invalid("describe", "`detail` must be brief, types or full", 'detail: "full"');
}

/** Throws `REQUEST_INVALID` for anything but an object; `undefined` is an empty one. */
export function parseObject(raw: unknown, method: string): Readonly<Record<string, unknown>> {
  if (raw === undefined) return {};
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) return { ...raw };
  throw invalid(method, "it takes one object", `${method}({ … })`);
}

/** Converts as `JSON.stringify` does, dates to strings, but refuses what that drops or cannot write. */
function parseInput(raw: unknown): Json {
  try {
    const value: Json = JSON.parse(JSON.stringify(raw, refuseForeign));
    return value;
  } catch (cause) {
    const why = cause instanceof ForeignValue ? cause.message : "it is circular, too deep or not serializable";
    throw invalid(
      "execute",
      `\`input\` must be JSON: ${why}`,
      "Use strings, finite numbers, booleans, null, arrays and objects",
    );
  }
}

class ForeignValue extends Error {}

function refuseForeign(key: string, value: unknown): unknown {
  const kind = typeof value;
  const isForeign = kind === "bigint" || kind === "function" || kind === "symbol";
  const isNumberless = kind === "number" && !Number.isFinite(value);
  const isCollection = value instanceof Map || value instanceof Set;
  if (!isForeign && !isNumberless && !isCollection) return value;
  const what = isCollection ? "a Map or a Set" : isNumberless ? String(value) : `a ${kind}`;
  throw new ForeignValue(`${key === "" ? "it" : JSON.stringify(key.slice(0, 60))} is ${what}`);
}

function invalid(method: string, problem: string, example: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `Wrong arguments for ${method}: ${problem}`, { hint: example });
}

/**
 * What programs without a type checker hand to the library: held to its types before anything is opened or recorded,
 * so that a mistake is a `REQUEST_INVALID` with a remedy and never an internal fault.
 */

import { parseNetworkPolicy } from "../config/index.ts";
import type { WrittenNetworkPolicy } from "../config/index.ts";
import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import type { ExecuteRequest, ViewRequest } from "../execution/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";

/** What the library takes of an execution: nothing that only the command line may say. */
interface Taken extends Omit<ExecuteRequest, "principal" | "analysis" | "types"> {
  /** Whose conversation it is: what one reads does not count for the others. Left out, they are all one. */
  readonly session?: string;
}

/** The same with a network policy as a person writes it. */
export interface LibraryRequest extends Omit<Taken, "networkPolicy"> {
  /** Can only tighten `sandbox.networkPolicy`. */
  readonly networkPolicy?: WrittenNetworkPolicy;
}

/** A copy with `input` as plain JSON. Throws `REQUEST_INVALID`. */
export function parseExecuteRequest(raw: unknown): Taken {
  const { code, input, limits, signal, onEvent, idempotencyKey, session, networkPolicy, dryRun, ...others } =
    parseObject(raw, "execute");
  if (typeof code !== "string") throw invalid("execute", "code must be a text", 'execute({ code: "return 1" })');
  if (limits !== undefined && !isJsonObject(limits)) {
    throw invalid("execute", "limits must be an object", "limits: { wallMs: 5000 }");
  }
  if (idempotencyKey !== undefined && typeof idempotencyKey !== "string") {
    throw invalid("execute", "idempotencyKey must be a text", 'idempotencyKey: "order-7"');
  }
  if (session !== undefined && typeof session !== "string") {
    throw invalid("execute", "session must be a text", 'session: "conversation-7"');
  }
  if (dryRun !== undefined && typeof dryRun !== "boolean") {
    throw invalid("execute", "dryRun must be true or false", "dryRun: true");
  }
  return {
    ...others,
    code,
    ...(dryRun !== undefined && { dryRun }),
    ...(session !== undefined && { session }),
    ...(input !== undefined && { input: parseInput(input) }),
    ...(limits !== undefined && { limits }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(networkPolicy !== undefined && { networkPolicy: parseNetworkPolicy(networkPolicy) }),
    ...(signal !== undefined && { signal: parseSignal(signal, "execute") }),
    ...(onEvent !== undefined && { onEvent: parseListener(onEvent) }),
  };
}

/** Throws `REQUEST_INVALID` for what names no execution or waits for no time. */
export function parseResumeRequest(raw: unknown): Omit<ViewRequest, "principal"> {
  const { execution, waitMs, signal } = parseObject(raw, "resume");
  if (typeof execution !== "string") {
    throw invalid("resume", "execution must be a text", 'resume({ execution: "ex_…" })');
  }
  return {
    execution,
    ...(waitMs !== undefined && { waitMs: parseMs(waitMs, "resume", "waitMs") }),
    ...(signal !== undefined && { signal: parseSignal(signal, "resume") }),
  };
}

/** Throws `REQUEST_INVALID` for what is no time that can be waited for. */
export function parseMs(raw: unknown, method: string, name: string): number {
  if (typeof raw === "number" && raw >= 0 && raw <= MOST_MS) return raw;
  throw invalid(method, `${name} must be a number of milliseconds from 0 to ${MOST_MS}`, `${name}: 5000`);
}

/** The longest that a timer of the platform takes. */
const MOST_MS = 2_147_483_647;

function parseSignal(raw: unknown, method: string): AbortSignal {
  if (raw instanceof AbortSignal) return raw;
  throw invalid(method, "signal must be an AbortSignal", "signal: AbortSignal.timeout(5000)");
}

/** Throws `REQUEST_INVALID` for anything that is no list of texts. */
export function parseNames(raw: unknown): readonly string[] {
  if (Array.isArray(raw) && raw.every((name) => typeof name === "string")) return raw;
  throw invalid("describe", "names must be a list of texts", 'describe({ names: ["github.listIssues"] })');
}

/** Throws `REQUEST_INVALID` for what is no level of detail. */
export function parseDetail(raw: unknown): DescribeDetail {
  if (raw === "brief" || raw === "types" || raw === "full") return raw;
  throw invalid("describe", "detail must be brief, types or full", 'detail: "full"');
}

/** Throws `REQUEST_INVALID` for anything that is no object; nothing at all is an empty one. */
export function parseObject(raw: unknown, method: string): Readonly<Record<string, unknown>> {
  if (raw === undefined) return {};
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) return { ...raw };
  throw invalid(method, "it takes one object", `${method}({ … })`);
}

function parseListener(raw: unknown): NonNullable<ExecuteRequest["onEvent"]> {
  if (typeof raw === "function") return raw as NonNullable<ExecuteRequest["onEvent"]>;
  throw invalid("execute", "onEvent must be a function", "onEvent: (event) => { … }");
}

/** As `JSON.stringify` writes it, dates as texts; but what that drops or cannot write is refused. */
function parseInput(raw: unknown): Json {
  try {
    return JSON.parse(JSON.stringify(raw, refuseForeign)) as Json;
  } catch (cause) {
    const why = cause instanceof ForeignValue ? cause.message : "it is circular, too deep or cannot be written";
    throw invalid("execute", `input must be JSON: ${why}`, "Texts, finite numbers, booleans, null, lists and objects");
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

/** Turns a client's raw tool arguments into typed requests, or says in plain words what is wrong with them. */

import * as z from "zod";

import type { SearchRequest } from "../../catalog/index.ts";
import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { Json, Limits, ResultQuery } from "../../domain/index.ts";
import type { DescribeDetail } from "../../typegen/index.ts";
import { MAX_NAMES, MAX_PAGE } from "./definitions.ts";

const MAX_GREP_CHARS = 1_000;
const MAX_KEY_CHARS = 256;

/** Names with a level of detail. */
export interface DescribeArguments {
  readonly names: readonly string[];
  readonly detail: DescribeDetail;
}

/** A program with what it is given; the language is checked and then dropped, TypeScript being a superset. */
export interface ExecuteArguments {
  readonly code: string;
  readonly input?: Json;
  readonly limits?: Partial<Limits>;
  readonly dryRun?: boolean;
  readonly idempotencyKey?: string;
}

/** Either an execution to wait for, or a handle to read from. */
export type ResumeArguments =
  | { readonly kind: "execution"; readonly execution: string }
  | { readonly kind: "handle"; readonly handle: string; readonly query: ResultQuery };

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

/** Strict, because an argument that is silently ignored (`dryrun: true`) would be a promise that nobody keeps. */
const EXECUTE = z.strictObject({
  code: z.string(),
  language: z.enum(["typescript", "javascript"]).optional(),
  input: z.unknown().optional(),
  limits: z.partialRecord(z.enum(Object.keys(DEFAULT_LIMITS)), z.int().min(1)).optional(),
  dryRun: z.boolean().optional(),
  idempotencyKey: z.string().min(1).max(MAX_KEY_CHARS).optional(),
});

const RESUME = z.strictObject({
  execution: z.string().optional(),
  handle: z.string().optional(),
  path: z.string().optional(),
  offset: z.int().min(0).optional(),
  limit: z.int().min(1).optional(),
  grep: z.string().min(1).max(MAX_GREP_CHARS).optional(),
});

/** Throws `REQUEST_INVALID` for anything that the definition of `search` does not allow. */
export function parseSearchArguments(raw: unknown): SearchRequest {
  return parseWith(SEARCH, "search", raw) as SearchRequest;
}

/** Throws `REQUEST_INVALID` for anything that the definition of `describe` does not allow. */
export function parseDescribeArguments(raw: unknown): DescribeArguments {
  return parseWith(DESCRIBE, "describe", raw);
}

/** Throws `REQUEST_INVALID` for anything that the definition of `execute` does not allow. */
export function parseExecuteArguments(raw: unknown): ExecuteArguments {
  const { code, input, limits, dryRun, idempotencyKey } = parseWith(EXECUTE, "execute", raw);
  return {
    code,
    ...(input !== undefined && { input: input as Json }), // it came out of a JSON parser
    ...(limits !== undefined && { limits }),
    ...(dryRun !== undefined && { dryRun }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

/** Throws `REQUEST_INVALID` unless exactly one of `execution` and `handle` is there, and what goes with it. */
export function parseResumeArguments(raw: unknown): ResumeArguments {
  const { execution, handle, ...query } = parseWith(RESUME, "resume", raw);
  if (execution !== undefined && handle === undefined && Object.keys(query).length === 0) {
    return { kind: "execution", execution };
  }
  if (handle !== undefined && execution === undefined) return { kind: "handle", handle, query: query as ResultQuery };
  throw new GloveboxError("REQUEST_INVALID", "Wrong arguments for resume: it takes an execution or a handle", {
    hint: "resume({ execution }) or resume({ handle, path, offset, limit, grep })",
  });
}

function parseWith<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape, z.core.$strict>,
  tool: string,
  raw: unknown,
): z.output<z.ZodObject<Shape, z.core.$strict>> {
  const parsed = schema.safeParse(raw ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describeIssue(issue)).join("; ");
  throw new GloveboxError("REQUEST_INVALID", `Wrong arguments for ${tool}: ${problems}`, {
    hint: `${tool} takes ${Object.keys(schema.shape).join(", ")}`,
  });
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  const what = message.replace(/^Invalid (input|option): /, "");
  return path.length === 0 ? what : `${path.join(".")}: ${what}`;
}

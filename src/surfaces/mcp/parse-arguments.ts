/** Turns a client's raw tool arguments into typed requests, or says in plain words what is wrong with them. */

import * as z from "zod";

import type { SearchRequest } from "../../catalog/index.ts";
import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { Json, Limits } from "../../domain/index.ts";
import type { Detail } from "../../typegen/index.ts";
import { MAX_NAMES, MAX_PAGE } from "./definitions.ts";

/** Names with a level of detail. */
export interface DescribeArguments {
  readonly names: readonly string[];
  readonly detail: Detail;
}

/** A program with what it is given; the language is checked and then dropped, TypeScript being a superset. */
export interface ExecuteArguments {
  readonly code: string;
  readonly input?: Json;
  readonly limits?: Partial<Limits>;
}

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

/** Strict, because an argument that is silently ignored (`dryRun: true`) would be a promise that nobody keeps. */
const EXECUTE = z.strictObject({
  code: z.string(),
  language: z.enum(["typescript", "javascript"]).optional(),
  input: z.unknown().optional(),
  limits: z.partialRecord(z.enum(Object.keys(DEFAULT_LIMITS)), z.int().min(1)).optional(),
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
  const { code, input, limits } = parseWith(EXECUTE, "execute", raw);
  return {
    code,
    ...(input !== undefined && { input: input as Json }), // it came out of a JSON parser
    ...(limits !== undefined && { limits }),
  };
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

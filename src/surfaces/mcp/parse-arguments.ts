/** Parses the arguments of the MCP tools search, describe and resume. */

import * as z from "zod";

import type { SearchRequest } from "../../catalog/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type { ResultQuery } from "../../domain/index.ts";
import type { DescribeDetail } from "../../typegen/index.ts";
import { parseWith } from "../parse-request.ts";
import { MAX_NAMES, MAX_PAGE } from "./definitions.ts";

const MAX_GREP_CHARS = 1_000;

/** Names with a level of detail. */
export interface DescribeArguments {
  readonly names: readonly string[];
  readonly detail: DescribeDetail;
}

/** An execution to view, or a handle to read from. */
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
  return defined(parseWith(SEARCH, "search", raw));
}

/** Throws `REQUEST_INVALID` for anything that the definition of `describe` does not allow. */
export function parseDescribeArguments(raw: unknown): DescribeArguments {
  return parseWith(DESCRIBE, "describe", raw);
}

/** Throws `REQUEST_INVALID` unless there is either an `execution`, or a `handle` with its query. */
export function parseResumeArguments(raw: unknown): ResumeArguments {
  const { execution, handle, ...query } = parseWith(RESUME, "resume", raw);
  if (execution !== undefined && handle === undefined && Object.keys(query).length === 0) {
    return { kind: "execution", execution };
  }
  if (handle !== undefined && execution === undefined) return { kind: "handle", handle, query: defined(query) };
  throw new GloveboxError("REQUEST_INVALID", "Wrong arguments for resume: pass either an execution or a handle", {
    hint: "resume({ execution }) or resume({ handle, path, offset, limit, grep })",
  });
}

/** Parses HTTP input, with an error that names every problem. */

import * as z from "zod";

import { GloveboxError } from "../../domain/index.ts";

/** A query parameter: an integer from 1 to `most`. */
export function wholeNumber({ most, usual }: { readonly most: number; readonly usual: number }) {
  return z
    .string()
    .regex(/^\d{1,4}$/, "must be an integer")
    .transform(Number)
    .pipe(z.int().min(1).max(most))
    .default(usual);
}

/** Throws `REQUEST_INVALID` with every problem. */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  part: "query" | "body",
): z.output<Schema> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(": ")).join("; ");
  throw new GloveboxError("REQUEST_INVALID", `Wrong ${part}: ${problems}`, {
    hint: "The contract of the admin API lists the parameters of each address",
  });
}

/** Turns what came in over HTTP into values, or says what is wrong with it. */

import * as z from "zod";

import { GloveboxError } from "../../domain/index.ts";

/** For a query: a whole number from 1 to `most`. */
export function wholeNumber({ most, usual }: { readonly most: number; readonly usual: number }) {
  return z
    .string()
    .regex(/^\d{1,4}$/, "must be a whole number")
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
    hint: "The admin API's contract lists what each address takes",
  });
}

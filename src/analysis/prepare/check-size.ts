/** The first check of a source: is it small and flat enough to parse safely? */

import { GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { measureNesting } from "./measure-nesting.ts";
import type { Nesting } from "./measure-nesting.ts";
import { refuse } from "../refuse.ts";

/** The limit on nested brackets and operators. Parsers recurse, and the best give up at about a thousand. */
export const MAX_DEPTH = 200;

/**
 * Names, numbers, strings and signs. The time of analysis grows with tokens, not bytes: this many take at most a tenth of
 * a second, in which the gateway does nothing else. A program of two thousand lines has about two thirds of this.
 */
export const MAX_TOKENS = 30_000;

/** Throws LIMIT_SIZE above the limit and PROGRAM_SYNTAX for nesting that is too deep for parsers. */
export function checkSize(source: string, limits: Pick<Limits, "sourceBytes">): Nesting {
  // A UTF-16 unit takes at least one byte, so an oversized source is refused without encoding it.
  const bytes = source.length > limits.sourceBytes ? source.length : Buffer.byteLength(source, "utf8");
  if (bytes > limits.sourceBytes) {
    throw new GloveboxError("LIMIT_SIZE", `The source is larger than ${limits.sourceBytes} bytes`, {
      hint: "Send a shorter program; give it data as input or let it fetch the data with a tool",
    });
  }
  const nesting = measureNesting(source, MAX_DEPTH, MAX_TOKENS);
  if (nesting.tokens > MAX_TOKENS) {
    throw new GloveboxError("LIMIT_SIZE", `The source has more than ${MAX_TOKENS} names, numbers, strings and signs`, {
      hint: "Give data as input, as one JSON string, or let the program fetch it with a tool",
    });
  }
  if (nesting.depth <= MAX_DEPTH) return nesting;
  throw refuse("PROGRAM_SYNTAX", source, {
    message: `Nested more than ${MAX_DEPTH} levels deep`,
    offset: nesting.offset,
    hint: "Split the expression into several statements",
  });
}

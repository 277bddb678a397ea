/** The first look at a source: is it small and flat enough that reading it cannot hurt? */

import { GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { measureNesting } from "./measure-nesting.ts";
import type { Nesting } from "./measure-nesting.ts";
import { refuse } from "../refuse.ts";

/** Brackets and operators may nest this deep. Parsers recurse, and the best of them give up at about a thousand. */
export const MAX_DEPTH = 200;

/**
 * Names, numbers, strings and signs. What analysis costs grows with them, not with bytes: this many take less than a tenth of
 * a second at worst, and the gateway does nothing else meanwhile. A program of two thousand lines has about two thirds of that.
 */
export const MAX_TOKENS = 30_000;

/** Throws LIMIT_SIZE above the limit, PROGRAM_SYNTAX for nesting that no parser should be given. */
export function checkSize(source: string, limits: Pick<Limits, "sourceBytes">): Nesting {
  // A UTF-16 unit takes at least one byte, so an oversized text need not be encoded to be refused.
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

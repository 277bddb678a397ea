/**
 * Removes values that were lent to programs from what hosts answer. A host that got a value may return it, at once or to
 * a later program, so every answer to every program is searched, in more encodings than other text.
 */

import { setImmediate } from "node:timers/promises";

import type { Hide } from "../mask.ts";
import { findDisguised, toNeedles } from "./find-disguised.ts";
import type { Needles, Run } from "./find-disguised.ts";
import { addJoined } from "./needle-index.ts";

const SHOWN = "[secret]";
/** A list of numbers remains a list of numbers. */
const SHOWN_AS: Readonly<Record<Run["kind"], Buffer>> = {
  text: Buffer.from(SHOWN),
  list: Buffer.from(Buffer.from(SHOWN).join(",")),
};
/** Bytes that are searched without yielding to the event loop; more if slices overlap by more. */
const SLICE = 128 * 1024;
/** Slices overlap by the longest encoding of a secret, and at least by this. */
const LEAST_OVERLAP = 16 * 1024;
/** The longest encoding of one byte: escaped twice. */
const LONGEST_BYTE = 12;

/** Never forgets. */
export interface AnswerMask {
  readonly add: (secret: string) => void;
  /** For short text, which is searched at once. */
  readonly hideText: Hide;
  /** Returns the same bytes when there is nothing to hide. Searches long ones in slices. */
  readonly hideBytes: (bytes: Uint8Array) => Promise<Uint8Array>;
}

/** Finds each secret as it is, reversed and in any letter case, in every encoding of `findDisguised`. */
export function createAnswerMask(): AnswerMask {
  const known = new Set<string>();
  let needles: Needles = toNeedles(known);
  return {
    add(secret) {
      if (known.has(secret)) return;
      known.add(secret);
      needles = toNeedles(known);
    },
    hideText: (text) => {
      if (known.size === 0) return text;
      const bytes = Buffer.from(text);
      const runs = findDisguised(bytes, needles);
      return runs.length === 0 ? text : replaceRuns(bytes, runs).toString();
    },
    hideBytes: async (given) => {
      if (known.size === 0) return given;
      const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
      const runs = await findInSlices(bytes, needles);
      return runs.length === 0 ? given : replaceRuns(bytes, runs);
    },
  };
}

async function findInSlices(bytes: Buffer, needles: Needles): Promise<readonly Run[]> {
  const overlap = Math.max(LEAST_OVERLAP, needles.plain.longest * LONGEST_BYTE);
  const size = Math.max(SLICE, overlap);
  const runs: Run[] = [];
  for (let from = 0; from < bytes.length; from += size) {
    if (from > 0) await setImmediate();
    const slice = bytes.subarray(from, from + size + overlap);
    for (const { start, end, kind } of findDisguised(slice, needles)) {
      runs.push({ start: start + from, end: end + from, kind });
    }
  }
  return runs;
}

function replaceRuns(bytes: Buffer, runs: readonly Run[]): Buffer {
  const joined: Run[] = [];
  for (const run of runs.toSorted((a, b) => a.start - b.start || b.end - a.end)) addJoined(joined, run);
  const parts: Buffer[] = [];
  let done = 0;
  for (const { start, end, kind } of joined) {
    parts.push(bytes.subarray(done, start), SHOWN_AS[kind]);
    done = end;
  }
  return Buffer.concat([...parts, bytes.subarray(done)]);
}

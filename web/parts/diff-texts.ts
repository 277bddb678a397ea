/** Compares texts. Loaded with the first difference that is shown. */

import { presentableDiff } from "@codemirror/merge";

/** One line of two versions. */
export interface LineChange {
  readonly kind: "same" | "gone" | "come";
  readonly text: string;
}

/** Bounds the time of a comparison; a coarser difference is shown then. */
const CONFIG = { scanLimit: 2_000, timeout: 100 };
/** Each different line is one character of a text that is compared. */
const FIRST_CODE = 0xe000;
const MAX_LINES = 6_000;

export type DiffTexts = typeof diffTexts;

export const diffTexts = {
  /** The ranges that differ, widened to words where that reads better. */
  changes: (before: string, after: string) => presentableDiff(before, after, CONFIG),
  /** Lines above a limit are not compared: they are all shown as changed. */
  lines(before: string, after: string): readonly LineChange[] {
    const [old, fresh] = [before.split("\n"), after.split("\n")];
    const codes = new Map<string, string>();
    const encode = (lines: readonly string[]): string =>
      lines
        .map((line) => {
          const code = codes.get(line) ?? String.fromCharCode(FIRST_CODE + codes.size);
          codes.set(line, code);
          return code;
        })
        .join("");
    const isLong = old.length + fresh.length > MAX_LINES;
    const whole = [{ fromA: 0, toA: old.length, fromB: 0, toB: fresh.length }];
    const changes = isLong ? whole : presentableDiff(encode(old), encode(fresh), CONFIG);
    const lines: LineChange[] = [];
    let at = 0;
    const keep = (until: number): void =>
      void lines.push(...old.slice(at, until).map((text) => ({ kind: "same" as const, text })));
    for (const { fromA, toA, fromB, toB } of changes) {
      keep(fromA);
      lines.push(...old.slice(fromA, toA).map((text) => ({ kind: "gone" as const, text })));
      lines.push(...fresh.slice(fromB, toB).map((text) => ({ kind: "come" as const, text })));
      at = toA;
    }
    keep(old.length);
    return lines;
  },
};

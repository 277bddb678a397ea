/** A plain comparison of two texts: lines that only one of them has are marked, in order. */

/** Longer texts are shown as removed and added, which is never wrong. */
const MOST_CELLS = 4_000_000;

/** With `around`, only so many unchanged lines around each change: then large files that differ little take little time. */
export function compareLines(before: string, now: string, around?: number): readonly string[] {
  return around === undefined ? compareAll(before, now) : compareChanges(before, now, around);
}

function compareChanges(before: string, now: string, around: number): readonly string[] {
  const [old, fresh] = [before.split("\n"), now.split("\n")];
  const same = (index: number, from: number): boolean => old.at(index * from) === fresh.at(index * from);
  const least = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < least && same(start, 1)) start += 1;
  let end = 1;
  while (end <= least - start && same(end, -1)) end += 1;
  const from = Math.max(0, start - around);
  const cut = (lines: readonly string[]): string => lines.slice(from, lines.length - end + 1 + around).join("\n");
  const lines = compareAll(cut(old), cut(fresh));
  const isShown = (at: number): boolean =>
    lines.slice(Math.max(0, at - around), at + around + 1).some((line) => !line.startsWith("  "));
  return lines.filter((_, at) => isShown(at));
}

function compareAll(before: string, now: string): readonly string[] {
  const [old, fresh] = [toLines(before), toLines(now)];
  const same = old.length * fresh.length > MOST_CELLS ? [] : findCommon(old, fresh);
  const lines: string[] = [];
  let [at, next] = [0, 0];
  const until = (oldEnd: number, freshEnd: number): void => {
    for (; at < oldEnd; at += 1) lines.push(`- ${old[at] ?? ""}`);
    for (; next < freshEnd; next += 1) lines.push(`+ ${fresh[next] ?? ""}`);
  };
  for (const [oldAt, freshAt] of same) {
    until(oldAt, freshAt);
    lines.push(`  ${old[oldAt] ?? ""}`);
    [at, next] = [oldAt + 1, freshAt + 1];
  }
  until(old.length, fresh.length);
  return lines;
}

function toLines(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** The longest common subsequence, as pairs of indexes. */
function findCommon(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = fresh.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        old[row] === fresh[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let row = 0, column = 0; row < old.length && column < fresh.length;) {
    if (old[row] === fresh[column]) {
      pairs.push([row, column]);
      row += 1;
      column += 1;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

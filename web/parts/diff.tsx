/** Differences of texts, never as markup. What computes them is loaded with the first one. */

import { useEffect, useState } from "preact/hooks";

import type { DiffTexts, LineChange } from "./diff-texts.ts";
import { Visible } from "./text.tsx";

/** A range of characters that stands out, with its reason. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly why: string;
}

interface TextDiffProps {
  readonly before: string | null;
  readonly after: string | null;
  /** In `after`. */
  readonly marks?: readonly Mark[];
}

/** Two versions of one text: what was taken away and what was added in it. */
export function TextDiff({ before, after, marks = [] }: TextDiffProps) {
  const compare = useDiff();
  const changes = compare && before !== null && after !== null ? compare.changes(before, after) : undefined;
  const gone = changes?.map(({ fromA, toA }) => ({ start: fromA, end: toA, why: "" }));
  const come = changes?.map(({ fromB, toB }) => ({ start: fromB, end: toB, why: "" }));
  return (
    <>
      {before !== null && (
        <div class="dl d">
          <span>
            <span class="vh">before: </span>
            <Pieces text={before} changed={gone ?? []} marks={[]} tag="del" />
          </span>
        </div>
      )}
      {after !== null && (
        <div class="dl a">
          <span>
            <span class="vh">after: </span>
            <Pieces text={after} changed={come ?? []} marks={marks} tag="ins" />
          </span>
        </div>
      )}
    </>
  );
}

interface PiecesProps {
  readonly text: string;
  readonly changed: readonly Mark[];
  readonly marks: readonly Mark[];
  readonly tag: "ins" | "del";
}

function Pieces({ text, changed, marks, tag: Tag }: PiecesProps) {
  const cuts = [0, text.length, ...[...changed, ...marks].flatMap(({ start, end }) => [start, end])];
  const places = [...new Set(cuts)].filter((at) => at <= text.length).toSorted((a, b) => a - b);
  const covers =
    (from: number) =>
    ({ start, end }: Mark): boolean =>
      start <= from && from < end;
  return (
    <>
      {places.slice(0, -1).map((from, index) => {
        const part = <Visible text={text.slice(from, places[index + 1])} />;
        const mark = marks.find(covers(from));
        const shown = mark ? (
          <mark class="sus" title={mark.why}>
            {part}
          </mark>
        ) : (
          part
        );
        return changed.some(covers(from)) ? <Tag key={from}>{shown}</Tag> : <span key={from}>{shown}</span>;
      })}
    </>
  );
}

/** Lines around a change that are shown. */
const CONTEXT = 3;

/** Two versions of a text of many lines. Equal lines far from a change are folded. */
export function LineDiff({ before, after, label }: { readonly before: string; readonly after: string; label: string }) {
  const compare = useDiff();
  const lines = compare?.lines(before, after) ?? [];
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== "same");
  const shown = lines.map((line, index) => ({ ...line, isShown: isNear(index) }));
  if (compare && !lines.some(({ kind }) => kind !== "same")) return <p class="muted small">No difference.</p>;
  return (
    <div class="diff" tabIndex={0} role="region" aria-label={label}>
      {shown.map((line, index) => {
        if (line.isShown) return <Line key={index} line={line} />;
        if (index > 0 && shown[index - 1]?.isShown === false) return null;
        const next = shown.findIndex(({ isShown }, at) => at > index && isShown);
        return (
          <div key={index} class="gap">
            {countEqual((next < 0 ? shown.length : next) - index)}
          </div>
        );
      })}
    </div>
  );
}

function countEqual(count: number): string {
  return count === 1 ? "1 equal line" : `${count} equal lines`;
}

const LINE_CLASSES: Readonly<Record<LineChange["kind"], string>> = { same: "dl", gone: "dl d", come: "dl a" };

function Line({ line: { kind, text } }: { readonly line: LineChange }) {
  return (
    <div class={LINE_CLASSES[kind]}>
      <span>
        <Visible text={text} />
      </span>
    </div>
  );
}

function useDiff(): DiffTexts | undefined {
  const [loaded, setLoaded] = useState<DiffTexts>();
  useEffect(() => void import("./diff-texts.ts").then(({ diffTexts }) => setLoaded(() => diffTexts)), []);
  return loaded;
}

/** A program to read: lines with numbers, marked calls, and findings below their line. Never markup. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { ReadProgram, Span } from "./highlight.ts";
import { Visible } from "./text.tsx";

/** A call of the program that was made. */
interface MadeCall {
  readonly seq: number;
  readonly tool: string;
}

interface Finding {
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

interface CodeProps {
  readonly source: string;
  /** Lines of the call in question. */
  readonly hits?: readonly number[];
  readonly findings?: readonly Finding[];
  /** The line of an error. */
  readonly errorLine?: number | undefined;
  /** Shown in the margin of the lines that call their tools. */
  readonly calls?: readonly MadeCall[];
  readonly selectedCall?: number | undefined;
  readonly onSelect?: (seq: number) => void;
}

/** Above it, lines that are not in view are not laid out. */
const MANY_LINES = 500;
/** A longer program is shown by its beginning, and whole on request. */
const FIRST_LINES = 1_000;

/** For the line below a program. */
export function countLines(source: string): string {
  const lines = source.replace(/\n+$/, "").split("\n").length;
  if (lines > FIRST_LINES) return `${lines} lines`;
  return lines === 1 ? "1 line, shown in full" : `${lines} lines, shown in full`;
}

export function Code(props: CodeProps) {
  const { source, hits = [], findings = [], errorLine, calls = [], selectedCall, onSelect } = props;
  const code = source.replace(/\n+$/, "");
  const { lines, places } = useProgram(code, [...new Set(calls.map(({ tool }) => tool))]);
  const byLine = placeCalls(calls, places);
  const scroll = useRef<HTMLDivElement>(null);
  const [isWhole, setWhole] = useState(false);
  const target = hits[0] ?? errorLine ?? [...byLine].find(([, seqs]) => includes(seqs, selectedCall))?.[0];
  useEffect(() => showLine(scroll.current, target), [target, lines]);
  const isAll = isWhole || lines.length <= FIRST_LINES || (target ?? 0) > FIRST_LINES;
  const shown = isAll ? lines : lines.slice(0, FIRST_LINES);
  return (
    <div
      class={lines.length > MANY_LINES ? "code long" : "code"}
      tabIndex={0}
      role="region"
      aria-label="Program"
      ref={scroll}
    >
      <ol>
        {shown.map((spans, index) => {
          const number = index + 1;
          const seqs = byLine.get(number) ?? [];
          const isHit = hits.includes(number);
          const mark = number === errorLine ? "err" : isHit ? "hit" : includes(seqs, selectedCall) ? "sel" : "";
          return (
            <li key={number} class={seqs.length > 0 ? `${mark} past` : mark} data-line={number}>
              <span class="g">
                {isHit && <span class="vh">The call in question</span>}
                {seqs.length > 0 && <Margin seqs={seqs} onSelect={onSelect} />}
              </span>
              <span class="ln">{number}</span>
              <span>
                <Spans spans={spans} />
                <Findings findings={findings.filter(({ line }) => line === number)} />
              </span>
            </li>
          );
        })}
      </ol>
      {!isAll && (
        <p class="more-lines">
          The first {FIRST_LINES} of {lines.length} lines are shown.{" "}
          <button class="btn small" type="button" onClick={() => setWhole(true)}>
            Show all
          </button>
        </p>
      )}
    </div>
  );
}

function Spans({ spans }: { readonly spans: readonly Span[] }) {
  return (
    <>
      {spans.map(({ text, classes }, at) =>
        classes === "" ? (
          <Visible key={at} text={text} />
        ) : (
          <span key={at} class={classes}>
            <Visible text={text} />
          </span>
        ),
      )}
    </>
  );
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <>
      {findings.map(({ rule, message }) => (
        <span key={rule} class="finding">
          <b>{rule}</b> <Visible text={message} />
        </span>
      ))}
    </>
  );
}

interface MarginProps {
  readonly seqs: readonly number[];
  readonly onSelect: CodeProps["onSelect"];
}

/** The numbers of the calls that a line made, or may have made. */
function Margin({ seqs, onSelect }: MarginProps) {
  const [first = 0] = seqs;
  const last = seqs.at(-1) ?? first;
  const isRange = seqs.length > 1 && last - first === seqs.length - 1;
  const text = seqs.length === 1 ? String(first) : isRange ? `${first}–${last}` : `${first}…`;
  const title = `call ${seqs.slice(0, 20).join(", ")}`;
  if (!onSelect) return <span title={title}>{text}</span>;
  return (
    <button class="row-link" type="button" title={title} onClick={() => onSelect(first)}>
      <span class="vh">call </span>
      {text}
    </button>
  );
}

function includes(seqs: readonly number[], seq: number | undefined): boolean {
  return seq !== undefined && seqs.includes(seq);
}

function placeCalls(calls: readonly MadeCall[], places: ReadProgram["places"]): ReadonlyMap<number, readonly number[]> {
  const byLine = new Map<number, number[]>();
  for (const { seq, tool } of calls)
    for (const line of places.get(tool) ?? []) byLine.set(line, [...(byLine.get(line) ?? []), seq]);
  return byLine;
}

/** Scrolls inside a program that is higher than its place, never the page. */
function showLine(scroll: HTMLElement | null, line: number | undefined): void {
  if (!scroll || line === undefined || scroll.scrollHeight <= scroll.clientHeight) return;
  const row = scroll.querySelector(`[data-line="${line}"]`);
  if (!(row instanceof HTMLElement)) return;
  const top = row.offsetTop - scroll.offsetTop;
  const isShown = top >= scroll.scrollTop && top + row.offsetHeight <= scroll.scrollTop + scroll.clientHeight;
  if (!isShown) scroll.scrollTop = Math.max(0, top - scroll.clientHeight / 3);
}

/** Without colors and places until the parser is there. */
function useProgram(code: string, tools: readonly string[]): Required<ReadProgram> {
  const [read, setRead] = useState<{ readonly key: string; readonly program: ReadProgram }>();
  const key = `${tools.join(" ")}\n${code}`;
  useEffect(() => {
    let isCurrent = true;
    void import("./highlight.ts").then(
      ({ readProgram }) => isCurrent && setRead({ key, program: readProgram(code, tools) }),
    );
    return () => void (isCurrent = false);
  }, [key]);
  const program = read?.key === key ? read.program : undefined;
  const plain = () => code.split("\n").map((text) => [{ text, classes: "" }]);
  return { lines: program?.lines ?? plain(), places: program?.places ?? new Map() };
}

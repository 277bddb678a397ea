/** A program to read: lines with numbers, marked calls, and findings below their line. Never markup. */

import { useEffect, useState } from "preact/hooks";

import type { Span } from "./highlight.ts";
import { Visible } from "./text.tsx";

interface CodeProps {
  readonly source: string;
  /** Lines of the call in question. */
  readonly hits?: readonly number[];
  readonly findings?: readonly { readonly line: number; readonly rule: string; readonly message: string }[];
  /** The line of an error. */
  readonly errorLine?: number | undefined;
}

/** A longer program is shown without colors. */
const MAX_COLORED_CHARS = 100_000;

export function Code({ source, hits = [], findings = [], errorLine }: CodeProps) {
  const lines = useLines(source.replace(/\n+$/, ""));
  return (
    <div class="code" tabIndex={0} role="region" aria-label="Program">
      <ol>
        {lines.map((spans, index) => {
          const number = index + 1;
          const tone = number === errorLine ? "err" : hits.includes(number) ? "hit" : "";
          return (
            <li key={number} class={tone}>
              <span class="g">{tone === "hit" && <span class="vh">The call in question</span>}</span>
              <span class="ln">{number}</span>
              <span>
                {spans.map(({ text, classes }, at) => (
                  <span key={at} class={classes}>
                    <Visible text={text} />
                  </span>
                ))}
                {findings
                  .filter(({ line }) => line === number)
                  .map(({ rule, message }) => (
                    <span key={rule} class="finding">
                      <b>{rule}</b> <Visible text={message} />
                    </span>
                  ))}
              </span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Without colors until the parser is there, and for a program that would take long. */
function useLines(code: string): readonly (readonly Span[])[] {
  const [colored, setColored] = useState<{ readonly code: string; readonly lines: readonly (readonly Span[])[] }>();
  useEffect(() => {
    if (code.length > MAX_COLORED_CHARS) return;
    void import("./highlight.ts").then(({ highlight }) => setColored({ code, lines: highlight(code) }));
  }, [code]);
  return colored?.code === code ? colored.lines : code.split("\n").map((text) => [{ text, classes: "" }]);
}

/** A chart. What draws it is loaded with the first one; its sentence says the same to those who do not see it. */

import { useEffect, useRef } from "preact/hooks";

import { theme } from "../../theme/theme-choice.ts";
import type { ChartLine } from "./draw.ts";

interface ChartProps {
  readonly title: string;
  readonly unit: string;
  /** Times in seconds. */
  readonly at: readonly number[];
  readonly kind: "bars" | "lines";
  readonly lines: readonly ChartLine[];
  readonly summary: string;
}

const SWATCHES = { ok: "idle", bad: "bad", kept: "accent", model: "write" } as const;

export function Chart({ title, unit, at, kind, lines, summary }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const key = JSON.stringify([at, lines.map(({ values }) => values)]);
  useEffect(() => {
    let remove: (() => void) | undefined;
    let isGone = false;
    void import("./draw.ts").then(({ draw }) => {
      if (!isGone && box.current) remove = draw(box.current, { at, kind, lines });
    });
    return () => {
      isGone = true;
      remove?.();
    };
  }, [key, theme.value]);
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <span class="muted small">{unit}</span>
        <span class="legend">
          {lines.map(({ name, tone }) => (
            <span key={name}>
              <i class={`sw ${SWATCHES[tone]}`} aria-hidden="true" />
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={box} class="uplot-box" role="img" aria-label={`${title}: ${summary}`} />
    </figure>
  );
}

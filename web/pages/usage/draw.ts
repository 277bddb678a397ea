/** Draws on a canvas with uPlot, in the colors of the theme. No style attribute comes from text. */

import uPlot from "uplot";

export interface ChartLine {
  readonly name: string;
  readonly tone: "ok" | "bad" | "kept" | "model";
  readonly values: readonly number[];
}

interface Drawing {
  readonly at: readonly number[];
  readonly kind: "bars" | "lines";
  readonly lines: readonly ChartLine[];
}

const HEIGHT = 170;
const COLORS = { ok: "--idle-mark", bad: "--bad-mark", kept: "--accent", model: "--write" } as const;

/** Returns a function that removes the chart. */
export function draw(box: HTMLElement, { at, kind, lines }: Drawing): () => void {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: color("--ink-3"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
  const paths = kind === "bars" ? uPlot.paths.bars?.({ size: [0.8, 40] }) : undefined;
  const series = lines.map(({ name, tone }) => {
    const stroke = color(COLORS[tone]);
    return {
      label: name,
      stroke,
      width: kind === "bars" ? 0 : 1.5,
      points: { show: false },
      ...(paths && { paths, fill: stroke }),
    };
  });
  const chart = new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_self, _low, high) => [0, Math.max(1, high)] } },
      axes: [
        { ...axis, space: 90 },
        { ...axis, size: 48 },
      ],
      series: [{}, ...series],
    },
    [[...at], ...lines.map(({ values }) => [...values])],
    box,
  );
  lay(box);
  const resize = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: HEIGHT }));
  resize.observe(box);
  return () => {
    resize.disconnect();
    chart.destroy();
  };
}

/** In place of the style sheet of uPlot, which only this page needs. */
function lay(box: HTMLElement): void {
  const place = (selector: string, styles: Partial<CSSStyleDeclaration>): void => {
    for (const one of box.querySelectorAll<HTMLElement>(selector)) Object.assign(one.style, styles);
  };
  place(".u-wrap", { position: "relative" });
  place(".u-over, .u-under, .u-axis", { position: "absolute" });
  place("canvas", { display: "block", position: "relative", width: "100%", height: "100%" });
}

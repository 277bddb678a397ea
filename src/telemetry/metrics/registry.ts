/** Counters, histograms and gauges in the text format 0.0.4 of Prometheus. */

/** A metric always has the same label names. */
export type Labels = Readonly<Record<string, string>>;

export interface Registry {
  counter(name: string, help: string): (labels: Labels, amount?: number) => void;
  histogram(name: string, help: string, bounds: readonly number[]): (labels: Labels, value: number) => void;
  /** `samples` is called when the metrics are rendered. */
  read(
    name: string,
    help: string,
    source: {
      readonly type: "gauge" | "counter";
      readonly samples: () => readonly { readonly labels: Labels; readonly value: number }[];
    },
  ): void;
  render(): string;
}

/** The label value of further series once a metric has the maximum number of series. */
const OTHER = "other";

interface Distribution {
  readonly labels: Labels;
  /** Per bucket, not cumulative. */
  readonly counts: number[];
  sum: number;
  count: number;
}

/** `maxSeries` bounds the memory of a metric, whatever names upstreams use. */
export function createRegistry(maxSeries: number): Registry {
  const metrics: (() => readonly string[])[] = [];
  const add = (name: string, help: string, type: string, listLines: () => readonly string[]): void =>
    void metrics.push(() => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...listLines()]);
  const read: Registry["read"] = (name, help, { type, samples }) =>
    add(name, help, type, () => samples().map(({ labels, value }) => line(name, labels, value)));
  return {
    read,
    counter(name, help) {
      const series = createSeries(maxSeries, (labels) => ({ labels, value: 0 }));
      read(name, help, { type: "counter", samples: series.all });
      return (labels, amount = 1) => void (series.of(labels).value += amount);
    },
    histogram(name, help, bounds) {
      const create = (labels: Labels): Distribution => ({ labels, counts: bounds.map(() => 0), sum: 0, count: 0 });
      const series = createSeries(maxSeries, create);
      add(name, help, "histogram", () => series.all().flatMap((one) => toLines(name, bounds, one)));
      return (labels, value) => observe(series.of(labels), bounds, value);
    },
    render: () => metrics.flatMap((list) => list().map((text) => `${text}\n`)).join(""),
  };
}

function createSeries<One>(most: number, create: (labels: Labels) => One) {
  const series = new Map<string, One>();
  const of = (labels: Labels): One => {
    const key = JSON.stringify(labels);
    const found = series.get(key);
    if (found) return found;
    const other = Object.fromEntries(Object.keys(labels).map((name) => [name, OTHER]));
    const otherKey = JSON.stringify(other);
    if (series.size >= most - 1 && key !== otherKey) return of(other);
    const created = create(labels);
    series.set(key, created);
    return created;
  };
  return { of, all: () => [...series.values()] };
}

function observe(one: Distribution, bounds: readonly number[], value: number): void {
  one.sum += value;
  one.count += 1;
  const index = bounds.findIndex((bound) => value <= bound);
  if (index >= 0) one.counts[index] = (one.counts[index] ?? 0) + 1;
}

function toLines(name: string, bounds: readonly number[], { labels, counts, sum, count }: Distribution): string[] {
  let below = 0;
  const buckets = bounds.map((bound, index) => {
    below += counts[index] ?? 0;
    return line(`${name}_bucket`, { ...labels, le: String(bound) }, below);
  });
  const last = line(`${name}_bucket`, { ...labels, le: "+Inf" }, count);
  return [...buckets, last, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, count)];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

/** Prevents a name from adding a line or a label. */
function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Timing for benchmarks: percentiles of many runs, printed with the ratio to a baseline of the same run. */

export interface Timing {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Runs `act` many times and sorts the durations; `pauseMs` lets the machine become idle between two runs. */
export async function time(count: number, act: () => Promise<unknown>, pauseMs = 0): Promise<Timing> {
  const times: number[] = [];
  for (let run = 0; run < count; run += 1) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const startedAt = performance.now();
    await act();
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return { p50: at(times, 0.5), p95: at(times, 0.95), p99: at(times, 0.99) };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

let texts = 0;

/** The same program with a text that was not seen before: analysis and type check remember texts, and models write new ones. */
export function renew(code: string): string {
  texts += 1;
  return `void ${texts}; ${code}`;
}

/** Returns how many calls of `act` finish per second with `parallel` of them running. */
export async function rate(count: number, parallel: number, act: () => Promise<unknown>): Promise<number> {
  let left = count;
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await act();
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return count / ((performance.now() - startedAt) / 1000);
}

export function print(name: string, figure: string, target = ""): void {
  console.log(`${name.padEnd(58)} ${figure.padStart(22)}   ${target}`);
}

export function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}

/** CPU work that runs the same in a program and in plain Node, to compare the two. */

import { spawnSync } from "node:child_process";

export interface Kernel {
  readonly name: string;
  /** The body of a function that returns a number. */
  readonly body: string;
}

export const KERNELS: readonly Kernel[] = [
  {
    name: "JSON, 1 MB there and back",
    body: "const rows = Array.from({ length: 9000 }, (_, i) => ({ id: i, name: 'row ' + i, tags: ['a', 'b'], nested: { x: i / 3 } })); let n = 0; for (let i = 0; i < 5; i++) n += JSON.parse(JSON.stringify(rows)).length; return n;",
  },
  {
    name: "sort of 100,000 numbers",
    body: "const list = []; let x = 1; for (let i = 0; i < 100000; i++) { x = (x * 48271) % 2147483647; list.push(x); } return list.sort((a, b) => a - b)[500];",
  },
  {
    name: "regular expression over 1 MB",
    body: "const text = 'lorem ipsum 12-34 dolor '.repeat(42000); let n = 0; for (const match of text.matchAll(/(\\d+)-(\\d+)/g)) n += match[0].length; return n;",
  },
  { name: "fib(27)", body: "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(27);" },
  {
    name: "strings",
    body: "let s = ''; for (let i = 0; i < 300000; i++) s += i.toString(36); return s.split('a').length;",
  },
];

/** Runs the kernel in this process, as a baseline. */
export function runHere({ body }: Kernel): number {
  return (new Function(body) as () => number)();
}

/** The first run in a new Node process, median of five: a program is also run once, with cold code. */
export function runCold({ body }: Kernel): number {
  const script = `const act = () => { ${body} }; const at = performance.now(); act(); console.log(performance.now() - at);`;
  const times = Array.from({ length: 5 }, () => Number(spawnSync(process.execPath, ["-e", script]).stdout));
  return times.toSorted((a, b) => a - b)[2] ?? Number.NaN;
}

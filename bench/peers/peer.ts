/** A product that runs programs, reduced to what all of them support. */

/** The programs that every product runs. */
export type Task = "nothing" | "ten" | "hundred" | "waits" | "json" | "sort" | "fib";

/** How programs are written for a product. */
export interface Dialect {
  /** One call of a tool; `args` is the text of an object. */
  readonly call: (tool: "echo" | "wait", args: string) => string;
  /** Turns the body of a function into what the product takes. By default the body itself. */
  readonly wrap?: (body: string) => string;
}

/** A started product. Disposing ends its processes. */
export interface Peer extends AsyncDisposable {
  /** The process whose memory, with that of its children, is the product's. */
  readonly pid: number;
  /** Runs a program and returns its value. */
  run(code: string): Promise<unknown>;
}

export interface Product {
  readonly name: string;
  readonly dialect: Dialect;
  /** Installs and configures; called once. */
  prepare?(folder: string): Promise<void>;
  /** Starts the product; resolves when it has answered its first request. */
  open(folder: string): Promise<Peer>;
}

interface Program {
  readonly code: string;
  readonly answer: number;
}

/** No text is used twice: products remember programs, and a model seldom writes the same one again. */
let next = Date.now() % 1_000_000;

/** A program with a new text. */
export function writeProgram(task: Task, { call, wrap = (body) => body }: Dialect): Program {
  next += 1;
  const { body, answer } = BODIES[task](next, call);
  return { code: wrap(body), answer };
}

type Body = (n: number, call: Dialect["call"]) => { readonly body: string; readonly answer: number };

const BODIES: Readonly<Record<Task, Body>> = {
  nothing: (n) => ({ body: `return ${n} + 1`, answer: n + 1 }),
  ten: (n, call) => ({
    body: `let made = ${n}; for (; made < ${n + 10}; made += 1) await ${call("echo", "{ message: String(made) }")}; return made`,
    answer: n + 10,
  }),
  hundred: (n, call) => ({
    body: `const all = Array.from({ length: 100 }, (_, at) => ${call("echo", "{ message: String(at) }")}); return (await Promise.all(all)).length + ${n}`,
    answer: n + 100,
  }),
  waits: (n, call) => ({
    body: `const all = Array.from({ length: 5 }, () => ${call("wait", "{ ms: 100 }")}); return (await Promise.all(all)).length + ${n}`,
    answer: n + 5,
  }),
  json: (n) => ({
    body: `const rows = Array.from({ length: 9000 }, (_, i) => ({ id: i, name: "row " + i, tags: ["a", "b"], nested: { x: i / 3 } })); let n = ${n}; for (let i = 0; i < 5; i++) n += JSON.parse(JSON.stringify(rows)).length; return n`,
    answer: n + 45_000,
  }),
  sort: (n) => ({
    body: `const list = []; let x = 1; for (let i = 0; i < 100000; i++) { x = (x * 48271) % 2147483647; list.push(x); } list.sort((a, b) => a - b); return list.length + ${n}`,
    answer: n + 100_000,
  }),
  fib: (n) => ({
    body: `const fib = (k) => (k < 2 ? k : fib(k - 1) + fib(k - 2)); return fib(25) + ${n}`,
    answer: n + 75_025,
  }),
};

/** Runs one program with a new text. Throws for a wrong result, because its time would mean nothing. */
export async function runTask(peer: Peer, dialect: Dialect, task: Task): Promise<void> {
  const { code, answer } = writeProgram(task, dialect);
  const value = await peer.run(code);
  if (value !== answer) throw new Error(`${task} returned ${JSON.stringify(value)} instead of ${answer}`);
}

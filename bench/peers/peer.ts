/** A product that runs programs, reduced to what all of them can. */

/** A program that calls nothing, one that makes ten calls one after the other, one that makes a hundred at once. */
export type Task = "nothing" | "ten" | "hundred";

export interface Peer extends AsyncDisposable {
  readonly name: string;
  /** Those that were set up for it; a product may need an account or a database of its own for calls. */
  readonly tasks: readonly Task[];
  /** Runs a program and checks its answer. */
  run(task: Task): Promise<void>;
}

/** A product that answers wrongly has no time worth printing. */
export function expectAnswer(task: Task, answer: unknown): void {
  if (answer !== ANSWERS[task]) throw new Error(`${task} comes to ${JSON.stringify(answer)}`);
}

const ANSWERS: Readonly<Record<Task, number>> = { nothing: 2, ten: 10, hundred: 100 };

/** The bodies of the programs; `call` is how the product spells one call of `echo`. */
export function createPrograms(call: string): Readonly<Record<Task, string>> {
  return {
    nothing: "return 1 + 1",
    ten: `let made = 0; for (; made < 10; made += 1) await ${call}; return made`,
    hundred: `return (await Promise.all(Array.from({ length: 100 }, () => ${call}))).length`,
  };
}

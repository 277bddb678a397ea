/** A product that runs programs, reduced to what all of them support. */

/** A program without calls, one with ten sequential calls, and one with a hundred parallel calls. */
export type Task = "nothing" | "ten" | "hundred";

export interface Peer extends AsyncDisposable {
  readonly name: string;
  /** Tasks that are set up for the product; a product may need an account or a database for calls. */
  readonly tasks: readonly Task[];
  /** Runs a program and checks its result. */
  run(task: Task): Promise<void>;
}

/** Throws for a wrong result, because its time would mean nothing. */
export function expectAnswer(task: Task, answer: unknown): void {
  if (answer !== ANSWERS[task]) throw new Error(`${task} returned ${JSON.stringify(answer)}`);
}

const ANSWERS: Readonly<Record<Task, number>> = { nothing: 2, ten: 10, hundred: 100 };

/** The bodies of the programs; `call` is the product's syntax for one call of `echo`. */
export function createPrograms(call: string): Readonly<Record<Task, string>> {
  return {
    nothing: "return 1 + 1",
    ten: `let made = 0; for (; made < 10; made += 1) await ${call}; return made`,
    hundred: `return (await Promise.all(Array.from({ length: 100 }, () => ${call}))).length`,
  };
}

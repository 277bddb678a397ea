/** A product that runs programs, reduced to what all of them can. */

export interface Peer extends AsyncDisposable {
  readonly name: string;
  /** Runs `1 + 1` and checks the answer. */
  run(): Promise<void>;
}

/** A product that answers wrongly has no time worth printing. */
export function expectTwo(answer: unknown): void {
  if (answer !== 2) throw new Error(`1 + 1 is ${JSON.stringify(answer)}`);
}

/** What an engine is to the pool: a way to start a child process that speaks the protocol of `wire.ts` on descriptor 3. */

import type { EngineName, IsolationLevel } from "../domain/index.ts";

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
}

export interface Engine {
  readonly name: EngineName;
  /** What the confinement around the child reaches on this machine. */
  readonly isolation: IsolationLevel;
  command(usualMemoryBytes: number): ChildCommand;
}

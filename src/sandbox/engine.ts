/** What an engine is to the pool: a way to start a child process that speaks the protocol of `wire.ts` on descriptor 3. */

import type { EngineName, ExecutionResult, IsolationLayer } from "../domain/index.ts";

/** The descriptor of the protocol; beside it, for a confined child, the filter goes in and the process number out. */
export const WIRE_DESCRIPTOR = 3;
export const FILTER_DESCRIPTOR = 4;
export const INFO_DESCRIPTOR = 5;
/** Where the process that starts puts its number on the keeper's list; closed before anything else runs in it. */
export const ROLL_DESCRIPTOR = 6;

/** How to start one child. Nothing of the gateway's environment or descriptors goes along. */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** A seccomp filter, handed in on its own descriptor. */
  readonly filter?: Buffer;
  /** The child runs below the process that is started; its own number comes on a descriptor. */
  readonly reportsPid?: boolean;
  /** The child cannot speak on an inherited connection: it takes one from a listening socket on the same descriptor. */
  readonly acceptsWire?: boolean;
}

/** A file of the machine, and the name under which a confined child finds it. */
export interface EngineFile {
  readonly from: string;
  readonly at: string;
  /** A device of the kernel, not a file with contents. */
  readonly isDevice?: boolean;
}

/** An engine that can live in a root of its own: the files it needs there, and its command in that root. */
export interface ContainedEngine {
  readonly files: readonly EngineFile[];
  /** It takes its wire from a listening socket, for which the filter needs a few calls more. */
  readonly acceptsWire?: boolean;
  command(usualMemoryBytes: number): ChildCommand;
}

export interface Engine {
  readonly name: EngineName;
  command(usualMemoryBytes: number): ChildCommand;
  /** `undefined` where the engine's files cannot be told apart from the rest of the machine. */
  readonly contained: ContainedEngine | undefined;
}

/** An engine with every layer around it that this machine offers. */
export interface ConfinedEngine extends Engine {
  readonly isolation: ExecutionResult["isolation"];
  readonly layers: readonly IsolationLayer[];
  /** The program that caps a running child's memory; `undefined` where there is none. */
  readonly prlimit: string | undefined;
}

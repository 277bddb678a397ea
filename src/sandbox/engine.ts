/** An engine: a command that starts a child process with the protocol of `wire.ts` on descriptor 3. */

import type { EngineName, ExecutionResult, IsolationLayer } from "../domain/index.ts";

/** The descriptor of the protocol; a confined child also gets its filters and reports its pid. */
export const WIRE_DESCRIPTOR = 3;
export const FILTER_DESCRIPTOR = 4;
export const INFO_DESCRIPTOR = 5;
/** Where a starting process writes its pid to the keeper's list; closed before anything else runs in it. */
export const ROLL_DESCRIPTOR = 6;

/** The command of one child, which inherits no environment and no descriptors of the gateway. */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Seccomp filters, passed on their own descriptor: the first one, then the one of the second stage. */
  readonly filter?: Buffer | undefined;
  /** The child runs below the started process and reports its pid on a descriptor. */
  readonly reportsPid?: boolean;
  /** The child cannot use an inherited connection: it accepts one from a listening socket on the same descriptor. */
  readonly acceptsWire?: boolean | undefined;
}

/** A file of the machine, and the name under which a confined child finds it. */
export interface EngineFile {
  readonly from: string;
  readonly at: string;
  /** A device of the kernel, not a file with contents. */
  readonly isDevice?: boolean;
  /** A program, or the loader of programs. */
  readonly isProgram?: boolean;
}

export interface Engine {
  readonly name: EngineName;
  /** Another child is started only for a program that has waited this long for one. Default: 0. */
  readonly overlapMs?: number;
  /** Takes programs over that ask for it, or starts them; only `auto` has one. */
  readonly faster?: Engine;
  /** The engine that results name for programs that stay; by default `name`. */
  readonly startsOn?: EngineName;
  /** Its child can load the seal once it is ready, see `native/seal.c`. */
  readonly sealing?: { readonly makesThreads: boolean };
  /** `seal` is the path of the seal; without it the second stage is left out. */
  command(usualMemoryBytes: number, seal?: string): ChildCommand;
  /** For a confined root; `undefined` if the engine's files cannot be listed. */
  readonly contained:
    | {
        /** The files that the engine needs there. */
        readonly files: readonly EngineFile[];
        /** It accepts its wire from a listening socket, for which the filter allows a few more system calls. */
        readonly acceptsWire?: boolean;
        command(usualMemoryBytes: number, seal?: string): ChildCommand;
      }
    | undefined;
}

/** An engine with every layer around it that this machine offers. */
export interface ConfinedEngine extends Engine {
  readonly faster?: ConfinedEngine;
  readonly isolation: ExecutionResult["isolation"];
  readonly layers: readonly IsolationLayer[];
  /** What is checked and set from outside once a child is ready; `undefined` without confinement. */
  readonly readiness: Readiness | undefined;
}

export interface Readiness {
  /** The program that caps a running child's memory. */
  readonly launcher: string;
  /** The kernel counts the threads of this child alone, so that they can be limited. */
  readonly limitsThreads: boolean;
  /** Every thread has this many seccomp filters more than the gateway. */
  readonly filters: number;
}

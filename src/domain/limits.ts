/** The limits of one execution: one frozen object that every room receives. No room has defaults. */

export const DEFAULT_LIMITS = Object.freeze({
  /**
   * Time from the start of the program until it ends or is suspended, waiting included. A resumed program has the whole
   * time again; the same holds for `cpuMs`.
   */
  wallMs: 30_000,
  /** Of the process that runs the program. */
  cpuMs: 10_000,
  /**
   * Time of the gateway's thread for the calls of one program: parsing, checking, and what Glovebox answers itself. A
   * resumed program has the whole time again.
   */
  hostMs: 2_000,
  /** On and off the heap. */
  memoryBytes: 128 * 1024 * 1024,
  /** Attempts to call a tool, refused ones too. */
  calls: 100,
  /** Calls in flight at once; further calls wait. */
  concurrentCalls: 16,
  callMs: 30_000,
  sourceBytes: 256 * 1024,
  /** Result and logs together. */
  outputBytes: 1024 * 1024,
  argumentBytes: 1024 * 1024,
  resultBytes: 10 * 1024 * 1024,
  depth: 64,
});

export type Limits = Readonly<Record<keyof typeof DEFAULT_LIMITS, number>>;

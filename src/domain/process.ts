/** What a room that starts child processes asks of the one that outlives them. */

export interface ChildKeeper {
  /** From now on the process group of `pid` is killed when the gateway ends, however it ends. */
  keep(pid: number): void;
  /** The process has ended; its number may belong to somebody else from now on. */
  release(pid: number): void;
  /**
   * A descriptor on which a process that starts can say `add PID` itself, and then close it: whoever starts it may be
   * killed before it can `keep` it. `undefined` where there is none now.
   */
  readonly roll?: number | undefined;
}

/** Follows what descends from one child, also what left its process group. */
export interface FamilyWatch {
  /** Remembers who descends from the child now. Of no use once the child has ended: its children are nobody's then. */
  look(): void;
  /** Kills those that were seen and are still there. */
  end(): void;
}

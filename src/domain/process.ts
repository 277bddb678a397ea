/** What a room that starts child processes asks of the one that outlives them. */

export interface ChildKeeper {
  /** From now on the process group of `pid` is killed when the gateway ends, however it ends. */
  keep(pid: number): void;
  /** The process has ended; its number may belong to somebody else from now on. */
  release(pid: number): void;
}

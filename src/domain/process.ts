/** What rooms that start child processes need from `processes`. */

export interface ChildKeeper {
  /** Registers the process group of `pid` to be killed when the gateway ends, however it ends. */
  keep(pid: number): void;
  /** Call when the process has ended: another process may get its pid. */
  release(pid: number): void;
  /** A new process writes `add PID` to it and closes it: the gateway may be killed before it calls `keep`. */
  readonly roll?: number | undefined;
}

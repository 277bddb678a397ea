/** An older Node starts Glovebox as its child. When that launcher is killed, the child has to end too. */

const POLL_MS = 250;

interface LauncherPowers {
  /** Returns the pid of this process's parent. */
  readonly parent: () => number;
  readonly exit: () => void;
}

/** Ends this process as soon as its parent is not the launcher with this pid. Does nothing without a launcher. */
export function endWithLauncher(launcher: string | undefined, { parent, exit }: LauncherPowers): void {
  if (launcher === undefined) return;
  const endIfOrphaned = (): void => void (parent() === Number(launcher) || exit());
  endIfOrphaned(); // the launcher may have been killed before this call
  setInterval(endIfOrphaned, POLL_MS).unref();
}

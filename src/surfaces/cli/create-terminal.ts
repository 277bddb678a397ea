/** The terminal of a process: its streams and its signals. */

import { EXIT } from "./powers.ts";
import type { Terminal } from "./powers.ts";

/** The first signal starts the shutdown; a second Ctrl-C ends the process at once. */
export function createTerminal(owner: NodeJS.Process): Terminal {
  const { stdin, stdout, stderr } = owner;
  return {
    stdin,
    stdout,
    stderr,
    cwd: owner.cwd(),
    onInterrupt(listener) {
      const first = (): void => {
        owner.once("SIGINT", () => owner.exit(EXIT.interrupted));
        owner.on("SIGTERM", () => undefined); // the shutdown is already in progress
        listener();
      };
      owner.once("SIGINT", first);
      owner.once("SIGTERM", first);
      return () => {
        owner.removeListener("SIGINT", first);
        owner.removeListener("SIGTERM", first);
      };
    },
  };
}

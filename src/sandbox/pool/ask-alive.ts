/** Pings an idle child: one that is stopped or stuck must not get a program. */

import type { SandboxChild } from "../start-child.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";

/** A healthy child answers within a millisecond; a loaded machine may take longer. */
const ANSWER_MS = 2_000;

/** False if it does not answer in time, sends anything else, or is gone. Restores its listener. */
export function askAlive(child: SandboxChild): Promise<boolean> {
  if (child.isGone) return Promise.resolve(false);
  const { listener } = child;
  return new Promise((resolve) => {
    const answer = (isAlive: boolean): void => {
      clearTimeout(timer);
      child.listener = listener;
      resolve(isAlive);
    };
    const timer = setTimeout(() => answer(false), ANSWER_MS);
    child.listener = {
      frame: ({ kind }) => answer(kind === TO_HOST.PONG),
      gone(reason) {
        answer(false);
        listener.gone(reason);
      },
    };
    child.send(TO_GUEST.PING, 0, "", 0);
  });
}

/** Lets a running gateway take over the next key while that is offered, also when it lends nothing at that time. */

import { GloveboxError } from "../domain/index.ts";

import type { Vault } from "./open-vault.ts";

export interface KeyWatch extends AsyncDisposable {}

export interface KeyWatchOptions {
  readonly vault: Pick<Vault, "refresh">;
  readonly everyMs: number;
  /** Hears once that the key cannot be had any more, and again only after it could. */
  readonly warn: (thrown: unknown) => void;
}

/** The timer holds no process open. */
export function watchKey({ vault, everyMs, warn }: KeyWatchOptions): KeyWatch {
  let hasWarned = false;
  const look = async (): Promise<void> => {
    try {
      await vault.refresh();
      hasWarned = false;
    } catch (thrown) {
      // A store that is busy is looked at again; whoever needs it at this moment hears of it himself.
      if (!(thrown instanceof GloveboxError) || thrown.code !== "CONFIG_INVALID" || hasWarned) return;
      hasWarned = true;
      warn(thrown);
    }
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, everyMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
    },
  };
}

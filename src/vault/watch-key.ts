/** Lets a running gateway take over the next key during a rotation, even when it lends nothing at that time. */

import { GloveboxError } from "../domain/index.ts";
import { pollEvery } from "../timing/index.ts";

import type { Vault } from "./vault.ts";

export interface KeyWatchOptions {
  readonly vault: Pick<Vault, "refresh">;
  readonly everyMs: number;
  /** Called once when the key becomes unavailable, and again only after it was available in between. */
  readonly warn: (thrown: unknown) => void;
}

/** Refreshes the key until disposed. */
export function watchKey({ vault, everyMs, warn }: KeyWatchOptions): AsyncDisposable {
  let hasWarned = false;
  return pollEvery(everyMs, async () => {
    try {
      await vault.refresh();
      hasWarned = false;
    } catch (thrown) {
      // A busy store is polled again; a caller that needs the key now gets the error itself.
      if (!(thrown instanceof GloveboxError) || thrown.code !== "CONFIG_INVALID" || hasWarned) return;
      hasWarned = true;
      warn(thrown);
    }
  });
}

/** Lets a running gateway take over the next key while that is offered, also when it lends nothing at that time. */

import { GloveboxError } from "../domain/index.ts";

import type { Vault } from "./open-vault.ts";

export interface KeyLookOptions {
  readonly vault: Pick<Vault, "refresh">;
  /** Hears once that the key cannot be had any more, and again only after it could. */
  readonly warn: (thrown: unknown) => void;
}

/** One look at the key, to be taken again and again. */
export function createKeyLook({ vault, warn }: KeyLookOptions): () => Promise<void> {
  let hasWarned = false;
  return async () => {
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
}

/** Notifies when the tools of the catalog change, so that clients can list them again. */

import type { Connector } from "../connectors/index.ts";
import type { Digest } from "../domain/index.ts";
import { pollEvery } from "../timing/index.ts";
import type { Catalog } from "./open-catalog.ts";

/** Removes its listeners from the connectors when disposed. */
export interface ToolsWatch extends AsyncDisposable {
  onToolsChanged(listener: () => void): () => void;
}

/** Changes with every approval, which may happen in another process. */
export interface ApprovalSignal {
  /** Returns a different string after every approval. */
  readonly read: () => Promise<string | undefined>;
  readonly everyMs: number;
}

/** Listeners are called only if the snapshot changed, however often a server announces changes. */
export function watchTools(
  catalog: Pick<Catalog, "takeSnapshot" | "onListed" | "firstDigest">,
  connectors: readonly Connector[],
  approvals: ApprovalSignal,
): ToolsWatch {
  const listeners = new Set<() => void>();
  let lastDigest: Digest | undefined;
  let checking: Promise<void> | undefined;
  let isDue = false;

  const check = async (): Promise<void> => {
    for (isDue = true; isDue;) {
      isDue = false;
      const { digest } = await catalog.takeSnapshot();
      const before = lastDigest ?? catalog.firstDigest();
      lastDigest = digest;
      if (before !== digest) for (const listener of listeners) listener();
    }
  };
  const checkSoon = (): void => {
    isDue = true;
    if (listeners.size === 0 || checking) return;
    checking = check()
      .catch(() => undefined)
      .finally(() => {
        checking = undefined;
      });
  };
  const stops = [...connectors.map((connector) => connector.onToolsChanged(checkSoon)), catalog.onListed(checkSoon)];
  const signal = watchSignal(approvals, checkSoon);

  return {
    onToolsChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async [Symbol.asyncDispose]() {
      for (const stop of stops) stop();
      await signal[Symbol.asyncDispose]();
    },
  };
}

/** The first value is not a change. A failed read is repeated at the next poll. */
function watchSignal({ read, everyMs }: ApprovalSignal, onChange: () => void): AsyncDisposable {
  let last: { readonly value: string | undefined } | undefined;
  const poll = async (): Promise<void> => {
    const value = await read();
    if (last && last.value !== value) onChange();
    last = { value };
  };
  return pollEvery(everyMs, poll, poll());
}

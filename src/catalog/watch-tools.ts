/** Tells when the tools of the catalog have become others, so that clients which hold a list can ask again. */

import type { Connector } from "../connectors/index.ts";
import type { Digest } from "../domain/index.ts";
import type { Catalog } from "./open-catalog.ts";

/** Stops hearing the connectors when disposed of. */
export interface ToolsWatch extends AsyncDisposable {
  /** Returns the way to stop listening. */
  onToolsChanged(listener: () => void): () => void;
}

/** Where word of approvals is left, which may be given at another process. */
export interface ApprovalWord {
  /** Another text after every approval. */
  readonly read: () => Promise<string | undefined>;
  readonly everyMs: number;
}

type Watched = Pick<Catalog, "takeSnapshot" | "onListed" | "firstDigest">;

/**
 * A server may say that its tools changed as often as it likes: listeners hear it only when the snapshot is another
 * than the last one they heard of, or than the first that anybody took. The timer holds no process open.
 */
export function watchTools(catalog: Watched, connectors: readonly Connector[], approvals: ApprovalWord): ToolsWatch {
  const listeners = new Set<() => void>();
  let seen: Digest | undefined;
  let looking: Promise<void> | undefined;
  let isDue = false;

  const look = async (): Promise<void> => {
    for (isDue = true; isDue;) {
      isDue = false;
      const { digest } = await catalog.takeSnapshot();
      const before = seen ?? catalog.firstDigest();
      seen = digest;
      if (before !== digest) for (const listener of listeners) listener();
    }
  };
  const lookSoon = (): void => {
    isDue = true;
    if (listeners.size === 0 || looking) return;
    looking = look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
  };
  const stops = [
    ...connectors.map((connector) => connector.onToolsChanged(lookSoon)),
    catalog.onListed(lookSoon),
    followWord(approvals, lookSoon),
  ];

  return {
    onToolsChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async [Symbol.asyncDispose]() {
      for (const stop of stops) stop();
    },
  };
}

/** What was said before it began is no news. A reading that fails finds the same at the next one. */
function followWord({ read, everyMs }: ApprovalWord, onNews: () => void): () => void {
  let heard: { readonly word: string | undefined } | undefined;
  const listen = async (): Promise<void> => {
    const word = await read();
    if (heard && heard.word !== word) onNews();
    heard = { word };
  };
  void listen().catch(() => undefined);
  const timer = setInterval(() => void listen().catch(() => undefined), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

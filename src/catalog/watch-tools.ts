/** Tells when the tools of the catalog have become others, so that clients which hold a list can ask again. */

import type { Connector } from "../connectors/index.ts";
import type { Catalog } from "./open-catalog.ts";

/** Stops hearing the connectors when disposed of. */
export interface ToolsWatch extends AsyncDisposable {
  /** Returns the way to stop listening. */
  onToolsChanged(listener: () => void): () => void;
}

/** A server may say that its tools changed as often as it likes: listeners hear it only when the snapshot is another. */
export function watchTools(catalog: Pick<Catalog, "takeSnapshot">, connectors: readonly Connector[]): ToolsWatch {
  const listeners = new Set<() => void>();
  let seen: string | undefined;

  const look = async (): Promise<void> => {
    if (listeners.size === 0) return;
    const { digest } = await catalog.takeSnapshot();
    if (digest === seen) return;
    seen = digest;
    for (const listener of listeners) listener();
  };
  const stops = connectors.map((connector) => connector.onToolsChanged(() => void look().catch(() => undefined)));

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

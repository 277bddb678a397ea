/** Callbacks that are notified when the tools of an upstream have changed. */

/** A listener that throws affects neither the connection nor the other listeners. */
export function createListeners() {
  const listeners = new Set<() => void>();
  return {
    /** Returns a function that removes the listener. */
    add(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notify(): void {
      for (const listener of listeners)
        void Promise.resolve()
          .then(listener)
          .catch(() => undefined);
    },
  };
}

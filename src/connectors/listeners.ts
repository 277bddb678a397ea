/** Callbacks that are notified when the tools of an upstream have changed. */

export interface Listeners {
  /** Returns a function that removes the listener. */
  add(listener: () => void): () => void;
  notify(): void;
}

/** A listener that throws affects neither the connection nor the other listeners. */
export function createListeners(): Listeners {
  const listeners = new Set<() => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notify() {
      for (const listener of listeners)
        void Promise.resolve()
          .then(listener)
          .catch(() => undefined);
    },
  };
}

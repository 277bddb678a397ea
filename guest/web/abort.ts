/** `AbortController` and `AbortSignal`: how a program gives up waiting for a request. */

import { add, apply, createList, each, filter, toDomString } from "../intrinsics.ts";
import type { List } from "../intrinsics.ts";
import { refuseToClone } from "./clone-refusals.ts";
import { createNamedError } from "./named-error.ts";

type Listener = (event: { readonly type: "abort"; readonly target: AbortSignal }) => unknown;

let fire: (signal: AbortSignal, reason: unknown) => void;

/** Calls each listener once; exceptions of listeners are ignored. */
export class AbortSignal {
  #isAborted = false;
  #reason: unknown;
  #listeners: List<Listener> = createList();
  onabort: Listener | null = null;

  static {
    fire = (signal, reason) => signal.#fire(reason);
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  addEventListener(type: unknown, listener: unknown): void {
    if (toDomString(type) === "abort" && isListener(listener)) add(this.#listeners, listener);
  }

  removeEventListener(_type: unknown, listener: unknown): void {
    this.#listeners = filter(this.#listeners, (one) => one !== listener);
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    fire(signal, reason);
    return signal;
  }

  #fire(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason === undefined ? createNamedError("AbortError", "This operation was aborted") : reason;
    const event = { type: "abort", target: this } as const;
    if (isListener(this.onabort)) notify(this.onabort, event);
    each(this.#listeners, (listener) => notify(listener, event));
  }

  get [Symbol.toStringTag](): string {
    return "AbortSignal";
  }
}
refuseToClone(AbortSignal.prototype, "AbortSignal");

export class AbortController {
  readonly #signal = new AbortSignal();

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    fire(this.#signal, reason);
  }

  get [Symbol.toStringTag](): string {
    return "AbortController";
  }
}
refuseToClone(AbortController.prototype, "AbortController");

/** `AbortSignal.timeout`, by the program's own clock. */
export function createTimeout(
  setTimer: (callback: () => void, delayMs: number) => unknown,
): (delayMs: unknown) => AbortSignal {
  return (delayMs) => {
    const signal = new AbortSignal();
    const reason = createNamedError("TimeoutError", "The operation was aborted due to timeout");
    setTimer(() => fire(signal, reason), Number(delayMs));
    return signal;
  };
}

function isListener(value: unknown): value is Listener {
  return typeof value === "function";
}

function notify(listener: Listener, event: Parameters<Listener>[0]): void {
  try {
    apply(listener, undefined, [event]);
  } catch {
    // An exception of a listener must not reach the code that aborts.
  }
}

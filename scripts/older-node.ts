/** Injected into the bundle of the gateway: what Node 22 does not have. */

type Close = () => unknown;

/** As ECMAScript describes it, for the parts that the gateway uses. */
class OlderStack implements AsyncDisposable {
  #closers: Close[] = [];
  disposed = false;

  use<Value extends AsyncDisposable | Disposable | null | undefined>(value: Value): Value {
    if (value === null || value === undefined) return value;
    const close: unknown = Symbol.asyncDispose in value ? value[Symbol.asyncDispose] : value[Symbol.dispose];
    if (typeof close !== "function") throw new TypeError("The value is not disposable");
    return this.#add(() => close.call(value), value);
  }

  adopt<Value>(value: Value, close: (value: Value) => unknown): Value {
    return this.#add(() => close(value), value);
  }

  defer(close: Close): void {
    this.#add(close, undefined);
  }

  move(): OlderStack {
    const moved = new OlderStack();
    moved.#closers = this.#closers;
    this.#closers = [];
    this.disposed = true;
    return moved;
  }

  async disposeAsync(): Promise<void> {
    this.disposed = true;
    const thrown: unknown[] = [];
    for (const close of this.#closers.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        thrown.push(error);
      }
    }
    if (thrown.length > 1) throw new AggregateError(thrown, "Several resources failed to close");
    if (thrown.length > 0) throw thrown[0];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }

  #add<Value>(close: Close, value: Value): Value {
    if (this.disposed) throw new ReferenceError("The stack is disposed");
    this.#closers.push(close);
    return value;
  }
}

const Native: unknown = Reflect.get(globalThis, "AsyncDisposableStack");

export { Stack as AsyncDisposableStack };
const Stack = Native ?? OlderStack;

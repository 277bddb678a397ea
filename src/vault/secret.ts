/** A secret as a type, so that it cannot be printed, joined or serialized by accident. */

import { inspect } from "node:util";

/** Prints as `[secret]` everywhere. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The single way out. Grep for `.reveal(` to audit every use. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}

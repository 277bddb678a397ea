/** A map with a size limit that drops the entry used longest ago. */

/** Iterates oldest first. */
export class Recent<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  /** Also marks the entry as used. */
  override get(key: Key): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** Adds or replaces the entry, marks it as used, and drops the oldest one above the limit. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.size > this.#limit ? this.keys() : [];
    if (oldest !== undefined) this.delete(oldest);
    return this;
  }

  /** The entry, made by `create` if it is missing. */
  getOr(key: Key, create: () => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
    const value = create();
    this.set(key, value);
    return value;
  }
}

export function createRecent<Key, Value>(limit: number): Recent<Key, Value> {
  return new Recent(limit);
}

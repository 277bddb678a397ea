/** A map with a size limit that drops the entries used longest ago. */

/** Iterates oldest first. */
export class Recent<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;
  readonly #weigh: (value: Value) => number;
  #weight = 0;

  constructor(limit: number, weigh: (value: Value) => number) {
    super();
    this.#limit = limit;
    this.#weigh = weigh;
  }

  /** Also marks the entry as used. */
  override get(key: Key): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** Adds or replaces the entry, marks it as used, and drops the oldest ones above the limit, but never this one. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.keys()) {
      if (this.#weight <= this.#limit || this.size === 1) break;
      this.delete(oldest);
    }
    return this;
  }

  override delete(key: Key): boolean {
    const value = super.get(key);
    if (value !== undefined) this.#weight -= this.#weigh(value);
    return super.delete(key);
  }

  override clear(): void {
    this.#weight = 0;
    super.clear();
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

/** `limit` is the number of entries, or what they weigh together. */
export function createRecent<Key, Value>(limit: number, weigh: (value: Value) => number = () => 1): Recent<Key, Value> {
  return new Recent(limit, weigh);
}

/** A map with a size limit that drops the entry used longest ago. */

export interface Recent<Key, Value> {
  /** Also marks the entry as used. */
  get(key: Key): Value | undefined;
  /** Adds or replaces the entry, marks it as used, and drops the oldest one above the limit. */
  set(key: Key, value: Value): void;
  /** The entry, made by `create` if it is missing. */
  getOr(key: Key, create: () => Value): Value;
  has(key: Key): boolean;
  delete(key: Key): boolean;
  readonly size: number;
  clear(): void;
  /** Oldest first. */
  values(): Iterable<Value>;
  /** Oldest first. */
  entries(): Iterable<readonly [Key, Value]>;
}

export function createRecent<Key, Value>(limit: number): Recent<Key, Value> {
  const entries = new Map<Key, Value>();
  const set = (key: Key, value: Value): void => {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size <= limit) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  };
  const get = (key: Key): Value | undefined => {
    const value = entries.get(key);
    if (value !== undefined) set(key, value);
    return value;
  };
  return {
    get,
    set,
    getOr(key, create) {
      const known = get(key);
      if (known !== undefined) return known;
      const value = create();
      set(key, value);
      return value;
    },
    has: (key) => entries.has(key),
    delete: (key) => entries.delete(key),
    get size() {
      return entries.size;
    },
    clear: () => entries.clear(),
    values: () => entries.values(),
    entries: () => entries.entries(),
  };
}

/** Builds objects with optional fields without conditional spreads. */

type Optional<T> = { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };
type Required<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] };

/** Returns the object without the fields that are `undefined`, for types with exact optional fields. */
export function defined<T extends object>(fields: T): Required<T> & Optional<T> {
  const values: readonly unknown[] = Object.values(fields);
  const kept: Record<string, unknown> = {};
  let at = 0;
  // Every call of a program comes here several times: pairs from `Object.entries` would take longer.
  for (const key of Object.keys(fields)) {
    const value = values[at];
    if (value !== undefined) kept[key] = value;
    at += 1;
  }
  return trustFields(fields, kept);
}

/** `kept` has the fields of `_fields` that are defined. */
function trustFields<T>(_fields: T, kept: unknown): Required<T> & Optional<T> {
  return kept as Required<T> & Optional<T>;
}

/** Builds objects with optional fields without conditional spreads. */

type Optional<T> = { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };
type Required<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] };

/** Returns the object without the fields that are `undefined`, for types with exact optional fields. */
export function defined<T extends object>(fields: T): Required<T> & Optional<T> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) kept[key] = value;
  return trustFields(fields, kept);
}

/** `kept` has the fields of `_fields` that are defined. */
function trustFields<T>(_fields: T, kept: unknown): Required<T> & Optional<T> {
  return kept as Required<T> & Optional<T>;
}

/** What every program of the corpus begins with: `show` writes any value as text, so that nothing is lost in JSON. */

export const PRELUDE = String.raw`const show = (value, around = []) => {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "bigint") return value + "n";
  if (typeof value === "function") return "function " + show(value.name) + " " + value.length;
  if (typeof value !== "object" || value === null) return String(value);
  if (around.includes(value)) return "circular";
  const inner = (item) => show(item, [...around, value]);
  const isA = (constructor) => value instanceof constructor;
  const list = (items) => Array.from(items, inner).join(", ");
  if (isA(Error)) return value.name + "(" + inner(value.message) + ")";
  if (isA(Date)) return "Date(" + (Number.isNaN(value.getTime()) ? "invalid" : value.toISOString()) + ")";
  if (isA(RegExp)) return String(value) + " at " + value.lastIndex;
  if (isA(Map)) return "Map{" + list(value) + "}";
  if (isA(Set)) return "Set{" + list(value) + "}";
  if (isA(Promise)) return "Promise";
  if (isA(ArrayBuffer)) return "ArrayBuffer(" + list(new Uint8Array(value)) + ")";
  const type = Object.prototype.toString.call(value).slice(8, -1);
  if (ArrayBuffer.isView(value) && "length" in value) return type + "(" + list(value) + ")";
  if (Object(value) !== value.valueOf?.() && typeof value.valueOf?.() !== "object") return type + "=" + show(value.valueOf());
  const entries = Reflect.ownKeys(value).filter((key) => !(Array.isArray(value) && key === "length")).map((key) => {
    const { get, set, value: held } = Reflect.getOwnPropertyDescriptor(value, key);
    return (typeof key === "symbol" ? String(key) : key) + ": " + (get || set ? "accessor" : inner(held));
  });
  return (Array.isArray(value) ? "Array " + value.length : type) + "{" + entries.join(", ") + "}";
};
const attempt = async (act) => {
  try { return show(await act()); } catch (error) { return "throws " + (error?.name ?? show(error)); }
};
`;

/** Finds signatures of tools in answers, whatever surrounds them. */

/** True if the text has the arguments and the result type of the tool: `readTextFile(…): …`. */
export function hasSignature(text: string, address: string): boolean {
  const name = address.slice(address.indexOf(".") + 1);
  for (let at = text.indexOf(`${name}(`); at >= 0; at = text.indexOf(`${name}(`, at + 1)) {
    const end = findEnd(text, at + name.length);
    if (!/[\w$]/.test(text[at - 1] ?? "") && text.slice(end, end + 2) === ": ") return true;
  }
  return false;
}

/** The position after the bracket that closes the one at `start`, or the end of the text. */
export function findEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if ("([{".includes(text[at] ?? "")) depth += 1;
    if (")]}".includes(text[at] ?? "")) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** Names and types of the fields of an object type, outermost only: `{ path: string; tail?: number }`. */
export function readFields(type: string): ReadonlyMap<string, string> {
  const text = type.replaceAll(/\/\*[^]*?\*\//g, "");
  const fields = new Map<string, string>();
  for (let at = text.indexOf("{") + 1; at < text.length;) {
    const name = /[\w$]+\??(?=: )/y;
    name.lastIndex = at;
    const found = name.exec(text)?.[0];
    if (found === undefined) {
      at += 1;
      continue;
    }
    const start = at + found.length + 2;
    let end = start;
    while (end < text.length && text[end] !== ";" && text[end] !== "}") {
      end = "([{".includes(text[end] ?? "") ? findEnd(text, end) : end + 1;
    }
    fields.set(found, text.slice(start, end).trim());
    at = end + 1;
  }
  return fields;
}

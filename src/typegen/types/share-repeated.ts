/**
 * Names the object types that the declarations of a namespace repeat, and writes short ones without comments on one line, so that a
 * description has each type once. Works on the text of declarations; comments and strings are not looked into.
 */

/** An object type in a text: the text between its braces, and the objects in it. */
interface ObjectType {
  readonly parts: readonly TypePart[];
}
type TypePart = string | ObjectType;

/** Objects with the same properties and comments; those without any comments belong to it, too. */
interface Variant {
  readonly type: ObjectType;
  readonly hasComments: boolean;
  count: number;
  name: string;
}

/** Shorter types are written inline: a name would be as long and less clear. */
const SHORT_TEXT = 60;
const LINE_LENGTH = 100;
const MAX_NAME = 60;

/** Comments, strings and braces. */
const TOKENS = /\/\*[^]*?\*\/|"(?:[^"\\]|\\.)*"|[{}]/g;
const COMMENTS = /\/\*[^]*?\*\/\s*/g;

/**
 * `members` are the methods of a namespace, `types` its named types, `prefix` what stands before the names of types.
 * Returns the members that use shared types, and all types.
 */
export function shareRepeated(
  members: readonly string[],
  types: ReadonlyMap<string, string>,
  prefix: string,
): { readonly members: readonly string[]; readonly types: ReadonlyMap<string, string> } {
  const parsed = members.map(parse);
  const named = new Map([...types].map(([name, text]) => [name, parse(text)]));
  const variants = countVariants([...parsed, ...named.values()]);
  const isShared = ({ count, type }: Variant): boolean => count > 1 && toKey(type).length > SHORT_TEXT;
  const shared = new Map([...variants].filter(([, variant]) => isShared(variant)));
  const taken = new Set([...types.keys(), "Array", "Record", "Promise"]);
  for (const parts of [...parsed, ...named.values()]) nameShared(parts, "", { shared, taken });
  const write = (type: ObjectType): string => {
    const name = shared.get(toKey(type))?.name ?? "";
    return name === "" ? writeObject(type, write) : `${prefix}.${name}`;
  };
  // A type of named types may be short now.
  for (const variant of shared.values()) {
    if (variant.name !== "" && writeObject(variant.type, write).length <= SHORT_TEXT) variant.name = "";
  }
  const lists = new RegExp(`Array<(${prefix.replaceAll("$", "\\$")}\\.\\w+)>`, "g");
  const finish = (text: string): string => text.replaceAll(lists, "$1[]");
  const all = [...named].map(([name, parts]) => [name, writeParts(parts, write)] as const);
  const made = [...new Set(shared.values())]
    .filter(({ name }) => name !== "")
    .map(({ name, type }) => [name, writeObject(type, write)] as const);
  return {
    members: parsed.map((parts) => finish(writeParts(parts, write))),
    types: new Map([...all, ...made].map(([name, text]) => [name, finish(dedent(text))])),
  };
}

function parse(text: string): readonly TypePart[] {
  const open: TypePart[][] = [[]];
  let from = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const parts = open.at(-1);
    if (!parts || token.length > 1) continue;
    parts.push(text.slice(from, index));
    from = index + 1;
    if (token === "{") open.push([]);
    else if (open.length > 1) open.at(-2)?.push({ parts: open.pop() ?? [] });
  }
  open[0]?.push(text.slice(from));
  return open[0] ?? [];
}

/** The text of an object on one line, with comments. */
function toKey({ parts }: ObjectType): string {
  const inside = parts.map((part) => (typeof part === "string" ? part : toKey(part))).join("");
  return `{${inside.replaceAll(/\s+/g, " ")}}`;
}

function toBare(type: ObjectType): string {
  return toKey(type).replaceAll(COMMENTS, "");
}

/** Counts an object inside of a repeated one only once. Those without comments count for the first with the same types. */
function countVariants(all: readonly (readonly TypePart[])[]): ReadonlyMap<string, Variant> {
  const variants = new Map<string, Variant>();
  const visit = (parts: readonly TypePart[]): void => {
    for (const part of parts) {
      if (typeof part === "string") continue;
      const key = toKey(part);
      const known = variants.get(key);
      if (known) known.count += 1;
      else {
        variants.set(key, { type: part, hasComments: key.includes("/*"), count: 1, name: "" });
        visit(part.parts);
      }
    }
  };
  for (const parts of all) visit(parts);
  const commented = new Map<string, Variant>();
  for (const variant of variants.values()) {
    const bare = toBare(variant.type);
    if (variant.hasComments && !commented.has(bare)) commented.set(bare, variant);
  }
  for (const [key, variant] of variants) {
    const other = variant.hasComments ? undefined : commented.get(toBare(variant.type));
    if (!other) continue;
    other.count += variant.count;
    variants.set(key, other);
  }
  return variants;
}

interface SharedNaming {
  readonly shared: ReadonlyMap<string, Variant>;
  readonly taken: Set<string>;
}

/** Names each shared object after the place of its first use. */
function nameShared(parts: readonly TypePart[], owner: string, naming: SharedNaming): void {
  let method = owner;
  for (const [at, part] of parts.entries()) {
    const before = parts[at - 1] ?? "";
    if (typeof part === "string") {
      method = [...part.matchAll(/([\w$]+)"?\(args\??: /g)].at(-1)?.[1] ?? method;
      continue;
    }
    const variant = naming.shared.get(toKey(part));
    if (variant?.name === "") variant.name = chooseName(typeof before === "string" ? before : "", method, naming.taken);
    nameShared(part.parts, method, naming);
  }
}

function chooseName(before: string, method: string, taken: Set<string>): string {
  const base = capitalize(toBaseName(before, method)).slice(0, MAX_NAME);
  const plain = /^[A-Za-z]\w*$/.test(base) ? base : "Shared";
  let name = plain;
  for (let copy = 2; taken.has(name); copy += 1) name = `${plain}${copy}`;
  taken.add(name);
  return name;
}

/** From the property, or the method whose arguments or result it is. */
function toBaseName(before: string, method: string): string {
  const isEntry = /Array<[^;]*$/.test(before);
  if (/Promise<[^;]*$/.test(before)) return `${method}${isEntry ? "Entry" : "Result"}`;
  const property = /([\w$]+)"?\??: [^;]*$/.exec(before)?.[1] ?? "";
  if (property === "args" || property === "") return `${method}Args`;
  return isEntry ? toSingular(property) : property;
}

function toSingular(name: string): string {
  if (/[^aeiou]ies$/.test(name)) return `${name.slice(0, -3)}y`;
  return /[^s]s$/.test(name) ? name.slice(0, -1) : name;
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

type WriteObject = (type: ObjectType) => string;

function writeParts(parts: readonly TypePart[], write: WriteObject): string {
  return parts.map((part) => (typeof part === "string" ? part : write(part))).join("");
}

function writeObject({ parts }: ObjectType, write: WriteObject): string {
  const inside = writeParts(parts, write);
  const line = `{ ${inside.trim().replaceAll(/\s*\n\s*/g, " ")} }`;
  return line.length <= LINE_LENGTH && !inside.includes("/*") ? line : `{${inside}}`;
}

/** Removes the indentation that the place of the first use had: that of the last line. */
function dedent(text: string): string {
  const indent = /\n( *)\}[^\n]*$/.exec(text)?.[1] ?? "";
  return indent === "" ? text : text.replaceAll(`\n${indent}`, "\n");
}

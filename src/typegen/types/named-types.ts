/** The named types of one namespace, such as `github.Issue`: recursive ones, and those that are used twice. */

import { countUses, fillMarks } from "./definitions.ts";
import type { ConvertedType, Definition } from "./definitions.ts";
import { shareRepeated } from "./share-repeated.ts";
import { single } from "./type-text.ts";
import type { TypeText } from "./type-text.ts";

export interface NamedTypes {
  /** Returns the text of a type and names the types it needs; `owner` resolves name conflicts. */
  finish(converted: ConvertedType, owner: string, indent: string): string;
  size(): number;
  /** Names the objects that these declarations and the types repeat. Returns the declarations that use the names. */
  share(members: readonly string[]): readonly string[];
  /** Returns the declaration of the namespace, or nothing without types. */
  declare(): readonly string[];
  /** The same within `room` characters: first the types that `text` uses, then the types that those use. */
  declareWithin(room: number, text: string): readonly string[];
}

const MAX_NAME = 60;
const MAX_ROUNDS = 20;
/** Words with a special meaning before a dot in a type. They get an underscore, which no address has. */
const AWKWARD = new Set("abstract asserts infer is keyof readonly unique".split(" "));
/** Types that declarations use; a server's type of the same name would shadow them inside the namespace. */
const TAKEN = new Set(["Array", "Record", "Promise"]);

/** `isShared` if `share` follows: then all definitions get names, which tools share. */
export function createNamedTypes(namespace: string, { isShared = false } = {}): NamedTypes {
  let types = new Map<string, string>();
  const prefix = AWKWARD.has(namespace) ? `${namespace}_` : namespace;

  function finish(converted: ConvertedType, owner: string, indent: string): string {
    const named = findNamed(converted, isShared);
    const byId = new Map(converted.definitions.map((definition) => [definition.id, definition]));
    const attempts = new Map(named.map(({ id }) => [id, 0]));
    for (let round = 0; ; round += 1) {
      const names = nameAll(named, owner, { attempts, isShared });
      const write = writerOf(byId, names, prefix);
      const texts = named.map(({ id, type }) => ({ id, text: fillMarks(type?.text ?? "", "", write) }));
      const taken = texts.filter(({ id, text }) => (types.get(names.get(id) ?? "") ?? text) !== text);
      if (taken.length === 0) {
        for (const { id, text } of texts) types.set(names.get(id) ?? "", text);
        return fillMarks(converted.type.text, indent, write);
      }
      // Only the names that are taken change, so that tools keep sharing the others; not forever.
      for (const { id } of isShared && round < MAX_ROUNDS ? taken : named)
        attempts.set(id, (attempts.get(id) ?? 0) + 1);
    }
  }

  return {
    finish,
    size: () => [...types].reduce((sum, [name, text]) => sum + name.length + text.length, 0),
    share: (members) => {
      const shared = shareRepeated(members, types, prefix);
      types = new Map(shared.types);
      return shared.members;
    },
    declare: () => wrap(prefix, [...types].map(toLine)),
    declareWithin: (room, text) => {
      let left = room - `\ndeclare namespace ${prefix} {\n}`.length;
      const lines = orderByUse(types, prefix, text).map((name) => toLine([name, types.get(name) ?? "unknown"]));
      const fitting = lines.filter((line) => {
        const fits = line.length < left;
        left -= fits ? line.length + 1 : 0;
        return fits;
      });
      return wrap(prefix, fitting);
    },
  };
}

function toLine([name, text]: readonly [string, string]): string {
  return `  type ${name} = ${text.replaceAll("\n", "\n  ")};`;
}

function wrap(prefix: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`declare namespace ${prefix} {\n${lines.join("\n")}\n}`];
}

/** Breadth first from the types that the text uses. */
function orderByUse(types: ReadonlyMap<string, string>, prefix: string, text: string): readonly string[] {
  const found = new Set<string>();
  const read = (part: string): void => {
    for (const [name] of part.matchAll(/[\w$]+\.\w+/gu)) {
      const own = name.startsWith(`${prefix}.`) ? name.slice(prefix.length + 1) : "";
      if (types.has(own)) found.add(own);
    }
  };
  read(text);
  // A set may grow while it is read.
  for (const name of found) read(types.get(name) ?? "");
  return [...found];
}

/** Without names: a type that is used twice is written twice, a recursion ends in the open type. */
export function writeOut({ type, definitions }: ConvertedType, indent: string, otherwise: TypeText): string {
  const byId = new Map(definitions.map((definition) => [definition.id, definition]));
  const open = new Set<number>();
  let left = MAX_WRITTEN_OUT;
  const write = (id: number): TypeText => {
    const found = byId.get(id)?.type;
    if (!found || open.has(id) || left < found.text.length) return otherwise;
    left -= found.text.length;
    open.add(id);
    const text = fillMarks(found.text, "", write);
    open.delete(id);
    return { ...found, text };
  };
  return fillMarks(type.text, indent, write);
}

const MAX_WRITTEN_OUT = 32 * 1024;

/** With `isShared` all that are used: other tools may use them, too. */
function findNamed({ type, definitions }: ConvertedType, isShared: boolean): readonly Definition[] {
  const uses = countUses([type.text, ...definitions.map((definition) => definition.type?.text ?? "")]);
  const least = isShared ? 1 : 2;
  return definitions.filter(({ id, isRecursive }) => uses.has(id) && (isRecursive || (uses.get(id) ?? 0) >= least));
}

/** A definition without a name is used once and is not recursive, so this terminates. */
function writerOf(
  byId: ReadonlyMap<number, Definition>,
  names: ReadonlyMap<number, string>,
  prefix: string,
): (id: number) => TypeText {
  const write = (id: number): TypeText => {
    const name = names.get(id);
    if (name !== undefined) return single(`${prefix}.${name}`);
    const type = byId.get(id)?.type ?? single("unknown");
    return { ...type, text: fillMarks(type.text, "", write) };
  };
  return write;
}

interface DefinitionNaming {
  /** How many names were taken, for each definition. */
  readonly attempts: ReadonlyMap<number, number>;
  readonly isShared: boolean;
}

/** After the definition; if that is taken, with a number if types are shared, otherwise with the name of the owner. */
function nameAll(
  named: readonly Definition[],
  owner: string,
  { attempts, isShared }: DefinitionNaming,
): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  for (const { id, ref } of named) {
    const [own, attempt] = [toTypeName(ref), attempts.get(id) ?? 0];
    const owned = `${capitalize(owner)}${own}${attempt > 1 ? attempt : ""}`;
    const numbered = isShared ? `${own}${attempt + 1}` : owned;
    const later = attempt === 0 ? own : numbered;
    const base = own === "" ? owned : later;
    let name = base;
    for (let copy = 2; taken.has(name); copy += 1) name = `${base}_${copy}`;
    taken.add(name);
    names.set(id, name);
  }
  return names;
}

/** Derives a name from the last step of a reference; "" if it has no usable characters. */
function toTypeName(ref: string): string {
  const last = ref.slice(ref.search(/[^/#]*$/));
  const words = last.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map(capitalize).join("").slice(0, MAX_NAME);
  if (name === "") return "";
  return /^\d/.test(name) || TAKEN.has(name) ? `Type${name}` : name;
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

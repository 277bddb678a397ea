/**
 * Gives opened namespaces their meaning: each body becomes a function that fills an object, exported variables become
 * properties of that object, and names that another part of the same namespace exports are read from it. By insertions and
 * blanks only, so every place stays the author's own.
 */

import type { AnyNode, Identifier, Program as Root, VariableDeclaration } from "acorn";
import type { Insertion } from "../domain/index.ts";
import { blankAll } from "./blank.ts";
import { findParts } from "./find-parts.ts";
import type { Part } from "./find-parts.ts";
import { insert, joinInsertions, withoutInsertions } from "./insert.ts";
import type { Edit } from "./insert.ts";
import type { NamespaceBody } from "./open-namespace.ts";
import { parseJavascript } from "./parse-javascript.ts";
import { readTree } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";
import { namesOf, resolveScopes } from "./resolve-scopes.ts";
import type { Binding, Globals } from "./resolve-scopes.ts";

/** The longer text and what of it is not the author's. */
export interface Linked {
  readonly text: string;
  readonly insertions: readonly Insertion[];
}

interface Given {
  /** The author's text as it came. */
  readonly source: string;
  readonly bodies: readonly NamespaceBody[];
  /** What other translations put in. */
  readonly additions: readonly Edit[];
}

/** `text` is aligned with the source. Where it is no JavaScript, what comes out is none either, and a parser says why. */
export function linkNamespaces(text: string, { source, bodies, additions }: Given): Linked {
  const mark = findFreeName(text);
  const frames = bodies.flatMap(({ open, end, names }, at) => [
    { at: open, text: `;(function(${names.map((_, index) => `${mark}${at}_${index}`).join()})` },
    { at: end, text: ")();" },
  ]);
  const framed = insert(
    text,
    [...additions, ...frames].toSorted((a, b) => a.at - b.at),
  );
  const parsed = parseJavascript(framed.javascript);
  if (!parsed.ok) return { text: framed.javascript, insertions: framed.insertions };
  const { edits, blanks } = createChanges(parsed.root, { source, bodies, mark, insertions: framed.insertions });
  const linked = insert(blankAll(framed.javascript, blanks), edits);
  return { text: linked.javascript, insertions: joinInsertions(framed.insertions, linked.insertions) };
}

function findFreeName(text: string): string {
  let mark = "$ns";
  while (text.includes(mark)) mark += "$";
  return mark;
}

interface Changes {
  readonly edits: readonly Edit[];
  readonly blanks: readonly (readonly [from: number, to: number])[];
}

interface Context {
  readonly tree: Tree;
  readonly globals: Globals;
  readonly parts: readonly Part[];
  /** Exported variables and the object that each is a property of. */
  readonly properties: Map<Binding, string>;
  readonly toAuthor: (offset: number) => number;
}

function createChanges(
  root: Root,
  given: Pick<Given, "source" | "bodies"> & { readonly mark: string; readonly insertions: readonly Insertion[] },
): Changes {
  const tree = readTree(root);
  const toAuthor = (offset: number): number => withoutInsertions(given.insertions, offset);
  const parts = findParts(tree, { ...given, toAuthor });
  const context: Context = { tree, globals: resolveScopes(tree), parts, properties: new Map(), toAuthor };
  const exported = parts.flatMap((part) => part.exported.map((node) => changesOfExport(node, part, context)));
  const aliases = findUnusedAliases(given.source, context);
  const edits = [
    ...parts.flatMap(editsOfFrame),
    ...exported.flatMap((changes) => changes.edits),
    ...mentionsOf(context).flatMap((mention) => editsOfMention(mention, context)),
  ];
  return {
    edits: edits.toSorted((a, b) => a.at - b.at),
    blanks: [...exported.flatMap((changes) => changes.blanks), ...aliases].toSorted(([a], [b]) => a - b),
  };
}

/** The objects that the function is called with; a namespace may go on with a function, a class or an enum of its name. */
function editsOfFrame({ body, statement, call, outer, isExported, siblings }: Part): readonly Edit[] {
  const [first = "", ...rest] = body.names;
  const object = outer?.params.at(-1);
  const own = isExported && object !== undefined ? `${object}.${first}` : first;
  const args = [isExported ? `${first}=${own}||(${own}={})` : `${first}||(${first}={})`];
  let path = first;
  for (const name of rest) {
    path += `.${name}`;
    args.push(`${path}||(${path}={})`);
  }
  const variable = siblings.has(first) ? [] : [{ at: statement.start, text: `var ${first};` }];
  return [...variable, { at: call.end - 1, text: args.join() }];
}

function changesOfExport(node: AnyNode, part: Part, context: Context): Changes {
  const object = part.params.at(-1) ?? "";
  if (node.type !== "VariableDeclaration") {
    const name = "id" in node && node.id?.type === "Identifier" ? node.id.name : undefined;
    return { edits: name === undefined ? [] : [{ at: node.end, text: `;${object}.${name}=${name};` }], blanks: [] };
  }
  const isInserted = context.toAuthor(node.start) === context.toAuthor(node.end - 1);
  return isInserted ? changesOfEnum(node, object) : changesOfVariables(node, object, context);
}

/** An enum adds to one of its name that an earlier part exported. */
function changesOfEnum(node: VariableDeclaration, object: string): Changes {
  const [name = ""] = node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  const before = { at: node.start, text: `${name}=${object}.${name};` };
  return { edits: [before, { at: node.end, text: `;${object}.${name}=${name};` }], blanks: [] };
}

/** `export let a = 1, { b } = c` becomes `(object.a = 1, { b: object.b } = c)`. */
function changesOfVariables(node: VariableDeclaration, object: string, context: Context): Changes {
  const names = node.declarations.flatMap(({ id }) => namesOf(id));
  for (const name of names) {
    const binding = context.globals.bindingOf(name);
    if (binding) context.properties.set(binding, object);
  }
  const first = node.declarations[0]?.start ?? node.end;
  const last = node.declarations.at(-1)?.end ?? node.end;
  const edits = [
    { at: node.start, text: ";(" },
    ...names.flatMap((name) => editsOfName(name, object, context)),
    { at: last, text: ");" },
  ];
  return { edits, blanks: [[node.start, first]] };
}

function mentionsOf({ tree, globals }: Context): readonly Identifier[] {
  const bindings = new Set(tree.nodes.flatMap((node) => globals.bindingOf(node) ?? []));
  return [...[...bindings].flatMap(({ mentions }) => mentions), ...[...globals.mentions.values()].flat()];
}

function editsOfMention(mention: Identifier, context: Context): readonly Edit[] {
  const object = findObject(mention, context);
  return object === undefined ? [] : editsOfName(mention, object, context);
}

/** From the inside out: a name of the function's own, or one that some part of that namespace exports. */
function findObject(mention: Identifier, { globals, parts, properties }: Context): string | undefined {
  const binding = globals.bindingOf(mention);
  let part = parts.findLast(({ callee }) => mention.start >= callee.body.start && mention.end <= callee.body.end);
  for (; part; part = part.outer) {
    const { start, end } = part.callee.body;
    const isOwn = binding?.declarers.some((declarer) => declarer.start >= start && declarer.end <= end);
    if (binding && isOwn) return properties.get(binding);
    const at = part.exports.findLastIndex((names) => names.has(mention.name));
    if (at >= 0) return part.params[at];
  }
  return undefined;
}

function editsOfName(name: Identifier, object: string, { tree }: Pick<Context, "tree">): readonly Edit[] {
  const parent = tree.parentOf(name);
  const holder = parent?.type === "AssignmentPattern" && parent.left === name ? tree.parentOf(parent) : parent;
  const isShort = holder?.type === "Property" && holder.shorthand;
  return [{ at: name.start, text: isShort ? `${name.name}:${object}.` : `${object}.` }];
}

/** An alias that only types mention may stand for a type, of which there is nothing when the program runs. */
function findUnusedAliases(source: string, { tree, globals, parts, toAuthor }: Context): Changes["blanks"] {
  const exported = new Set(parts.flatMap((part) => part.exported));
  return tree.nodes.flatMap((node) => {
    if (node.type !== "VariableDeclaration" || exported.has(node)) return [];
    if (!source.startsWith("import", toAuthor(node.start))) return [];
    const [alias] = node.declarations;
    const binding = alias && globals.bindingOf(alias.id);
    return binding?.mentions.length === 0 ? [[node.start, node.end] as const] : [];
  });
}

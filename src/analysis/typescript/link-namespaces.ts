/**
 * Two tasks that amaro's compiler leaves out. The parts of one namespace see each other's exports, and an alias
 * (`import a = N.b`) that is unused after types are erased may name a type and must go.
 */

import type { AnyNode, FunctionExpression, Identifier } from "acorn";
import { blankAll } from "../edit-text.ts";
import { insert, joinInsertions, withoutInsertions } from "../edit-text.ts";
import type { Edit, Insertion } from "../edit-text.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { readTree, withoutParens } from "../read-tree.ts";
import type { Tree } from "../read-tree.ts";
import { resolveScopes } from "../resolve-scopes.ts";
import type { NameBinding, ProgramNames } from "../resolve-scopes.ts";
import { scanTokens } from "../scan-tokens.ts";

/** Plain JavaScript and its inserted parts. */
export interface LinkedText {
  readonly text: string;
  readonly insertions: readonly Insertion[];
}

/** The names that any part of one namespace exports, and the namespaces in it. */
interface MergedNamespace {
  readonly exports: Set<string>;
  readonly inner: Map<string | NameBinding, MergedNamespace>;
}

/** One part, translated to `(function (param) { … })(name || (name = {}))`. */
interface NamespacePart {
  readonly callee: FunctionExpression;
  readonly param: Identifier;
  readonly outer: NamespacePart | undefined;
  readonly namespace: MergedNamespace;
}

interface LinkInput {
  readonly tree: Tree;
  readonly globals: ProgramNames;
  /** Whether the compiler inserted a node. */
  readonly isAdded: (node: AnyNode) => boolean;
}

/** Text that does not parse is returned unchanged; the caller's parser reports why. */
export function linkNamespaces({ text, insertions }: LinkedText, source: string): LinkedText {
  const parsed = parseJavascript(text);
  if (!parsed.ok) return { text, insertions };
  const tree = readTree(parsed.root);
  const toAuthor = (offset: number): number => withoutInsertions(insertions, offset);
  const isAdded = (node: AnyNode): boolean => toAuthor(node.start) === toAuthor(node.start + 1);
  const context: LinkInput = { tree, globals: resolveScopes(tree), isAdded };
  const parts = findParts(context);
  const edits = parts.length > 1 ? findMentions(context).flatMap((name) => editsOf(name, parts, context)) : [];
  const unused = tree.nodes.flatMap((node) => {
    if (node.type !== "VariableDeclaration" || !source.startsWith("import", toAuthor(node.start))) return [];
    const [alias] = node.declarations;
    const isUnused = alias && context.globals.bindingOf(alias.id)?.mentions.length === 0;
    return isUnused ? [[node.start, node.end] as const] : [];
  });
  const ascending = edits.toSorted((a, b) => a.at - b.at);
  const linked = insert(blankAll(text, unused), ascending);
  return { text: linked.javascript, insertions: joinInsertions(insertions, linked.insertions) };
}

function findParts(context: LinkInput): readonly NamespacePart[] {
  const { tree, globals, isAdded } = context;
  const top = createNamespace();
  const parts = new Map<NameBinding, NamespacePart>();
  for (const node of tree.nodes) {
    if (node.type !== "CallExpression" || node.arguments.length !== 1) continue;
    const callee = withoutParens(node.callee);
    const [param] = callee.type === "FunctionExpression" && isAdded(callee) ? callee.params : [];
    const object = node.arguments[0]?.type === "LogicalExpression" ? node.arguments[0].left : undefined;
    const binding = param && globals.bindingOf(param);
    if (callee.type !== "FunctionExpression" || param?.type !== "Identifier" || !object || !binding) continue;
    const outer = [...parts.values()].findLast((part) => isIn(node, part.callee));
    parts.set(binding, { callee, param, outer, namespace: namespaceOf(object) });
  }
  for (const { type, ...member } of tree.nodes.filter((node) => node.type === "MemberExpression")) {
    const part = isAdded(member.object) ? parts.get(globals.bindingOf(member.object) ?? NONE) : undefined;
    if (member.property.type === "Identifier") part?.namespace.exports.add(member.property.name);
  }
  return [...parts.values()];

  function namespaceOf(object: AnyNode): MergedNamespace {
    const isMember = object.type === "MemberExpression" && object.property.type === "Identifier";
    const holder = isMember ? parts.get(globals.bindingOf(object.object) ?? NONE)?.namespace : undefined;
    const { inner } = holder ?? top;
    const key =
      isMember && object.property.type === "Identifier" ? object.property.name : (globals.bindingOf(object) ?? "");
    const known = inner.get(key) ?? createNamespace();
    inner.set(key, known);
    return known;
  }
}

const NONE: NameBinding = { declarers: [], mentions: [] };

function createNamespace(): MergedNamespace {
  return { exports: new Set(), inner: new Map() };
}

function isIn(node: AnyNode, outer: AnyNode): boolean {
  return node.start >= outer.start && node.end <= outer.end;
}

/** Every use of a name in the author's text. */
function findMentions({ tree, globals, isAdded }: LinkInput): readonly Identifier[] {
  const bindings = new Set(tree.nodes.flatMap((node) => globals.bindingOf(node) ?? []));
  const mentions = [...[...bindings].flatMap(({ mentions: own }) => own), ...[...globals.mentions.values()].flat()];
  return mentions.filter((mention) => !isAdded(mention));
}

/** From the innermost part outward: a name that the part declares, or one that another part exports. */
function editsOf(mention: Identifier, parts: readonly NamespacePart[], { tree, globals }: LinkInput): readonly Edit[] {
  const declarers = globals.bindingOf(mention)?.declarers ?? [];
  for (let part = parts.findLast(({ callee }) => isIn(mention, callee.body)); part; part = part.outer) {
    const { callee, param, namespace } = part;
    if (declarers.some((declarer) => isIn(declarer, callee))) return [];
    if (!namespace.exports.has(mention.name)) continue;
    const parent = tree.parentOf(mention);
    const holder = parent?.type === "AssignmentPattern" && parent.left === mention ? tree.parentOf(parent) : parent;
    const isShort = holder?.type === "Property" && holder.shorthand;
    return [{ at: mention.start, text: isShort ? `${mention.name}:${param.name}.` : `${param.name}.` }];
  }
  return [];
}

const MAYBE_ALIAS = /\bimport\s+[\p{ID_Start}$_][^\s=]*(?:\s+[\p{ID_Start}$_][^\s=]*)?\s*=/u;

/** Whether the text may contain an alias. */
export function mayAlias(text: string): boolean {
  return MAYBE_ALIAS.test(text);
}

/** Replaces `import` in `import a = N.b` by `var` in place, so that nothing moves; in a type alias it is blanked. */
export function replaceAliases(text: string): string {
  if (!mayAlias(text)) return text;
  const tokens = [...scanTokens(text)];
  let [replaced, copied] = ["", 0];
  for (const [at, { text: word, start }] of tokens.entries()) {
    const isType = tokens[at + 1]?.text === "type" && tokens[at + 2]?.kind === "word";
    const [name, sign, first] = tokens.slice(isType ? at + 2 : at + 1);
    const isAlias = word === "import" && name?.kind === "word" && sign?.text === "=" && first?.kind === "word";
    if (!isAlias || first.text === "require") continue;
    // `import type X = N.b` becomes `type X = N.b`, which the type stripper erases.
    replaced += `${text.slice(copied, start)}${isType ? "      " : "var   "}`;
    copied = start + word.length;
  }
  return replaced + text.slice(copied);
}

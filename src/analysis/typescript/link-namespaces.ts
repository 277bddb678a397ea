/**
 * Two tasks that amaro's compiler leaves out. The parts of one namespace see each other's exports, and an alias
 * (`import a = N.b`) that is unused after types are erased may name a type and must go.
 */

import type { AnyNode, FunctionExpression, Identifier } from "acorn";
import { blankAll, insert, joinInsertions, withoutInsertions } from "../edit-text.ts";
import type { Edit, EditedText } from "../edit-text.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { readTree, withoutParens } from "../read-tree.ts";
import type { Tree } from "../read-tree.ts";
import { resolveScopes } from "../resolve-scopes.ts";
import type { NameBinding, ProgramNames } from "../resolve-scopes.ts";
import { scanTokens } from "../scan-tokens.ts";

/** One part of a namespace, translated to `(function (param) { … })(name || (name = {}))`. */
interface NamespacePart {
  readonly callee: FunctionExpression;
  readonly param: Identifier;
  readonly outer: NamespacePart | undefined;
  /** The same for all parts of one namespace. */
  readonly key: string;
  /** The names that any part of the namespace exports. */
  readonly exports: Set<string>;
}

interface LinkInput {
  readonly tree: Tree;
  readonly globals: ProgramNames;
  /** Whether the compiler inserted a node. */
  readonly isAdded: (node: AnyNode) => boolean;
}

/** Text that does not parse is returned unchanged; the caller's parser reports why. */
export function linkNamespaces({ javascript, insertions }: EditedText, source: string): EditedText {
  const parsed = parseJavascript(javascript);
  if (!parsed.ok) return { javascript, insertions };
  const tree = readTree(parsed.root);
  const toAuthor = (offset: number): number => withoutInsertions(insertions, offset);
  const added = new Uint8Array(javascript.length);
  for (const { offset, length } of insertions) added.fill(1, offset, offset + length);
  const isAdded = (node: AnyNode): boolean => added[node.start] === 1;
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
  const linked = insert(blankAll(javascript, unused), ascending);
  return { javascript: linked.javascript, insertions: joinInsertions(insertions, linked.insertions) };
}
function findParts({ tree, globals, isAdded }: LinkInput): readonly NamespacePart[] {
  const parts = new Map<NameBinding | undefined, NamespacePart>();
  const keyOf = (object: AnyNode): string => {
    if (object.type !== "MemberExpression" || object.property.type !== "Identifier")
      return String(globals.bindingOf(object)?.declarers[0]?.start);
    return `${parts.get(globals.bindingOf(object.object))?.key}.${object.property.name}`;
  };
  for (const node of tree.nodes) {
    if (node.type === "MemberExpression" && node.property.type === "Identifier" && isAdded(node.object)) {
      parts.get(globals.bindingOf(node.object))?.exports.add(node.property.name);
    }
    if (node.type !== "CallExpression" || node.arguments.length !== 1) continue;
    const callee = withoutParens(node.callee);
    const [param] = callee.type === "FunctionExpression" && isAdded(callee) ? callee.params : [];
    const object = node.arguments[0]?.type === "LogicalExpression" ? node.arguments[0].left : undefined;
    const binding = param && globals.bindingOf(param);
    if (callee.type !== "FunctionExpression" || param?.type !== "Identifier" || !object || !binding) continue;
    const known = [...parts.values()];
    const outer = known.findLast((part) => isIn(node, part.callee));
    const key = keyOf(object);
    const exports = known.find((part) => part.key === key)?.exports ?? new Set();
    parts.set(binding, { callee, param, outer, key, exports });
  }
  return [...parts.values()];
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
    const { callee, param, exports } = part;
    if (declarers.some((declarer) => isIn(declarer, callee))) return [];
    if (!exports.has(mention.name)) continue;
    const parent = tree.parentOf(mention);
    const holder = parent?.type === "AssignmentPattern" && parent.left === mention ? tree.parentOf(parent) : parent;
    const isShort = holder?.type === "Property" && holder.shorthand;
    return [{ at: mention.start, text: isShort ? `${mention.name}:${param.name}.` : `${param.name}.` }];
  }
  return [];
}

const MAYBE_ALIAS = /\bimport\s+[\p{ID_Start}$_][^\s=]*(?:\s+[\p{ID_Start}$_][^\s=]*)?\s*=/u;

export function mayAlias(text: string): boolean {
  return MAYBE_ALIAS.test(text);
}

/** Replaces `import` in `import a = N.b` by `var` in place, so that nothing moves; in a type alias it is blanked. */
export function replaceAliases(text: string): string {
  if (!mayAlias(text)) return text;
  const tokens = [...scanTokens(text)];
  let [replaced, copied] = ["", 0];
  for (const [at, { text: word, start }] of tokens.entries()) {
    if (word !== "import") continue;
    const isType = tokens[at + 1]?.text === "type" && tokens[at + 2]?.kind === "word";
    const [name, sign, first] = tokens.slice(at + (isType ? 2 : 1), at + 5);
    const isAlias = name?.kind === "word" && sign?.text === "=" && first?.kind === "word";
    if (!isAlias || first.text === "require") continue;
    // `import type X = N.b` becomes `type X = N.b`, which the type stripper erases.
    replaced += `${text.slice(copied, start)}${isType ? "      " : "var   "}`;
    copied = start + word.length;
  }
  return replaced + text.slice(copied);
}

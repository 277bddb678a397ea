/** Finds opened namespaces in the syntax tree, which of them are parts of one, and what they export. */

import type { AnyNode, CallExpression, FunctionExpression } from "acorn";
import type { NamespaceBody } from "./open-namespace.ts";
import { namesOf } from "./resolve-scopes.ts";
import type { Tree } from "./read-tree.ts";

/** One namespace's body in the tree. */
export interface Part {
  readonly body: NamespaceBody;
  readonly callee: FunctionExpression;
  readonly call: CallExpression;
  readonly statement: AnyNode;
  /** The names of the objects inside of the function, one for each name of the namespace. */
  readonly params: readonly string[];
  readonly outer: Part | undefined;
  readonly isExported: boolean;
  /** The declarations that it exports, other namespaces excepted. */
  readonly exported: readonly AnyNode[];
  /** For each object all names that any part of that namespace exports. */
  readonly exports: readonly ReadonlySet<string>[];
  /** Functions, classes and variables that are declared beside it: it needs no variable of its own then. */
  readonly siblings: ReadonlySet<string>;
}

interface Given {
  readonly bodies: readonly NamespaceBody[];
  /** What the parameters of the functions around the bodies begin with. */
  readonly mark: string;
  readonly toAuthor: (offset: number) => number;
}

/** In the order of the source, so an outer one comes before those in it. */
export function findParts(tree: Tree, { bodies, mark, toAuthor }: Given): readonly Part[] {
  const parts: Part[] = [];
  const namespaces: Namespaces = { exports: new Map(), paths: new Map() };
  for (const callee of tree.nodes) {
    if (callee.type !== "FunctionExpression") continue;
    const body = bodyOf(callee, bodies, mark);
    const frame = body && frameOf(callee, tree);
    if (!body || !frame) continue;
    const outer = parts.findLast((part) => callee.start >= part.callee.start && callee.end <= part.callee.end);
    const isExported = outer?.body.exports.includes(body.start) ?? false;
    const exported = findExported(callee, body, toAuthor);
    const params = callee.params.flatMap((param) => (param.type === "Identifier" ? [param.name] : []));
    const found = { body, callee, ...frame, params, outer, isExported, exported };
    const path = pathOf(found, namespaces);
    const part = { ...found, exports: collectExports(found, path, namespaces) };
    namespaces.paths.set(part, path);
    parts.push(part);
  }
  return parts;
}

type Found = Omit<Part, "exports"> & { readonly scope: AnyNode };

/** Parts with the same path are one namespace. */
interface Namespaces {
  readonly exports: Map<string, Set<string>>;
  readonly paths: Map<Part, string>;
}

function pathOf({ outer, isExported, scope, body }: Found, { paths }: Namespaces): string {
  const base = outer && isExported ? paths.get(outer) : undefined;
  return [base ?? scope.start, ...body.names].join("/");
}

function collectExports(
  { outer, isExported, body, exported }: Found,
  path: string,
  known: Namespaces,
): Part["exports"] {
  const { names } = body;
  if (outer && isExported && names[0] !== undefined) known.exports.get(known.paths.get(outer) ?? "")?.add(names[0]);
  const steps = path.split("/");
  const sets = names.map((_, at) => {
    const own = steps.slice(0, steps.length - names.length + at + 1).join("/");
    const set = known.exports.get(own) ?? new Set<string>();
    known.exports.set(own, set);
    return set;
  });
  for (const [at, name] of names.slice(1).entries()) sets[at]?.add(name);
  for (const name of exported.flatMap(namesDeclared)) sets.at(-1)?.add(name);
  return sets;
}

function bodyOf(node: FunctionExpression, bodies: readonly NamespaceBody[], mark: string): NamespaceBody | undefined {
  const [first] = node.params;
  if (first?.type !== "Identifier" || !first.name.startsWith(mark)) return undefined;
  return bodies[Number.parseInt(first.name.slice(mark.length), 10)];
}

interface Frame extends Pick<Part, "call" | "statement" | "siblings"> {
  readonly scope: AnyNode;
}

function frameOf(node: FunctionExpression, tree: Tree): Frame | undefined {
  const parens = tree.parentOf(node);
  const call = parens && tree.parentOf(parens);
  const statement = call && tree.parentOf(call);
  const scope = statement && tree.parentOf(statement);
  if (call?.type !== "CallExpression" || !statement) return undefined;
  if (scope?.type !== "Program" && scope?.type !== "BlockStatement") return undefined;
  const siblings = scope.body.flatMap((sibling) => (isVar(sibling) ? [] : namesDeclared(sibling)));
  return { call, statement, scope, siblings: new Set(siblings) };
}

/** `var` may be declared twice. */
function isVar(node: AnyNode): boolean {
  return node.type === "VariableDeclaration" && node.kind === "var";
}

function findExported(
  callee: FunctionExpression,
  body: NamespaceBody,
  toAuthor: (offset: number) => number,
): readonly AnyNode[] {
  const exports = new Set(body.exports);
  return callee.body.body.filter((node) => namesDeclared(node).length > 0 && exports.has(toAuthor(node.start)));
}

function namesDeclared(node: AnyNode): readonly string[] {
  if (node.type === "VariableDeclaration")
    return node.declarations.flatMap(({ id }) => namesOf(id)).map(({ name }) => name);
  const isNamed = node.type === "FunctionDeclaration" || node.type === "ClassDeclaration";
  return isNamed && node.id ? [node.id.name] : [];
}

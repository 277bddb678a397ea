/** Tells names that a program declares itself from globals. Strict-mode rules only; there is no other mode here. */

import type { AnyNode, ArrowFunctionExpression, FunctionDeclaration, FunctionExpression, Identifier } from "acorn";
import type { AnonymousFunctionDeclaration } from "acorn";
import type { Tree } from "./read-tree.ts";

type FunctionNode = ArrowFunctionExpression | FunctionDeclaration | FunctionExpression | AnonymousFunctionDeclaration;

/** The names that a program takes from outside. */
export interface Globals {
  /** Every mention of an undeclared name, in the order of the source. */
  readonly mentions: ReadonlyMap<string, readonly Identifier[]>;
  /** Every `this` that is the global object, because no function of the program gives it another meaning. */
  readonly outerThis: readonly AnyNode[];
}

interface Scope {
  readonly names: Set<string>;
  readonly parent: Scope | undefined;
  /** Whether `var` stops here. */
  readonly hoists: boolean;
  readonly ownThis: boolean;
}

/** Linear in the tree times the nesting of its scopes. */
export function resolveScopes(tree: Tree): Globals {
  const scopes = assignScopes(tree);
  const mentions = new Map<string, Identifier[]>();
  const outerThis: AnyNode[] = [];
  for (const [index, node] of tree.nodes.entries()) {
    const scope = scopes.outer[index];
    if (node.type === "ThisExpression" && !scope?.ownThis) outerThis.push(node);
    if (node.type !== "Identifier" || isDeclared(node.name, scope) || !isMention(node, parentAt(tree, index))) continue;
    const known = mentions.get(node.name);
    if (known) known.push(node);
    else mentions.set(node.name, [node]);
  }
  return { mentions, outerThis };
}

/** Both run parallel to the nodes of the tree. */
interface Scopes {
  /** The scope that a node stands in. */
  readonly outer: readonly (Scope | undefined)[];
  /** The scope that a node opens for what is in it. */
  readonly inner: readonly (Scope | undefined)[];
}

function assignScopes(tree: Tree): Scopes {
  const outer: (Scope | undefined)[] = [];
  const inner: (Scope | undefined)[] = [];
  for (const [index, node] of tree.nodes.entries()) {
    const parentIndex = tree.parents[index] ?? -1;
    const parent = tree.nodes[parentIndex];
    const opened = parent && !standsBefore(node, parent) ? inner[parentIndex] : undefined;
    const scope = opened ?? outer[parentIndex];
    outer.push(scope);
    inner.push(opensScope(node) ? createScope(node, parent, scope) : undefined);
  }
  for (const [index, node] of tree.nodes.entries()) declareNames(node, outer[index], inner[index]);
  return { outer, inner };
}

function parentAt(tree: Tree, index: number): AnyNode | undefined {
  return tree.nodes[tree.parents[index] ?? -1];
}

function createScope(node: AnyNode, parent: AnyNode | undefined, around: Scope | undefined): Scope {
  const isBody = node.type === "BlockStatement" && parent !== undefined && isFunction(parent);
  const hoists = node.type === "Program" || node.type === "StaticBlock" || isBody;
  const givesThis = isFunction(node) && node.type !== "ArrowFunctionExpression";
  const ownThis = givesThis || node.type === "StaticBlock" || node.type === "PropertyDefinition";
  return { names: new Set(), parent: around, hoists, ownThis: ownThis || (around?.ownThis ?? false) };
}

const SCOPE_TYPES: ReadonlySet<string> = new Set([
  "Program",
  "BlockStatement",
  "StaticBlock",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "SwitchStatement",
  "CatchClause",
  "ClassDeclaration",
  "ClassExpression",
  "PropertyDefinition",
]);

function opensScope(node: AnyNode): boolean {
  return SCOPE_TYPES.has(node.type) || isFunction(node);
}

/** What is evaluated before its parent's scope exists: `switch (here)`, and the computed key of a class field. */
function standsBefore(node: AnyNode, parent: AnyNode): boolean {
  if (parent.type === "SwitchStatement") return parent.discriminant === node;
  return parent.type === "PropertyDefinition" && parent.key === node;
}

function isFunction(node: AnyNode): node is FunctionNode {
  const { type } = node;
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

function declareNames(node: AnyNode, outer: Scope | undefined, inner: Scope | undefined): void {
  if (node.type === "VariableDeclaration") {
    const scope = node.kind === "var" ? hoistingScope(outer) : outer;
    for (const { id } of node.declarations) declare(scope, id);
  } else if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
    declare(inner, node.id);
    if (node.type === "ClassDeclaration") declare(outer, node.id);
  } else if (node.type === "CatchClause") {
    declare(inner, node.param);
  } else if (isFunction(node)) {
    for (const param of node.params) declare(inner, param);
    declare(node.type === "FunctionDeclaration" ? outer : inner, node.id);
  }
}

function hoistingScope(from: Scope | undefined): Scope | undefined {
  let scope = from;
  while (scope && !scope.hoists) scope = scope.parent;
  return scope;
}

/** Adds every name that a pattern binds. */
function declare(scope: Scope | undefined, pattern: AnyNode | null | undefined): void {
  const open: (AnyNode | null | undefined)[] = [pattern];
  while (open.length > 0) {
    const node = open.pop();
    if (node?.type === "Identifier") scope?.names.add(node.name);
    else for (const part of partsOf(node)) open.push(part);
  }
}

function partsOf(pattern: AnyNode | null | undefined): readonly (AnyNode | null)[] {
  if (pattern?.type === "ObjectPattern") return pattern.properties;
  if (pattern?.type === "ArrayPattern") return pattern.elements;
  if (pattern?.type === "Property") return [pattern.value];
  if (pattern?.type === "AssignmentPattern") return [pattern.left];
  return pattern?.type === "RestElement" ? [pattern.argument] : [];
}

function isDeclared(name: string, from: Scope | undefined): boolean {
  for (let scope = from; scope; scope = scope.parent) if (scope.names.has(name)) return true;
  return false;
}

/** Their identifiers are labels, keywords or the names of imported things. */
const NAMING_TYPES: ReadonlySet<string> = new Set([
  "LabeledStatement",
  "BreakStatement",
  "ContinueStatement",
  "MetaProperty",
  "ImportSpecifier",
  "ImportDefaultSpecifier",
  "ImportNamespaceSpecifier",
  "ImportAttribute",
  "ExportSpecifier",
  "ExportAllDeclaration",
]);

/** False where an identifier names a property or a label and stands for no variable. */
function isMention(node: Identifier, parent: AnyNode | undefined): boolean {
  if (!parent) return true;
  if (parent.type === "MemberExpression") return parent.computed || parent.property !== node;
  if (parent.type === "Property" || parent.type === "MethodDefinition" || parent.type === "PropertyDefinition") {
    return parent.computed || parent.key !== node;
  }
  return !NAMING_TYPES.has(parent.type);
}

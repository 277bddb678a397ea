/** Scope resolution: separates the names that a program declares from globals. Strict mode only. */

import type { AnyNode, ArrowFunctionExpression, FunctionDeclaration, FunctionExpression, Identifier } from "acorn";
import type { AnonymousFunctionDeclaration } from "acorn";
import { withoutParens } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";

export type FunctionNode =
  | ArrowFunctionExpression
  | FunctionDeclaration
  | FunctionExpression
  | AnonymousFunctionDeclaration;

export interface NameBinding {
  /** The declaring nodes: a declarator, a function (for its name or a parameter), a class, a catch clause. */
  readonly declarers: readonly AnyNode[];
  /** Its uses in source order, without its declarations. */
  readonly mentions: readonly Identifier[];
}

export interface ProgramNames {
  /** Every mention of an undeclared name, in source order. */
  readonly mentions: ReadonlyMap<string, readonly Identifier[]>;
  /** Every `this` that is the global object. */
  readonly outerThis: readonly AnyNode[];
  /** Returns the binding of an identifier, also in its declaration; `undefined` for globals and property names. */
  bindingOf(node: AnyNode): NameBinding | undefined;
  /** Returns the initial value, function or class of a name that is declared once; `undefined` for a parameter. */
  valueOf(node: AnyNode): AnyNode | undefined;
}

interface OpenBinding {
  readonly declarers: AnyNode[];
  readonly mentions: Identifier[];
}

interface LexicalScope {
  readonly names: Map<string, OpenBinding>;
  readonly parent: LexicalScope | undefined;
  /** Whether `var` stops here. */
  readonly hoists: boolean;
  readonly ownThis: boolean;
}

/** Takes time linear in the tree times the depth of its scopes. */
export function resolveScopes(tree: Tree): ProgramNames {
  const scopes = assignScopes(tree);
  const bindings = declareAll(tree, scopes);
  const mentions = new Map<string, Identifier[]>();
  const outerThis: AnyNode[] = [];
  for (const [index, node] of tree.nodes.entries()) {
    const scope = scopes.outer[index];
    if (node.type === "ThisExpression" && !scope?.ownThis) outerThis.push(node);
    if (node.type !== "Identifier" || bindings.has(node)) continue;
    if (!isMention(node, tree.nodes[tree.parents[index] ?? -1])) continue;
    const binding = findBinding(node.name, scope);
    const known = binding?.mentions ?? mentions.get(node.name);
    if (binding) bindings.set(node, binding);
    if (known) known.push(node);
    else mentions.set(node.name, [node]);
  }
  return {
    mentions,
    outerThis,
    bindingOf: (node) => bindings.get(node),
    valueOf: (node) => (node.type === "Identifier" ? valueOf(node.name, bindings.get(node)) : undefined),
  };
}

function valueOf(name: string, binding: NameBinding | undefined): AnyNode | undefined {
  const [declarer] = binding?.declarers ?? [];
  if (binding?.declarers.length !== 1 || !declarer) return undefined;
  if (declarer.type === "VariableDeclarator") {
    return declarer.id.type === "Identifier" && declarer.init ? withoutParens(declarer.init) : undefined;
  }
  return "id" in declarer && declarer.id?.type === "Identifier" && declarer.id.name === name ? declarer : undefined;
}

/** The arrays are parallel to the nodes of the tree. */
interface Scopes {
  /** The scope around a node. */
  readonly outer: readonly (LexicalScope | undefined)[];
  /** The scope that a node opens for its children. */
  readonly inner: readonly (LexicalScope | undefined)[];
}

function assignScopes(tree: Tree): Scopes {
  const outer: (LexicalScope | undefined)[] = [];
  const inner: (LexicalScope | undefined)[] = [];
  for (const [index, node] of tree.nodes.entries()) {
    const parentIndex = tree.parents[index] ?? -1;
    const parent = tree.nodes[parentIndex];
    const opened = parent && !standsBefore(node, parent) ? inner[parentIndex] : undefined;
    const scope = opened ?? outer[parentIndex];
    outer.push(scope);
    inner.push(opensScope(node) ? createScope(node, parent, scope) : undefined);
  }
  return { outer, inner };
}

/** Returns the bindings of all identifiers that declare something. */
function declareAll(tree: Tree, { outer, inner }: Scopes): Map<AnyNode, OpenBinding> {
  const bindings = new Map<AnyNode, OpenBinding>();
  for (const [index, node] of tree.nodes.entries()) {
    for (const [scope, pattern, declarer] of declarationsOf(node, outer[index], inner[index])) {
      for (const id of scope && pattern ? namesOf(pattern) : []) {
        const binding = scope?.names.get(id.name) ?? { declarers: [], mentions: [] };
        binding.declarers.push(declarer);
        scope?.names.set(id.name, binding);
        bindings.set(id, binding);
      }
    }
  }
  return bindings;
}

function createScope(node: AnyNode, parent: AnyNode | undefined, around: LexicalScope | undefined): LexicalScope {
  const isBody = node.type === "BlockStatement" && parent !== undefined && isFunction(parent);
  const hoists = node.type === "Program" || node.type === "StaticBlock" || isBody;
  const givesThis = isFunction(node) && node.type !== "ArrowFunctionExpression";
  const ownThis = givesThis || node.type === "StaticBlock" || node.type === "PropertyDefinition";
  return { names: new Map(), parent: around, hoists, ownThis: ownThis || (around?.ownThis ?? false) };
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

/** Whether a node is evaluated before its parent's scope exists: `switch (here)`, or the computed key of a class field. */
function standsBefore(node: AnyNode, parent: AnyNode): boolean {
  if (parent.type === "SwitchStatement") return parent.discriminant === node;
  return parent.type === "PropertyDefinition" && parent.key === node;
}

/** Any of the three function syntaxes; methods contain one of them. */
export function isFunction(node: AnyNode): node is FunctionNode {
  const { type } = node;
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

type Declaration = readonly [scope: LexicalScope | undefined, pattern: AnyNode | null | undefined, declarer: AnyNode];

const NO_DECLARATIONS: readonly Declaration[] = [];

function declarationsOf(
  node: AnyNode,
  outer: LexicalScope | undefined,
  inner: LexicalScope | undefined,
): readonly Declaration[] {
  if (node.type === "VariableDeclaration") {
    const scope = node.kind === "var" ? hoistingScope(outer) : outer;
    return node.declarations.map((declarator) => [scope, declarator.id, declarator]);
  }
  if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
    // Inside, a class has its name once more; that one is declared without an identifier of its own.
    if (node.id) inner?.names.set(node.id.name, { declarers: [node], mentions: [] });
    return [[node.type === "ClassDeclaration" ? outer : inner, node.id, node]];
  }
  if (node.type === "CatchClause") return [[inner, node.param, node]];
  if (!isFunction(node)) return NO_DECLARATIONS;
  const params = node.params.map((param): Declaration => [inner, param, node]);
  return [...params, [node.type === "FunctionDeclaration" ? outer : inner, node.id, node]];
}

function hoistingScope(from: LexicalScope | undefined): LexicalScope | undefined {
  let scope = from;
  while (scope && !scope.hoists) scope = scope.parent;
  return scope;
}

/** Every name that a pattern binds. */
export function namesOf(pattern: AnyNode): readonly Identifier[] {
  const names: Identifier[] = [];
  const open: (AnyNode | null | undefined)[] = [pattern];
  while (open.length > 0) {
    const node = open.pop();
    if (node?.type === "Identifier") names.push(node);
    else for (const part of partsOf(node)) open.push(part);
  }
  return names;
}

function partsOf(pattern: AnyNode | null | undefined): readonly (AnyNode | null)[] {
  if (pattern?.type === "ObjectPattern") return pattern.properties;
  if (pattern?.type === "ArrayPattern") return pattern.elements;
  if (pattern?.type === "Property") return [pattern.value];
  if (pattern?.type === "AssignmentPattern") return [pattern.left];
  return pattern?.type === "RestElement" ? [pattern.argument] : [];
}

function findBinding(name: string, from: LexicalScope | undefined): OpenBinding | undefined {
  for (let scope = from; scope; scope = scope.parent) {
    const binding = scope.names.get(name);
    if (binding) return binding;
  }
  return undefined;
}

/** Nodes whose identifiers are labels, keywords or imported names. */
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

/** Whether an identifier refers to a variable, and not to a property or a label. */
function isMention(node: Identifier, parent: AnyNode | undefined): boolean {
  if (!parent) return true;
  if (parent.type === "MemberExpression") return parent.computed || parent.property !== node;
  if (parent.type === "Property" || parent.type === "MethodDefinition" || parent.type === "PropertyDefinition") {
    return parent.computed || parent.key !== node;
  }
  return !NAMING_TYPES.has(parent.type);
}

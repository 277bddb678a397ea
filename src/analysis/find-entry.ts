/** Finds the statement that ends a program, its result expressions, and the function that it declares to be called. */

import type { AnyNode, ExportDefaultDeclaration, ExpressionStatement, Program as Root } from "acorn";
import { withoutParens } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";
import { isFunction } from "./resolve-scopes.ts";

/**
 * The last statement except empty ones. Function declarations are hoisted, so the statement that ends the program may be
 * above them.
 */
export function findLastStatement(root: Root): Root["body"][number] | undefined {
  const last = root.body.findLast((node) => node.type !== "EmptyStatement");
  if (!last || !isDeclaredFunction(last)) return last;
  const above = root.body.findLast((node) => node.type !== "EmptyStatement" && !isDeclaredFunction(node));
  if (above?.type === "ExpressionStatement") return above.directive === undefined ? above : last;
  return above && BRANCHING.has(above.type) ? above : last;
}

export function findExported(root: Root): ExportDefaultDeclaration | undefined {
  return root.body.find((node) => node.type === "ExportDefaultDeclaration");
}

/** `void main()` at the end: in Node the process would wait for the work; here the program would end before it. */
export function findDropped(root: Root): AnyNode | undefined {
  const last = findLastStatement(root);
  if (last?.type !== "ExpressionStatement" || last.expression.type !== "UnaryExpression") return undefined;
  const { operator, argument } = last.expression;
  return operator === "void" && withoutParens(argument).type === "CallExpression" ? last.expression : undefined;
}

const BRANCHING: ReadonlySet<string> = new Set(["IfStatement", "TryStatement", "SwitchStatement"]);

function isDeclaredFunction(node: AnyNode): boolean {
  if (node.type === "ExportDefaultDeclaration")
    return isNamed(node.declaration) && isDeclaredFunction(node.declaration);
  return node.type === "FunctionDeclaration";
}

/** Whether there is one statement besides function declarations. */
export function isAlone(root: Root): boolean {
  return root.body.filter((node) => node.type !== "EmptyStatement" && !isDeclaredFunction(node)).length === 1;
}

/** Whether only function declarations follow. */
export function isLastExport(root: Root, exported: ExportDefaultDeclaration): boolean {
  const following = root.body.slice(root.body.indexOf(exported) + 1);
  return following.every((node) => node.type === "FunctionDeclaration" || node.type === "EmptyStatement");
}

/** The function that the program consists of, exports or declares; by default only if it needs no arguments. */
export function findCalledFunction(tree: Tree, accepts: Accepts = isCallable): AnyNode | undefined {
  const { root } = tree;
  const exported = findExported(root);
  const last = findLastStatement(root);
  if (exported && !isNamed(exported.declaration)) {
    const inner = withoutParens(exported.declaration);
    return isLastExport(root, exported) && accepts(inner) ? inner : undefined;
  }
  if (last?.type === "ExpressionStatement") {
    const inner = withoutParens(last.expression);
    return isAlone(root) && accepts(inner) ? inner : undefined;
  }
  return last && findEntry(tree, exported, accepts)?.callee;
}

type Accepts = (node: AnyNode) => boolean;

/** Whether a function needs no arguments. Generators do not count: calling one runs none of its body. */
export function isCallable(node: AnyNode): boolean {
  return isFunction(node) && node.params.every(({ type }) => type === "AssignmentPattern") && !node.generator;
}

/** Whether a declaration is still valid without `export default`. */
export function isNamed(node: AnyNode): boolean {
  return (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && Boolean(node.id);
}

/** A function and the name that the program can call it by. */
export interface DeclaredFunction {
  readonly name: string;
  readonly callee: AnyNode;
  /** The whole declaration; a mention outside it means that the program uses the function itself. */
  readonly whole: AnyNode;
}

/** The function that the program declares but does not call: its default export, `main`, or its only function. */
export function findEntry(
  tree: Tree,
  exported: ExportDefaultDeclaration | undefined,
  accepts: Accepts = isCallable,
): DeclaredFunction | undefined {
  if (!tree.root.body.every((node) => isInert(node))) return undefined;
  const declared = tree.root.body.flatMap(functionsOf);
  const only = declared.length === 1 ? declared[0] : undefined;
  const entry = exported ? functionsOf(exported)[0] : (declared.find(({ name }) => name === "main") ?? only);
  if (!entry || !accepts(entry.callee)) return undefined;
  const { name, whole } = entry;
  const isElsewhere = (node: AnyNode): boolean => node.start < whole.start || node.end > whole.end;
  const mentioned = tree.nodes.some((node) => node.type === "Identifier" && node.name === name && isElsewhere(node));
  return mentioned ? undefined : entry;
}

function functionsOf(node: AnyNode): readonly DeclaredFunction[] {
  if (node.type === "ExportDefaultDeclaration") return functionsOf(node.declaration);
  if (node.type === "FunctionDeclaration") return node.id ? [{ name: node.id.name, callee: node, whole: node }] : [];
  if (node.type !== "VariableDeclaration") return [];
  return node.declarations.flatMap((whole) => {
    const { id, init } = whole;
    const isFunction = init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression";
    return id.type === "Identifier" && isFunction ? [{ name: id.name, callee: init, whole }] : [];
  });
}

/** Whether a statement only declares: it calls, awaits and decides nothing. */
function isInert(node: AnyNode): boolean {
  if (node.type === "ExpressionStatement") return node.directive !== undefined;
  if (node.type === "ExportDefaultDeclaration") return isNamed(node.declaration);
  if (node.type === "VariableDeclaration") return node.declarations.every(({ init }) => !init || isInertValue(init));
  return node.type === "FunctionDeclaration" || node.type === "ClassDeclaration" || node.type === "EmptyStatement";
}

const INERT_VALUES: ReadonlySet<string> = new Set([
  "Literal",
  "Identifier",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

function isInertValue(node: AnyNode): boolean {
  if (node.type === "TemplateLiteral") return node.expressions.length === 0;
  if (node.type === "UnaryExpression") return isInertValue(node.argument);
  if (node.type === "ParenthesizedExpression") return isInertValue(node.expression);
  if (node.type === "ArrayExpression") return node.elements.every((element) => !element || isInertValue(element));
  if (node.type !== "ObjectExpression") return INERT_VALUES.has(node.type);
  return node.properties.every((property) => property.type === "Property" && isInertValue(property.value));
}

/** An expression whose value is the program's result. */
export interface ResultExpression {
  readonly statement: ExpressionStatement;
  /** Inside a `try` whose `catch` must still see a rejection. */
  readonly guarded: boolean;
}

/** Branches nested deeper give no result. */
const MAX_BRANCHES = 50;

/** The result expressions: the last expression of each branch that can end the program. */
export function findResults(root: Root): readonly ResultExpression[] {
  const results: ResultExpression[] = [];
  const open: { readonly node: AnyNode | null | undefined; readonly guarded: boolean; readonly depth: number }[] = [
    { node: findLastStatement(root), guarded: false, depth: 0 },
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, guarded, depth } = next;
    if (node?.type === "ExpressionStatement") results.push({ statement: node, guarded });
    if (!node || depth > MAX_BRANCHES) continue;
    for (const end of endsOf(node))
      open.push({ node: end, guarded: guarded || node.type === "TryStatement", depth: depth + 1 });
  }
  return results.toSorted((a, b) => a.statement.start - b.statement.start);
}

/** The statements that a statement may end with. A loop has none: its last round is unknown. */
function endsOf(node: AnyNode): readonly (AnyNode | null | undefined)[] {
  switch (node.type) {
    case "BlockStatement":
      return [node.body.findLast(({ type }) => type !== "EmptyStatement")];
    case "IfStatement":
      return [node.consequent, node.alternate];
    case "TryStatement":
      return [node.block, node.handler?.body];
    case "SwitchStatement":
      return node.cases.map(({ consequent }, at) => endOfCase(consequent, at === node.cases.length - 1));
    default:
      return [];
  }
}

/** A case ends with the statement before its `break`, also in `{ …; break; }`; one that falls through does not end. */
function endOfCase(statements: readonly AnyNode[], isLast: boolean): AnyNode | undefined {
  const last = statements.at(-1);
  const inner = last?.type === "BlockStatement" ? last.body : statements;
  const end = inner.at(-1);
  if (end?.type === "BreakStatement" && !end.label) return inner.at(-2);
  return isLast ? last : undefined;
}

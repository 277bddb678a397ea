/**
 * Fields that a program computes with and does not check, such as `sum += item.amount`: if one is missing, the result has
 * `null`, `NaN` or the text "undefined" somewhere. Also values that a function drops in its last line, where `return` is
 * missing: `rows.map((row) => { row.name })`.
 */

import type { AnyNode } from "acorn";
import type { SourcePosition } from "../locate.ts";
import { calledTool, withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { staticName } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import type { FunctionNode } from "../resolve-scopes.ts";
import { functionAround } from "../surroundings.ts";
import { showExpression, traceRead } from "./trace-read.ts";
import type { ProgramRead } from "./trace-read.ts";

const MAX_READS = 20;
const ITEM = "*";

type PlaceOf = (offset: number) => SourcePosition;

export function findLooseReads(syntax: ProgramSyntax, locate: PlaceOf): readonly ProgramRead[] {
  const loose = { path: [], beside: [], isLoose: true } as const;
  const found: ProgramRead[] = [];
  let checked: ReadonlySet<string> | undefined;
  for (const node of syntax.tree.nodes) {
    if (found.length >= MAX_READS) break;
    const dropped = isFunction(node) ? droppedBy(node, syntax) : undefined;
    if (dropped) found.push({ ...loose, ...showExpression(dropped, syntax, locate) });
    if (!isComputedWith(node, syntax)) continue;
    const traced = traceRead(node, syntax);
    if (!traced || traced.steps.length === 0 || traced.steps.at(-1) === ITEM) continue;
    checked ??= findChecked(syntax);
    if (!checked.has(textOf(node, syntax)))
      found.push({ ...loose, ...traced, ...showExpression(node, syntax, locate) });
  }
  return found;
}

const textOf = (node: AnyNode, { source, toAuthor }: ProgramSyntax): string =>
  source.slice(toAuthor(node.start), toAuthor(node.end));

const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%", "**"]);
const GIVES_BACK: ReadonlySet<string> = new Set(["map", "flatMap"]);
const TAKES: ReadonlySet<string> = new Set(["push", "unshift", "set", "add", "join", "Number", "String", "parseFloat"]);

/** Whether `undefined` would become a part of the result here, or a number or text that is wrong. */
function isComputedWith(node: AnyNode, syntax: ProgramSyntax): boolean {
  if (node.type !== "MemberExpression" && node.type !== "Identifier") return false;
  const parent = syntax.tree.parentOf(node);
  switch (parent?.type) {
    case "TemplateLiteral":
      return syntax.tree.parentOf(parent)?.type !== "TaggedTemplateExpression";
    case "BinaryExpression":
      return ARITHMETIC.has(parent.operator);
    case "AssignmentExpression":
      return parent.right === node && parent.operator !== "=" && !parent.operator.endsWith("?=");
    case "MemberExpression":
      return parent.computed && parent.property === node;
    case "Property":
      return parent.computed && parent.key === node;
    case "ArrayExpression":
      return true;
    case "CallExpression":
      return parent.callee !== node && TAKES.has(nameOf(parent.callee)) && calledTool(parent, syntax) === undefined;
    case "ReturnStatement":
      return isGivenBack(functionAround(syntax.around(parent)), syntax);
    case "ArrowFunctionExpression":
      return parent.body === node && isGivenBack(parent, syntax);
    default:
      return false;
  }
}

function nameOf(callee: AnyNode): string {
  const inner = withoutChain(callee);
  if (inner.type === "Identifier") return inner.name;
  return inner.type === "MemberExpression" ? (staticName(inner.property, inner.computed) ?? "") : "";
}

function isGivenBack(callback: FunctionNode | undefined, { tree }: ProgramSyntax): boolean {
  const call = callback && tree.parentOf(callback);
  return call?.type === "CallExpression" && call.arguments[0] === callback && GIVES_BACK.has(nameOf(call.callee));
}

const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "===", "!==", "in", "instanceof"]);

/** The texts of all expressions that the program tests, compares or has a default for. */
function findChecked(syntax: ProgramSyntax): ReadonlySet<string> {
  const checked = new Set<string>();
  const add = (...nodes: readonly (AnyNode | null | undefined)[]): void => {
    for (const node of nodes) if (node) checked.add(textOf(withoutChain(node), syntax));
  };
  for (const node of syntax.tree.nodes) {
    if (node.type === "IfStatement" || node.type === "ConditionalExpression") add(node.test);
    if (node.type === "WhileStatement" || node.type === "DoWhileStatement") add(node.test);
    if (node.type === "LogicalExpression") add(node.left, node.right);
    if (node.type === "UnaryExpression") add(node.argument);
    if (node.type === "BinaryExpression" && COMPARISONS.has(node.operator)) add(node.left, node.right);
  }
  return checked;
}

/** Methods that only compute a value from an array, an object or a string. */
const COMPUTING: ReadonlySet<string> = new Set(
  "map filter reduce flatMap slice concat join find some every includes keys values entries toSorted trim toUpperCase toLowerCase toFixed".split(
    " ",
  ),
);

/** The value in the last line of a function that returns nothing. */
function droppedBy(node: FunctionNode, syntax: ProgramSyntax): AnyNode | undefined {
  if (node.body.type !== "BlockStatement" || node.generator) return undefined;
  const last = node.body.body.at(-1);
  if (last?.type !== "ExpressionStatement" || last.directive !== undefined || !isOnlyValue(last.expression))
    return undefined;
  const { tree, around } = syntax;
  const returns = tree
    .within(node)
    .some((one) => one.type === "ReturnStatement" && one.argument && functionAround(around(one)) === node);
  return returns ? undefined : last.expression;
}

function isOnlyValue(expression: AnyNode): boolean {
  const inner = withoutChain(expression);
  switch (inner.type) {
    case "MemberExpression":
    case "BinaryExpression":
    case "TemplateLiteral":
    case "ObjectExpression":
    case "ArrayExpression":
    case "Identifier":
      return true;
    case "CallExpression":
      return withoutChain(inner.callee).type === "MemberExpression" && COMPUTING.has(nameOf(inner.callee));
    default:
      return false;
  }
}

/**
 * Follows a value back to the tool that it came from, where its type does not tell: a string, a number, an array, or a copy
 * made with spread. Stops at everything that the program itself claims about types, and at variables that are assigned again.
 */

import { SyntaxKind } from "typescript/unstable/ast";
import type { CallExpression, Node } from "typescript/unstable/ast";
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAwaitExpression,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isForOfStatement,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isNonNullExpression,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isReturnStatement,
  isSpreadAssignment,
  isSpreadElement,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

import type { ApiDiagnostic } from "./judge.ts";
import type { Origin } from "./origin.ts";
import { isFunctionLike, isReassigned } from "./tree.ts";

export type OriginContext = Pick<ApiDiagnostic, "file" | "origins">;

/** A longer way than any program takes; it also ends a circle of functions. */
const MAX_STEPS = 24;

/** Returns the tool that the value, or what it was made from, came from. */
export function traceOrigin(value: Node, context: OriginContext, steps = MAX_STEPS): Origin | undefined {
  if (steps <= 0) return undefined;
  const { origins } = context;
  const node = bare(value);
  const trace = (from: Node | undefined): Origin | undefined => from && traceOrigin(from, context, steps - 1);
  const known = origins.ofType(origins.typeOf(node)) ?? (isIdentifier(node) ? undefined : origins.ofName(node));
  if (known?.kind === "value") return known;
  if (isIdentifier(node)) return isReassigned(node, context.file) ? undefined : trace(sourceOf(node, context));
  if (isPropertyAccessExpression(node) || isElementAccessExpression(node)) return trace(node.expression);
  if (isCallExpression(node)) return traceCall(node, context, trace);
  const parts = isObjectLiteralExpression(node) ? node.properties : isArrayLiteralExpression(node) ? node.elements : [];
  return firstOf<Node>(parts, (part) =>
    isSpreadAssignment(part) || isSpreadElement(part) ? trace(part.expression) : undefined,
  );
}

/** Without parentheses, `await` and `!`. */
export function bare(value: Node): Node {
  let node = value;
  while (isParenthesizedExpression(node) || isAwaitExpression(node) || isNonNullExpression(node))
    node = node.expression;
  return node;
}

/** What a name of the program holds, or holds a part of; `undefined` if the program declares its type. */
export function sourceOf(name: Node, { origins }: Pick<OriginContext, "origins">): Node | undefined {
  let declared = origins.declarationOf(name);
  while (declared && isBindingElement(declared)) declared = declared.initializer ? undefined : declared.parent.parent;
  if (!declared) return undefined;
  if (isParameterDeclaration(declared)) return declared.type ? undefined : subjectOf(declared.parent);
  if (!isVariableDeclaration(declared) || declared.type) return undefined;
  const loop = declared.parent.parent;
  return isForOfStatement(loop) && loop.initializer === declared.parent ? loop.expression : declared.initializer;
}

/** The list whose items a callback gets: `list.map((item) => …)`, `sortBy(list, (item) => …)`. */
function subjectOf(callback: Node): Node | undefined {
  const call = callback.parent;
  if (!call || !isCallExpression(call) || !call.arguments.some((argument) => argument === callback)) return undefined;
  const { expression: callee } = call;
  if (isPropertyAccessExpression(callee)) return callee.expression;
  return call.arguments[0] === callback ? undefined : call.arguments[0];
}

/** A tool, a function of the program by what it returns, or a function of the language or a helper by its arguments. */
function traceCall(
  call: CallExpression,
  context: OriginContext,
  trace: (from: Node | undefined) => Origin | undefined,
): Origin | undefined {
  const { origins } = context;
  const { expression: callee } = call;
  const tool = origins.ofType(origins.typeOf(callee));
  if (tool?.kind === "tool") return { kind: "value", address: tool.address };
  const own = isIdentifier(callee) ? origins.declarationOf(callee) : undefined;
  if (own) {
    const results = resultsOf(isVariableDeclaration(own) ? own.initializer : own);
    const traced = results.map((result) => trace(result));
    return traced.every((origin) => origin !== undefined) ? traced[0] : undefined;
  }
  if (call.arguments.some((argument) => hasTypes(argument))) return undefined;
  const made = isPropertyAccessExpression(callee) ? trace(callee.expression) : undefined;
  return made ?? firstOf(call.arguments, (argument) => trace(isFunctionLike(argument) ? undefined : argument));
}

/** The expressions that a function returns; none if it declares what it returns. */
function resultsOf(callee: Node | undefined): readonly Node[] {
  if (!callee || !(isArrowFunction(callee) || isFunctionExpression(callee) || isFunctionDeclaration(callee))) return [];
  if (callee.type || !callee.body) return [];
  if (isArrowFunction(callee) && callee.body.kind !== SyntaxKind.Block) return [callee.body];
  const results: Node[] = [];
  const visit = (node: Node): void => {
    if (isFunctionLike(node)) return;
    if (isReturnStatement(node) && node.expression) results.push(node.expression);
    node.forEachChild((child) => visit(child));
  };
  callee.body.forEachChild((child) => visit(child));
  return results;
}

/** Whether a callback declares types, which may be wrong. */
function hasTypes(argument: Node): boolean {
  const isTyped = isArrowFunction(argument) || isFunctionExpression(argument);
  return isTyped && (argument.type !== undefined || argument.parameters.some(({ type }) => type !== undefined));
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => Origin | undefined): Origin | undefined {
  for (const item of items) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}

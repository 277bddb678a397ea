/** Helpers for the compiler's syntax tree: positions, enclosing calls, tests and assignments. */

import { SyntaxKind, getTokenAtPosition } from "typescript/unstable/ast";
import type {
  CallExpression,
  NewExpression,
  Node,
  PropertyAccessExpression,
  SourceFile,
} from "typescript/unstable/ast";
import {
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isDoStatement,
  isElementAccessExpression,
  isForStatement,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isIfStatement,
  isMethodDeclaration,
  isNewExpression,
  isObjectLiteralExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isBindingElement,
  isParameterDeclaration,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isVariableDeclaration,
  isWhileStatement,
} from "typescript/unstable/ast/is";

export type CallLike = CallExpression | NewExpression;

/** The largest node that covers exactly this range, or the token at its start. */
export function nodeAt(file: SourceFile, start: number, end: number): Node {
  let node = getTokenAtPosition(file, start);
  while (node.parent.kind !== SyntaxKind.SourceFile && node.parent.getStart(file) === start && node.parent.end <= end) {
    node = node.parent;
  }
  return node;
}

export function textOf(node: Node, file: SourceFile): string {
  return file.text.slice(node.getStart(file), node.end);
}

export function isFunctionLike(node: Node): boolean {
  return (
    isArrowFunction(node) || isFunctionExpression(node) || isFunctionDeclaration(node) || isMethodDeclaration(node)
  );
}

/** The nearest enclosing call; stops at the body of a function. */
export function callAround(node: Node): CallLike | undefined {
  for (let at = node; at.parent && at.kind !== SyntaxKind.SourceFile; at = at.parent) {
    if (isFunctionLike(at)) return undefined;
    if (isCallExpression(at) || isNewExpression(at)) return at;
  }
  return undefined;
}

/** The node with the parentheses around it. */
export function outermost(node: Node): Node {
  return isParenthesizedExpression(node.parent) ? outermost(node.parent) : node;
}

/** Whether the expression is assigned to, not read. */
export function isAssigned(node: Node): boolean {
  const { parent } = node;
  if (parent.kind === SyntaxKind.DeleteExpression) return true;
  return isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === SyntaxKind.EqualsToken;
}

const GUARDS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.BarBarToken,
  SyntaxKind.QuestionQuestionToken,
  SyntaxKind.AmpersandAmpersandToken,
]);

/** Whether the program handles the absence of the value: `a.b ?? c`, `a.b?.c`, `if (a.b)`, `typeof a.b`. */
export function isGuarded(access: Node): boolean {
  const node = outermost(access);
  const { parent } = node;
  if (isPropertyAccessExpression(parent) || isElementAccessExpression(parent) || isCallExpression(parent)) {
    return parent.expression === node && parent.questionDotToken !== undefined;
  }
  if (isBinaryExpression(parent)) return GUARDS.has(parent.operatorToken.kind) || isComparedWithNothing(parent);
  return isTested(node, parent);
}

function isTested(node: Node, parent: Node): boolean {
  if (parent.kind === SyntaxKind.TypeOfExpression) return true;
  if (parent.kind === SyntaxKind.PrefixUnaryExpression) return textOf(parent, parent.getSourceFile()).startsWith("!");
  if (isConditionalExpression(parent) || isForStatement(parent)) return parent.condition === node;
  return (isIfStatement(parent) || isWhileStatement(parent) || isDoStatement(parent)) && parent.expression === node;
}

function isComparedWithNothing(comparison: Node): boolean {
  return /(?:===?|!==?)\s*(?:undefined|null)$|^(?:undefined|null)\s*(?:===?|!==?)/.test(
    textOf(comparison, comparison.getSourceFile()),
  );
}

/** The variable that a value is assigned to here: `const x = …`, `x = …`. */
export function variableFor(value: Node): string | undefined {
  const node = outermost(value);
  const { parent } = node;
  if (isVariableDeclaration(parent) && parent.initializer === node) {
    return isIdentifier(parent.name) ? parent.name.text : undefined;
  }
  const isGiven = isBinaryExpression(parent) && parent.right === node && isAssigned(parent.left);
  return isGiven && isIdentifier(parent.left) ? parent.left.text : undefined;
}

/** Whether the program tests a variable of this name somewhere within `root`. */
export function isTestedByName(name: string, root: Node): boolean {
  return some(root, (node) => isIdentifier(node) && node.text === name && isGuarded(node));
}

/** Whether the node, or a node in it, passes the test. */
export function some(root: Node, test: (node: Node) => boolean): boolean {
  return test(root) || root.forEachChild((child) => some(child, test) || undefined) === true;
}

/** From `a` to `a.b.c`, if `a.b.c(…)` is called. */
export function calledChain(root: Node): PropertyAccessExpression | undefined {
  let chain = root;
  while (isPropertyAccessExpression(chain.parent) && chain.parent.expression === chain) chain = chain.parent;
  const isCalled = isCallExpression(chain.parent) && chain.parent.expression === chain;
  return isCalled && isPropertyAccessExpression(chain) ? chain : undefined;
}

/** Names of properties that the program adds to objects: `row.total = 1`, `Object.assign(row, { total: 1 })`. */
export function namesGiven(file: SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: Node): void => {
    if (isPropertyAccessExpression(node) && isAssigned(node)) names.add(node.name.text);
    if (isElementAccessExpression(node) && isAssigned(node) && isStringLiteral(node.argumentExpression)) {
      names.add(node.argumentExpression.text);
    }
    const isAssign = isCallExpression(node) && textOf(node.expression, file) === "Object.assign";
    const literals = isAssign ? node.arguments.filter((argument) => isObjectLiteralExpression(argument)) : [];
    for (const part of literals.flatMap(({ properties }) => [...properties])) {
      if (isPropertyAssignment(part) || isShorthandPropertyAssignment(part)) names.add(part.name.getText(file));
    }
    node.forEachChild((child) => visit(child));
  };
  visit(file);
  return names;
}

/** Whether the program writes properties whose names it computes: then an object may have any. */
export function writesComputed(file: SourceFile): boolean {
  return some(
    file,
    (node) => isElementAccessExpression(node) && isAssigned(node) && !isStringLiteral(node.argumentExpression),
  );
}

/** Whether the variable at the root of an expression is assigned again, so that its type is unknown. */
export function isReassigned(expression: Node, file: SourceFile): boolean {
  const root = rootOf(expression);
  if (root.kind !== SyntaxKind.Identifier) return false;
  const name = textOf(root, file);
  return some(file, (node) => isIdentifier(node) && isAssigned(node) && textOf(node, file) === name);
}

function rootOf(node: Node): Node {
  if (isShorthandPropertyAssignment(node)) return node.name;
  const isStep =
    isPropertyAccessExpression(node) ||
    isElementAccessExpression(node) ||
    isCallExpression(node) ||
    isParenthesizedExpression(node);
  return isStep ? rootOf(node.expression) : node;
}

export function countMentions(file: SourceFile, name: string): number {
  let count = 0;
  some(file, (node) => {
    if (isIdentifier(node) && textOf(node, file) === name) count += 1;
    return false;
  });
  return count;
}

/** The initializer of a variable, a parameter, a property or a part of a pattern. */
export function initializerOf(node: Node): Node | undefined {
  if (isVariableDeclaration(node) || isBindingElement(node) || isPropertyAssignment(node)) return node.initializer;
  return isParameterDeclaration(node) ? node.initializer : undefined;
}

/** A promise used as if it were its value, and the fix that awaits it. */

import { SyntaxKind } from "typescript/unstable/ast";
import type { Node, SourceFile } from "typescript/unstable/ast";
import {
  isArrayBindingPattern,
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

import { defined } from "../../domain/index.ts";
import type { Fix, Mistake } from "../wire.ts";
import type { ApiDiagnostic } from "./judge.ts";
import type { Origins } from "./origin.ts";
import { initializerOf, isFunctionLike, textOf } from "./tree.ts";

const SHOWN_CHARS = 60;

/** `name` is the property that the program reads, if any. */
export function createAwaitMistake(
  promise: Node,
  { file, origins }: Pick<ApiDiagnostic, "file" | "origins">,
  name = "",
): Mistake {
  const shown = textOf(promise, file).replace(/\s+/gu, " ");
  const detail = shown.length > SHOWN_CHARS ? `${shown.slice(0, SHOWN_CHARS)}…` : shown;
  const origin = isCallExpression(promise) ? origins.ofType(origins.typeOf(promise.expression)) : undefined;
  return defined({
    kind: "missing-await" as const,
    start: promise.getStart(file),
    name,
    detail,
    doubtful: false,
    tool: origin?.kind === "tool" ? origin.address : undefined,
    fix: findFix(promise, file, origins),
  });
}

/** At the declaration if a variable holds the promise, otherwise around the expression. */
function findFix(promise: Node, file: SourceFile, origins: Origins): Fix | undefined {
  const declared = isIdentifier(promise) ? origins.declarationOf(promise) : undefined;
  const made = declared && isVariableDeclaration(declared) ? declared.initializer : undefined;
  const all = declared && listAround(declared, origins);
  if (all && mayAwait(all)) {
    return { start: all.getStart(file), end: all.end, text: `await Promise.all(${textOf(all, file)})` };
  }
  const target = made && origins.isPromise(origins.typeOf(made)) ? made : promise;
  if (!mayAwait(target)) return undefined;
  const [start, text] = [target.getStart(file), textOf(target, file)];
  const isWhole = target === made || isLoose(target);
  return { start, end: target.end, text: isWhole ? `await ${text}` : `(await ${text})` };
}

/** `ids.map(async …)` of `const list = ids.map(async …)`, if this is a parameter of a callback of `list`. */
function listAround(parameter: Node, origins: Origins): Node | undefined {
  const callback = isParameterDeclaration(parameter) ? parameter.parent : undefined;
  const call = callback?.parent;
  if (!callback || !call || !isCallExpression(call) || call.arguments[0] !== callback) return undefined;
  const { expression: method } = call;
  const list = isPropertyAccessExpression(method) ? method.expression : undefined;
  const declared = list && isIdentifier(list) ? origins.declarationOf(list) : undefined;
  const made = declared && isVariableDeclaration(declared) ? declared.initializer : undefined;
  return made && isCallExpression(made) ? made : undefined;
}

/** Whether `await` needs no parentheses here. */
function isLoose(node: Node): boolean {
  const { parent } = node;
  if (isCallExpression(parent)) return parent.expression !== node;
  return LOOSE.has(parent.kind);
}

const LOOSE: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ArrayLiteralExpression,
  SyntaxKind.ForOfStatement,
  SyntaxKind.ParenthesizedExpression,
  SyntaxKind.PropertyAssignment,
  SyntaxKind.ReturnStatement,
  SyntaxKind.VariableDeclaration,
]);

/** Whether the node is at the top level or in an async function. */
function mayAwait(node: Node): boolean {
  for (let at: Node | undefined = node.parent; at; at = at.parent) {
    if (isFunctionLike(at)) return /^(?:static\s+)?async\b/u.test(textOf(at, at.getSourceFile()));
  }
  return true;
}

/** `for (const x of …)`, `[...x]`, `const [a] = …` with a value that is not iterable. */
export function judgeIteration({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const pattern = isArrayBindingPattern(node) ? initializerOf(node.parent) : undefined;
  const subject = pattern ?? node;
  const type = origins.typeOf(subject);
  if (origins.isPromise(type)) return createAwaitMistake(subject, { file, origins });
  const origin = origins.ofType(type);
  if (origin?.kind !== "value") return undefined;
  const detail = textOf(subject, file);
  const tool = origin.address === "" ? undefined : origin.address;
  return defined({
    kind: "not-iterable" as const,
    start: subject.getStart(file),
    name: detail,
    detail,
    doubtful: false,
    tool,
  });
}

/** Arithmetic and comparisons: only a promise is a mistake; dates and mixed operands are allowed. */
export function judgeOperand({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const operands = isBinaryExpression(node) ? [node.left, node.right] : [node];
  const promise = operands.find((operand) => origins.isPromise(origins.typeOf(operand)));
  return promise && !isArrowFunction(promise) ? createAwaitMistake(promise, { file, origins }) : undefined;
}

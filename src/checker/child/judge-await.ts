/** A promise used as if it were its value, and the text that awaits it. */

import { SyntaxKind } from "typescript/unstable/ast";
import type { Node, SourceFile } from "typescript/unstable/ast";
import {
  isArrayBindingPattern,
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

import type { Fix, Mistake } from "../wire.ts";
import type { ApiDiagnostic } from "./judge.ts";
import type { Origins } from "./origin.ts";
import { initializerOf, isFunctionLike, startOf, textOf } from "./tree.ts";

interface AwaitContext {
  readonly file: SourceFile;
  readonly origins: Origins;
  /** What the program wanted from the value. */
  readonly name: string;
}

const SHOWN_CHARS = 60;

export function createAwaitMistake(promise: Node, { file, origins, name }: AwaitContext): Mistake {
  const shown = textOf(promise, file).replace(/\s+/gu, " ");
  const detail = shown.length > SHOWN_CHARS ? `${shown.slice(0, SHOWN_CHARS)}…` : shown;
  const fix = findFix(promise, file, origins);
  const tool = toolOf(promise, origins);
  return {
    kind: "missing-await",
    start: startOf(promise, file),
    name,
    detail,
    doubtful: false,
    ...(tool !== undefined && { tool }),
    ...(fix && { fix }),
  };
}

function toolOf(promise: Node, origins: Origins): string | undefined {
  if (!isCallExpression(promise)) return undefined;
  const origin = origins.ofType(origins.typeOf(promise.expression));
  return origin?.kind === "tool" ? origin.address : undefined;
}

/** At the declaration when a variable holds the promise, else around the expression. */
function findFix(promise: Node, file: SourceFile, origins: Origins): Fix | undefined {
  const declared = isIdentifier(promise) ? origins.declarationOf(promise) : undefined;
  const made = declared && isVariableDeclaration(declared) ? declared.initializer : undefined;
  const target = made && origins.isPromise(origins.typeOf(made)) ? made : promise;
  if (!mayAwait(target)) return undefined;
  const [start, text] = [startOf(target, file), textOf(target, file)];
  const isWhole = target === made || isLoose(target);
  return { start, end: target.end, text: isWhole ? `await ${text}` : `(await ${text})` };
}

/** Where `await` needs no parentheses. */
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

/** At the top of a program, or in an async function. */
function mayAwait(node: Node): boolean {
  for (let at: Node | undefined = node.parent; at; at = at.parent) {
    if (isFunctionLike(at)) return /^(?:static\s+)?async\b/u.test(textOf(at, at.getSourceFile()));
  }
  return true;
}

/** `for (const x of …)`, `[...x]`, `const [a] = …` over something that has no order. */
export function judgeIteration({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const pattern = isArrayBindingPattern(node) ? initializerOf(node.parent) : undefined;
  const subject = pattern ?? node;
  const type = origins.typeOf(subject);
  if (origins.isPromise(type)) return createAwaitMistake(subject, { file, origins, name: "" });
  const origin = origins.ofType(type);
  if (origin?.kind !== "value") return undefined;
  const detail = textOf(subject, file);
  const tool = origin.address === "" ? {} : { tool: origin.address };
  return { kind: "not-iterable", start: startOf(subject, file), name: detail, detail, doubtful: false, ...tool };
}

/** Sums and comparisons: only a promise is a mistake, dates and mixed operands are the program's own affair. */
export function judgeOperand({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const operands = isBinaryExpression(node) ? [node.left, node.right] : [node];
  const promise = operands.find((operand) => origins.isPromise(origins.typeOf(operand)));
  return promise && !isArrowFunction(promise) ? createAwaitMistake(promise, { file, origins, name: "" }) : undefined;
}

/** A field of a string, number or boolean, which has none; most often `r.content[0].text` where `content` is one string. */

import { SyntaxKind } from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import {
  isArrayBindingPattern,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isForOfStatement,
  isIdentifier,
  isNumericLiteral,
  isPropertyAccessExpression,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

import { defined } from "../../domain/index.ts";
import type { Fix, Mistake } from "../wire.ts";
import { bare, sourceOf } from "./trace.ts";
import type { OriginContext } from "./trace.ts";
import { outermost, some, textOf } from "./tree.ts";

const SHOWN_CHARS = 60;
const MAX_STEPS = 8;
const CHARACTER_METHODS: ReadonlySet<string> = new Set(["at", "charAt"]);

interface PrimitiveRead {
  readonly primitive: string;
  readonly receiver: Node;
  /** The whole expression that reads the field, unless a pattern does. */
  readonly access: Node | undefined;
}

/** Says what the value is, and which expression is the whole string if the value is one character of it. */
export function describePrimitive(
  mistake: Mistake,
  { primitive, receiver, access }: PrimitiveRead,
  context: OriginContext,
): Mistake {
  const { file } = context;
  const show = (node: Node): string => {
    const text = textOf(node, file).replace(/\s+/gu, " ");
    if (text.length <= SHOWN_CHARS) return text;
    return isPropertyAccessExpression(node) ? `(…).${node.name.text}` : `${text.slice(0, SHOWN_CHARS)}…`;
  };
  const found = primitive === "string" ? findString(receiver, context, MAX_STEPS) : undefined;
  if (!found) {
    const detail = `${show(receiver)} is a ${primitive} and`;
    const isWhole = primitive === "string" && !isFromPattern(receiver, context);
    return isWhole
      ? defined({ ...mistake, detail, advice: advise(show(receiver), mistake.name) })
      : { ...mistake, detail };
  }
  const { whole, isLoop, isComputed } = found;
  const detail = `${show(whole)} is a string, so ${show(receiver)} is one character and`;
  // The whole string in the place of a character would be compared with something else, or read in every round.
  if (isComputed || (access && isCompared(access))) {
    return defined({ ...mistake, detail, advice: advise(show(whole), isComputed ? "map" : mistake.name) });
  }
  const by = (node: Node, text: string): Fix => ({ start: node.getStart(file), end: node.end, text });
  // A call that stands elsewhere must not be made again.
  const isCopied = access !== undefined && (whole.pos < access.pos || whole.end > access.end);
  const isFixed = isLoop || !isCopied || !some(whole, (part) => isCallExpression(part));
  const fix = access && isFixed ? by(access, textOf(isLoop ? receiver : whole, file)) : undefined;
  const loopFix = isLoop ? by(whole, `${textOf(whole, file)}.split("\\n")`) : undefined;
  return defined({ ...mistake, detail, fix, loopFix });
}

/** Methods of arrays: the program takes the string for an array. */
const OF_ARRAYS: ReadonlySet<string> = new Set(
  "map filter forEach find findIndex findLast some every reduce flatMap flat push pop shift sort toSorted reverse join entries keys values".split(
    " ",
  ),
);
const PATH = /^[\w$.?]+$/u;

/** Results of tools are often one text; what a program should do with it depends on what is in it. */
function advise(whole: string, name: string): string | undefined {
  if (!PATH.test(whole)) return undefined;
  return OF_ARRAYS.has(name)
    ? `Use ${whole} as it is, ${whole}.split("\\n") for its lines, or JSON.parse(${whole}) if it is JSON`
    : `Use ${whole} as it is, or JSON.parse(${whole}).${name} if it is JSON`;
}

/** `const { content: [first] } = …`: a part of an array, or a character of a string. */
function isFromPattern(receiver: Node, { origins }: OriginContext): boolean {
  const declared = isIdentifier(receiver) ? origins.declarationOf(receiver) : undefined;
  return declared !== undefined && isBindingElement(declared) && isArrayBindingPattern(declared.parent);
}

function isCompared(access: Node): boolean {
  const { parent } = outermost(access);
  return isBinaryExpression(parent) && COMPARISONS.has(parent.operatorToken.kind);
}

const COMPARISONS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
]);

/** The string that a character was taken from: by its index, by iteration or by a pattern. */
function findString(
  value: Node,
  context: OriginContext,
  steps: number,
): { readonly whole: Node; readonly isLoop: boolean; readonly isComputed: boolean } | undefined {
  const node = bare(value);
  if (steps <= 0) return undefined;
  const toWhole = (from: Node | undefined, isLoop = false, isComputed = false): ReturnType<typeof findString> =>
    from && isString(from, context) ? { whole: from, isLoop, isComputed } : undefined;
  if (isElementAccessExpression(node)) {
    return toWhole(node.expression, false, !isNumericLiteral(node.argumentExpression));
  }
  if (isCallExpression(node)) {
    const { expression: callee } = node;
    const isTaken = isPropertyAccessExpression(callee) && CHARACTER_METHODS.has(callee.name.text);
    return isTaken ? toWhole(callee.expression) : undefined;
  }
  if (!isIdentifier(node)) return undefined;
  const declared = context.origins.declarationOf(node);
  const source = sourceOf(node, context);
  if (!declared || !source) return undefined;
  if (isBindingElement(declared)) return isArrayBindingPattern(declared.parent) ? toWhole(source) : undefined;
  if (!isVariableDeclaration(declared)) return undefined;
  return isForOfStatement(declared.parent.parent) ? toWhole(source, true) : findString(source, context, steps - 1);
}

function isString(node: Node, { origins }: OriginContext): boolean {
  return origins.primitiveOf(origins.typeOf(node)) === "string";
}

/** A field of a string, number or boolean, which has none; most often `r.content[0].text` where `content` is one string. */

import type { Node } from "typescript/unstable/ast";
import {
  isArrayBindingPattern,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isForOfStatement,
  isIdentifier,
  isPropertyAccessExpression,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

import { defined } from "../../domain/index.ts";
import type { Fix, Mistake } from "../wire.ts";
import { bare, sourceOf } from "./trace.ts";
import type { OriginContext } from "./trace.ts";
import { some, textOf } from "./tree.ts";

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
  if (!found) return { ...mistake, detail: `${show(receiver)} is a ${primitive} and` };
  const { whole, isLoop } = found;
  const detail = `${show(whole)} is a string, so ${show(receiver)} is one character and`;
  const by = (node: Node, text: string): Fix => ({ start: node.getStart(file), end: node.end, text });
  // A call that stands elsewhere must not be made again.
  const isCopied = access !== undefined && (whole.pos < access.pos || whole.end > access.end);
  const isFixed = isLoop || !isCopied || !some(whole, (part) => isCallExpression(part));
  const fix = access && isFixed ? by(access, textOf(isLoop ? receiver : whole, file)) : undefined;
  const loopFix = isLoop ? by(whole, `${textOf(whole, file)}.split("\\n")`) : undefined;
  return defined({ ...mistake, detail, fix, loopFix });
}

/** The string that a character was taken from: by its index, by iteration or by a pattern. */
function findString(
  value: Node,
  context: OriginContext,
  steps: number,
): { readonly whole: Node; readonly isLoop: boolean } | undefined {
  const node = bare(value);
  if (steps <= 0) return undefined;
  const toWhole = (from: Node | undefined, isLoop = false): ReturnType<typeof findString> =>
    from && isString(from, context) ? { whole: from, isLoop } : undefined;
  if (isElementAccessExpression(node)) return toWhole(node.expression);
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

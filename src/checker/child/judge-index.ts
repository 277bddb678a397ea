/** Fields read by index, `r["items"]` and `r[0]`: the compiler lets any name pass there unless it is strict. */

import type { ElementAccessExpression, Node } from "typescript/unstable/ast";
import {
  isElementAccessExpression,
  isNoSubstitutionTemplateLiteral,
  isNumericLiteral,
  isStringLiteral,
} from "typescript/unstable/ast/is";

import { defined } from "../../domain/index.ts";
import type { Mistake } from "../wire.ts";
import type { OriginContext } from "./trace.ts";
import { isAssigned, isGuarded, isReassigned, namesGiven, textOf } from "./tree.ts";

/** An index that the source fixes. A program without one is not searched. */
const FIXED_INDEX = /[\w$)\]]\s*(?:\?\.)?\s*\[\s*["'`\d]/u;
/** Asking for a type calls the compiler. */
const MAX_JUDGED = 100;

export function hasFixedIndex(text: string): boolean {
  return FIXED_INDEX.test(text);
}

export function judgeIndexes(context: OriginContext): readonly Mistake[] {
  const { file } = context;
  const accesses: ElementAccessExpression[] = [];
  const visit = (node: Node): void => {
    const isFixed = isElementAccessExpression(node) && indexOf(node) !== undefined && !isAssigned(node);
    if (isFixed && accesses.length < MAX_JUDGED) accesses.push(node);
    node.forEachChild((child) => visit(child));
  };
  visit(file);
  const given = accesses.length === 0 ? undefined : namesGiven(file);
  return accesses.flatMap((access) => (given?.has(indexOf(access) ?? "") ? [] : (judgeIndex(access, context) ?? [])));
}

function judgeIndex(access: ElementAccessExpression, { file, origins }: OriginContext): Mistake | undefined {
  const { expression: receiver } = access;
  const name = indexOf(access) ?? "";
  const type = origins.typeOf(receiver);
  const origin = origins.ofType(type);
  if (!type || origin?.kind !== "value" || isReassigned(receiver, file)) return undefined;
  const parts = type.isUnionType() ? type.getTypes() : [type];
  if (parts.some((part) => origins.isOpen(part) || origins.hasProperty(part, name))) return undefined;
  const isList = isNumericLiteral(access.argumentExpression);
  const detail = textOf(receiver, file);
  return defined({
    kind: isList ? ("not-iterable" as const) : ("unknown-field" as const),
    start: access.argumentExpression.getStart(file),
    name: isList ? detail : name,
    detail,
    doubtful: isGuarded(access),
    tool: origin.address === "" ? undefined : origin.address,
    type: origin.type,
  });
}

function indexOf({ argumentExpression: index }: ElementAccessExpression): string | undefined {
  const isFixed = isStringLiteral(index) || isNoSubstitutionTemplateLiteral(index) || isNumericLiteral(index);
  return isFixed ? index.text : undefined;
}

/** A value of a tool that is compared with a string which is none of its choices: `ticket.status === "resolved"`. */

import type { Node } from "typescript/unstable/ast";
import {
  isBinaryExpression,
  isCaseClause,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isSwitchStatement,
} from "typescript/unstable/ast/is";

import { defined } from "../../domain/index.ts";
import type { Mistake } from "../wire.ts";
import type { ApiDiagnostic } from "./judge.ts";
import { traceOrigin } from "./trace.ts";
import { isReassigned, outermost, textOf } from "./tree.ts";

const SHOWN_CHARS = 60;
const SHOWN_CHOICES = 8;

/** Always doubtful: a server may return more than it declares, and a list of all spellings is not a mistake. */
export function judgeComparison({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const compared = comparedIn(node);
  if (!compared) return undefined;
  const { subject, text } = compared;
  // The type at this place may be narrowed by an earlier test, which a call in between can make untrue.
  const choices = origins.choicesOf(subject);
  if (choices.length === 0 || choices.includes(text) || isReassigned(subject, file)) return undefined;
  const origin = origins.ofName(subject) ?? traceOrigin(subject, { file, origins });
  if (origin?.kind !== "value") return undefined;
  const shown = textOf(subject, file).replace(/\s+/gu, " ");
  const detail = shown.length > SHOWN_CHARS ? `${shown.slice(0, SHOWN_CHARS).toWellFormed()}…` : shown;
  return defined({
    kind: "never-equal" as const,
    start: subject.getStart(file),
    name: JSON.stringify(text),
    detail: `${detail} is ${listChoices(choices)}`,
    tool: origin.address === "" ? undefined : origin.address,
    doubtful: true,
  });
}

function listChoices(choices: readonly string[]): string {
  const shown = choices.slice(0, SHOWN_CHOICES).map((choice) => JSON.stringify(choice));
  if (choices.length > SHOWN_CHOICES) return `${shown.join(", ")} or ${choices.length - SHOWN_CHOICES} others`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}` : shown.join("");
}

interface Compared {
  readonly subject: Node;
  readonly text: string;
}

/** `a === "text"`, `"text" !== a`, or `case "text":` of `switch (a)`. */
function comparedIn(node: Node): Compared | undefined {
  if (isBinaryExpression(node)) return toCompared(node.left, node.right) ?? toCompared(node.right, node.left);
  const clause = outermost(node).parent;
  if (!isCaseClause(clause) || !isSwitchStatement(clause.parent.parent)) return undefined;
  return toCompared(clause.parent.parent.expression, node);
}

function toCompared(subject: Node, literal: Node): Compared | undefined {
  const isText = isStringLiteral(literal) || isNoSubstitutionTemplateLiteral(literal);
  return isText ? { subject, text: literal.text } : undefined;
}

/** Code compiled from strings cannot be analyzed. */

import type { AnyNode, Identifier } from "acorn";
import { staticName, withoutParens } from "../read-tree.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

const MAKERS: ReadonlySet<string> = new Set(["eval", "Function"]);
const TIMERS = ["setTimeout", "setInterval"] as const;
const FIX = "write the code itself instead of text that holds it";

/** Any use of the global `eval` or `Function` as a value, also through an alias; type tests are fine. */
export const noEval: AnalysisRule = {
  name: "no-eval",
  severity: "error",
  check: (syntax) => [...makers(syntax), ...membersOfGlobal(syntax), ...timers(syntax)],
};

function makers({ tree, globals }: ProgramSyntax): readonly Objection[] {
  const mentions = [...MAKERS].flatMap((name) => globals.mentions.get(name) ?? []);
  return mentions.filter((mention) => !onlyAsksForType(mention, tree.parentOf(mention))).map(toObjection);
}

function onlyAsksForType(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === "UnaryExpression") return parent.operator === "typeof";
  return parent?.type === "BinaryExpression" && parent.operator === "instanceof" && parent.right === node;
}

function toObjection({ name, start }: Identifier): Objection {
  return { offset: start, message: `\`${name}\` turns text into code`, fix: FIX };
}

function membersOfGlobal({ tree, globals }: ProgramSyntax): readonly Objection[] {
  return (globals.mentions.get("globalThis") ?? []).flatMap((mention): Objection[] => {
    const parent = tree.parentOf(mention);
    if (parent?.type !== "MemberExpression" || parent.object !== mention) return [];
    const name = staticName(parent.property, parent.computed);
    if (name === undefined || !MAKERS.has(name)) return [];
    return [{ offset: mention.start, message: `\`${name}\` turns text into code`, fix: FIX }];
  });
}

function timers({ tree, globals }: ProgramSyntax): readonly Objection[] {
  return TIMERS.flatMap((name) => globals.mentions.get(name) ?? []).flatMap((mention): Objection[] => {
    const parent = tree.parentOf(mention);
    const first = parent?.type === "CallExpression" && parent.callee === mention ? parent.arguments[0] : undefined;
    if (!first || !isText(withoutParens(first))) return [];
    const message = `\`${mention.name}\` with text turns it into code`;
    return [{ offset: mention.start, message, fix: "pass a function" }];
  });
}

function isText(node: AnyNode): boolean {
  return node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");
}

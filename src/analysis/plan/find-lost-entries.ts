/** `JSON.stringify` of a map or a set, which is `{}` whatever is in it. As the result of a program both become JSON. */

import type { AnyNode } from "acorn";
import type { Finding } from "../../domain/index.ts";
import type { SourcePosition } from "../locate.ts";
import { withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { staticName } from "../read-tree.ts";

const MAX_FINDINGS = 3;
const INSTEAD = { Map: "Object.fromEntries(map)", Set: "[...set]" } as const;

type Lost = keyof typeof INSTEAD;

export function findLostEntries(syntax: ProgramSyntax, locate: (offset: number) => SourcePosition): readonly Finding[] {
  return syntax.tree.nodes
    .flatMap((node): readonly Finding[] => {
      const lost = lostIn(node, syntax);
      if (!lost) return [];
      const message = `JSON.stringify of a ${lost} gives {}; write ${INSTEAD[lost]} in its place`;
      return [{ rule: "lost-entries", severity: "warn", message, ...locate(syntax.toAuthor(node.start)) }];
    })
    .slice(0, MAX_FINDINGS);
}

/** A call with a replacer may turn them into something else. */
function lostIn(node: AnyNode, syntax: ProgramSyntax): Lost | undefined {
  if (node.type !== "CallExpression") return undefined;
  const callee = withoutChain(node.callee);
  const [value, replacer] = node.arguments;
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || !value) return undefined;
  const isStringify = callee.object.name === "JSON" && staticName(callee.property, callee.computed) === "stringify";
  if (!isStringify || syntax.globals.bindingOf(callee.object) || !isNothing(replacer)) return undefined;
  const whole = withoutChain(value);
  const parts = whole.type === "ObjectExpression" ? whole.properties : [];
  const values = parts.flatMap((part) => (part.type === "Property" ? [part.value] : []));
  return [whole, ...values].map((one) => kindOf(one, syntax)).find((kind) => kind !== undefined);
}

function isNothing(replacer: AnyNode | undefined): boolean {
  if (!replacer || (replacer.type === "Identifier" && replacer.name === "undefined")) return true;
  return replacer.type === "Literal" && replacer.value === null;
}

/** Of `new Map(…)`, or of a name that only ever holds that. */
function kindOf(node: AnyNode, { globals, folder }: ProgramSyntax): Lost | undefined {
  const binding = node.type === "Identifier" ? globals.bindingOf(node) : undefined;
  const made = binding && folder.isSteady(binding) ? globals.valueOf(node) : node;
  if (made?.type !== "NewExpression" || made.callee.type !== "Identifier" || globals.bindingOf(made.callee))
    return undefined;
  const { name } = made.callee;
  return name === "Map" || name === "Set" ? name : undefined;
}

/** Changes to shared prototypes affect unrelated code, first of all the program's own. */

import type { AnyNode } from "acorn";
import { staticName, withoutParens } from "../read-tree.ts";
import { withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

const FIX = "keep the change in an object or class of your own";
const CHANGERS: ReadonlySet<string> = new Set([
  "setPrototypeOf",
  "defineProperty",
  "defineProperties",
  "assign",
  "set",
]);
/** Longer member paths are not checked. */
const MAX_PATH = 32;

/** Writing through `__proto__`, `constructor.prototype` or the prototype of a built-in. A program's own class is its own. */
export const noPrototypePollution: AnalysisRule = {
  name: "no-prototype-pollution",
  severity: "error",
  check: (syntax) =>
    syntax.tree.nodes.flatMap((node): readonly Objection[] => {
      if (node.type === "AssignmentExpression") return objectToWrite(node.left, syntax);
      if (node.type === "UpdateExpression") return objectToWrite(node.argument, syntax);
      if (node.type === "UnaryExpression" && node.operator === "delete") return objectToWrite(node.argument, syntax);
      return node.type === "CallExpression" ? objectToCall(node.callee, node.arguments[0], syntax) : [];
    }),
};

function objectToWrite(target: AnyNode, syntax: ProgramSyntax): readonly Objection[] {
  const member = withoutParens(target);
  if (member.type !== "MemberExpression") return [];
  const name = staticName(member.property, member.computed);
  const shared = name === "__proto__" ? "`__proto__`" : findShared(member.object, syntax);
  return shared === undefined ? [] : [toObjection(member.start, shared)];
}

/** `Object.setPrototypeOf(shared, …)`, `Object.defineProperty(shared, …)`, `Object.assign(shared, …)`, also of `Reflect`. */
function objectToCall(callee: AnyNode, first: AnyNode | undefined, syntax: ProgramSyntax): readonly Objection[] {
  const member = withoutChain(callee);
  if (!first || member.type !== "MemberExpression") return [];
  const name = staticName(member.property, member.computed);
  const object = withoutParens(member.object);
  const isBuiltin = object.type === "Identifier" && !syntax.globals.bindingOf(object);
  if (name === undefined || !CHANGERS.has(name) || !isBuiltin || !/^(?:Object|Reflect)$/u.test(object.name)) return [];
  const shared = findShared(first, syntax);
  if (shared !== undefined) return [toObjection(member.start, shared)];
  const target = withoutParens(first);
  const isGlobalClass =
    target.type === "Identifier" && !syntax.globals.bindingOf(target) && /^[A-Z]/u.test(target.name);
  return name === "setPrototypeOf" && isGlobalClass ? [toObjection(member.start, `\`${target.name}\``)] : [];
}

function findShared(expression: AnyNode, { globals }: ProgramSyntax): string | undefined {
  let node = withoutChain(expression);
  for (let depth = 0; depth < MAX_PATH && node.type === "MemberExpression"; depth += 1) {
    const name = staticName(node.property, node.computed);
    const object = withoutChain(node.object);
    if (name === "__proto__") return "`__proto__`";
    if (
      name === "prototype" &&
      object.type === "MemberExpression" &&
      staticName(object.property, object.computed) === "constructor"
    ) {
      return "`constructor.prototype`";
    }
    if (name === "prototype" && object.type === "Identifier" && !globals.bindingOf(object))
      return `\`${object.name}.prototype\``;
    node = object;
  }
  return undefined;
}

function toObjection(offset: number, shared: string): Objection {
  return { offset, message: `this changes ${shared}, which other objects share`, fix: FIX };
}

/**
 * Counts the calls that a program begins with and that nothing it reads can change: whole statements, one after another
 * from the first on, that do nothing but call a tool by name with constants, or name a constant. No code of the program
 * runs before or between them, so their arguments and their order are fixed. Only a call that fails ends them early.
 */

import type { AnyNode } from "acorn";
import { withoutParens } from "../read-tree.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** More calls are not counted. */
const MAX_START = 20;
/** As for the arguments of the plan. */
const MAX_ARGUMENT_CHARS = 2_000;

export function countStart(syntax: ProgramSyntax): number {
  let count = 0;
  const named = new Set<string>();
  for (const statement of syntax.tree.root.body) {
    const names = findConstants(statement, named);
    if (!names && (count === MAX_START || !isPlainCall(statement, { syntax, named }))) break;
    for (const name of names ?? []) named.add(name);
    count += names ? 0 : 1;
  }
  return count;
}

/** The names that a statement gives to constants, if that is all it does. */
function findConstants(statement: AnyNode, named: ReadonlySet<string>): readonly string[] | undefined {
  if (statement.type !== "VariableDeclaration" || statement.kind !== "const") return undefined;
  const names = statement.declarations.flatMap(({ id, init }) =>
    id.type === "Identifier" && init && isConstant(init, named) ? [id.name] : [],
  );
  return names.length === statement.declarations.length ? names : undefined;
}

interface StartContext {
  readonly syntax: ProgramSyntax;
  /** Names of constants, which are declared before. */
  readonly named: ReadonlySet<string>;
}

/** `await a.b({…})`, `const x = await a.b({…})` or `return await a.b({…})`. Patterns and `using` are refused: both can fail by the value. */
function isPlainCall(statement: AnyNode, context: StartContext): boolean {
  switch (statement.type) {
    case "ExpressionStatement":
      return isAwaitedCall(statement.expression, context);
    case "ReturnStatement":
      return statement.argument ? isAwaitedCall(statement.argument, context) : false;
    case "VariableDeclaration": {
      const [only, ...others] = statement.declarations;
      if (!only || others.length > 0 || only.id.type !== "Identifier" || !only.init) return false;
      return (statement.kind === "const" || statement.kind === "let") && isAwaitedCall(only.init, context);
    }
    default:
      return false;
  }
}

function isAwaitedCall(node: AnyNode, { syntax: { globals, namespaces }, named }: StartContext): boolean {
  const awaited = withoutParens(node);
  if (awaited.type !== "AwaitExpression") return false;
  const call = withoutParens(awaited.argument);
  if (call.type !== "CallExpression" || call.optional || call.arguments.length > 1) return false;
  const { callee } = call;
  if (callee.type !== "MemberExpression" || callee.computed || callee.optional) return false;
  const { object } = callee;
  if (object.type !== "Identifier" || globals.bindingOf(object) || !namespaces.has(object.name)) return false;
  const [given] = call.arguments;
  return given === undefined || (given.type === "ObjectExpression" && isConstant(given, named));
}

/** Literals and names of constants, in arrays and objects with plain keys. Not recursive, because sources can nest deeply. */
function isConstant(value: AnyNode, named: ReadonlySet<string>): boolean {
  const open: AnyNode[] = [value];
  if (value.end - value.start > MAX_ARGUMENT_CHARS) return false;
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === "Literal") {
      if (node.value instanceof RegExp || "bigint" in node || "regex" in node) return false;
    } else if (node.type === "Identifier") {
      if (!named.has(node.name)) return false;
    } else if (node.type === "ArrayExpression") {
      for (const element of node.elements) {
        if (!element) return false;
        open.push(element);
      }
    } else if (node.type === "ObjectExpression") {
      for (const part of node.properties) {
        if (part.type !== "Property" || part.kind !== "init" || part.computed || part.method) return false;
        if ((part.key.type === "Identifier" ? part.key.name : undefined) === "__proto__") return false;
        if (part.key.type === "Literal" && part.key.value === "__proto__") return false;
        open.push(part.value);
      }
    } else return false;
  }
  return true;
}

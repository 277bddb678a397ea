/** Finds the calls of a program that may throw, and the functions that therefore may: an exception can end a loop. */

import type { AnyNode, CallExpression, MemberExpression, NewExpression } from "acorn";
import { staticName, withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { functionAround, withinFunction } from "../surroundings.ts";
import { calledNamespace, withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** Built-in functions that throw for some data. The others throw only for programming errors. */
const FAILING: ReadonlySet<string> = new Set(["decodeURI", "decodeURIComponent", "atob", "structuredClone", "BigInt"]);
const FAILING_CLASSES: ReadonlySet<string> = new Set(["URL", "RegExp"]);
/** Values whose methods are built in and do not throw. */
const BUILT_IN: ReadonlySet<string> = new Set([
  "ArrayExpression",
  "Literal",
  "TemplateLiteral",
  "ObjectExpression",
  "BinaryExpression",
  "UnaryExpression",
]);

/** Rounds of propagation from functions to their callers. */
const MAX_ROUNDS = 20;

interface FailureFacts extends ProgramSyntax {
  /** The program's functions that may throw, directly or through a call. */
  readonly throwing: Set<AnyNode>;
  /** The names of those that are methods. */
  readonly methods: Set<string>;
}

/** Returns whether a node is a call that may throw. A `try` with a `catch` contains the exceptions of its calls. */
export function createFailureTest(syntax: ProgramSyntax): (node: AnyNode) => boolean {
  const known: FailureFacts = { ...syntax, throwing: new Set(), methods: new Set() };
  const calls: { readonly node: AnyNode; readonly caller: AnyNode }[] = [];
  for (const node of syntax.tree.nodes) {
    const isCall = node.type === "CallExpression" || node.type === "NewExpression";
    if (node.type !== "ThrowStatement" && !isCall) continue;
    const caller = functionAround(syntax.around(node));
    if (!caller || withinFunction(syntax.around(node)).some(({ kind }) => kind === "guard")) continue;
    if (isCall) calls.push({ node, caller });
    else addThrowing(caller, known);
  }
  for (let [round, before] = [0, -1]; round < MAX_ROUNDS && before < known.throwing.size; round += 1) {
    before = known.throwing.size;
    for (const { node, caller } of calls) {
      if (!known.throwing.has(caller) && mayFail(node, known)) addThrowing(caller, known);
    }
  }
  return (node) => mayFail(node, known);
}

function addThrowing(callee: AnyNode, { throwing, methods, tree }: FailureFacts): void {
  throwing.add(callee);
  const holder = tree.parentOf(callee);
  const isMember =
    holder?.type === "MethodDefinition" || holder?.type === "Property" || holder?.type === "PropertyDefinition";
  const name = isMember ? staticName(holder.key, holder.computed) : undefined;
  if (name !== undefined) methods.add(name);
}

/**
 * Whether a call may throw: a tool, a value that was passed in, a built-in function that throws for bad data, or a
 * function, method or class of the program that may throw. Timers and other built-in functions do not.
 */
function mayFail(node: AnyNode, known: FailureFacts): boolean {
  if (node.type === "NewExpression") return mayFailToConstruct(node, known);
  if (node.type !== "CallExpression") return false;
  // Awaited or not: an uncaught failure of a tool call ends the program.
  if (calledNamespace(node, known) !== undefined) return true;
  return takesFailing(node, known) || mayCalleeFail(node, known);
}

/** A callback that throws makes its caller throw. */
function takesFailing({ arguments: given }: CallExpression | NewExpression, known: FailureFacts): boolean {
  return given.some((argument) => {
    const inner = withoutParens(argument);
    if (isFunction(inner)) return !inner.async && known.throwing.has(inner);
    const value = known.globals.valueOf(inner);
    return value !== undefined && known.throwing.has(value);
  });
}

function mayFailToConstruct(node: NewExpression, known: FailureFacts): boolean {
  const callee = withoutParens(node.callee);
  if (callee.type !== "Identifier") return false;
  if (!known.globals.bindingOf(callee)) return FAILING_CLASSES.has(callee.name);
  const made = known.globals.valueOf(callee);
  if (made?.type !== "ClassDeclaration" && made?.type !== "ClassExpression") return true;
  return made.body.body.some(
    (part) => part.type === "MethodDefinition" && part.kind === "constructor" && known.throwing.has(part.value),
  );
}

function mayCalleeFail(node: CallExpression, known: FailureFacts): boolean {
  const callee = withoutChain(node.callee);
  if (callee.type === "MemberExpression") return mayMethodFail(callee, known);
  if (isFunction(callee)) return known.throwing.has(callee);
  if (callee.type !== "Identifier") return false;
  if (!known.globals.bindingOf(callee)) return FAILING.has(callee.name);
  const value = known.globals.valueOf(callee);
  return value && isFunction(value) ? known.throwing.has(value) : true;
}

function mayMethodFail(callee: MemberExpression, known: FailureFacts): boolean {
  const name = staticName(callee.property, callee.computed);
  const root = rootOf(callee);
  if (name !== undefined && known.methods.has(name)) return true;
  if (root.type !== "Identifier") return false;
  if (!known.globals.bindingOf(root)) {
    return known.namespaces.has(root.name) || (root.name === "JSON" && name === "parse");
  }
  const value = known.globals.valueOf(root);
  if (!value) return true;
  if (known.folder.valuesOf(root)) return false;
  // All methods of a value that the program created are visible or built in.
  return (
    !BUILT_IN.has(value.type) &&
    value.type !== "NewExpression" &&
    !isFunction(value) &&
    value.type !== "ClassDeclaration"
  );
}

function rootOf(callee: AnyNode): AnyNode {
  let node = withoutParens(callee);
  for (;;) {
    if (node.type === "MemberExpression") node = withoutParens(node.object);
    else if (node.type === "ChainExpression") node = withoutParens(node.expression);
    else return node;
  }
}

/**
 * Finds programs that plainly ask for V8: they use what QuickJS does in another way, or they compute for long. It saves
 * their start in QuickJS, and it is the only guard for what no function can guard, such as operators. Glue between calls
 * has no route. Reads each node once.
 */

import type { AnyNode, CallExpression, MemberExpression, NewExpression } from "acorn";
import type { Program } from "../domain/index.ts";
import { calledNamespace, withoutChain } from "./program-syntax.ts";
import type { ProgramSyntax } from "./program-syntax.ts";
import { staticName, withoutParens } from "./read-tree.ts";
import { isFunction } from "./resolve-scopes.ts";
import { isLoop } from "./surroundings.ts";

/** From so many steps or elements on, V8 is faster including its start. */
const MANY = 1_000;

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));

const GLOBALS = ["Intl", "DisposableStack", "AsyncDisposableStack", "SuppressedError"];
/** Methods of any object. */
const METHODS = setOf("localeCompare toLocaleDateString toLocaleString toLocaleTimeString");
const WITH_LOCALE = setOf("toLocaleLowerCase toLocaleUpperCase");
/** Each engine writes stacks in its own way. */
const STACKS = setOf("captureStackTrace prepareStackTrace stack stackTraceLimit");
const MATH = setOf(
  "acos acosh asin asinh atan atan2 atanh cbrt cos cosh exp expm1 hypot log log10 log1p log2 sin sinh tan tanh",
);
const REGEXP = setOf("input $_ lastMatch $& lastParen $+ leftContext $` rightContext $' $1 $2 $3 $4 $5 $6 $7 $8 $9");
const SIZED = /^(?:Array|ArrayBuffer|(?:Big)?U?[Ii]nt(?:8|16|32|64)(?:Clamped)?Array|Float(?:32|64)Array)$/;
const BOUNDS = setOf("< <= > >= !== !=");

export function chooseRoute(syntax: ProgramSyntax): Program["route"] {
  const { tree, globals } = syntax;
  if (GLOBALS.some((name) => globals.mentions.has(name))) return "isolate";
  const loops = countSteps(syntax);
  for (const [index, node] of tree.nodes.entries()) {
    const parent = tree.nodes[tree.parents[index] ?? -1];
    if (loops.isHeavy(index) || isUnequal(node, parent, syntax) || isLarge(node, syntax)) return "isolate";
    if (isFunction(node) && isDeep(node, syntax)) return "isolate";
    if (node.type === "ExpressionStatement" && isFloating(node.expression, syntax) && node !== tree.root.body.at(-1)) {
      return "isolate";
    }
  }
  return undefined;
}

/** What the two engines do in different ways. */
function isUnequal(node: AnyNode, parent: AnyNode | undefined, syntax: ProgramSyntax): boolean {
  if (node.type === "Literal") return "regex" in node && (node.regex?.flags.includes("v") ?? false);
  if (node.type === "BinaryExpression") return node.operator === "**" && isInexact(node.left, node.right, syntax);
  if (node.type === "AssignmentExpression") return node.operator === "**=";
  if (node.type === "Property") return STACKS.has(staticName(node.key, node.computed) ?? "");
  return node.type === "MemberExpression" && isUnequalMember(node, parent, syntax);
}

function isUnequalMember(node: MemberExpression, parent: AnyNode | undefined, syntax: ProgramSyntax): boolean {
  const name = staticName(node.property, node.computed);
  if (name === undefined) return false;
  if (METHODS.has(name) || STACKS.has(name)) return true;
  const call = parent?.type === "CallExpression" && parent.callee === node ? parent : undefined;
  if (WITH_LOCALE.has(name)) return call !== undefined && call.arguments.length > 0;
  if (isGlobal(node.object, "RegExp", syntax)) return REGEXP.has(name);
  if (!isGlobal(node.object, "Math", syntax)) return false;
  const [base, exponent] = call?.arguments ?? [];
  if (name === "pow" && base && exponent) return isInexact(base, exponent, syntax);
  return MATH.has(name);
}

/** Small powers of 2 and 10, and squares, are the same everywhere; the last digit of others is not. */
function isInexact(base: AnyNode, exponent: AnyNode, { folder }: ProgramSyntax): boolean {
  const powers = folder.valuesOf(exponent);
  if (powers?.every((power) => power === 0 || power === 1 || power === 2)) return false;
  const isWhole = powers?.every((power) => Number.isInteger(power) && Number(power) >= 0 && Number(power) <= 15);
  return !(isWhole && folder.valuesOf(base)?.every((value) => value === 2 || value === 10));
}

function isGlobal(node: AnyNode, name: string, { globals }: ProgramSyntax): boolean {
  const object = withoutParens(node);
  return object.type === "Identifier" && object.name === name && !globals.bindingOf(object);
}

/** The least constant number that an expression can be; 0 if the source does not fix it. */
function numberAt(node: AnyNode | undefined | null, { folder }: ProgramSyntax): number {
  if (!node || node.type === "SpreadElement") return 0;
  const values = folder.valuesOf(node);
  return values?.every((value) => typeof value === "number") ? Math.min(...values.map(Number), Infinity) : 0;
}

/** `Array.from({ length: 5000 })`, `new Uint8Array(1e6)`, `"x".repeat(10_000)`. */
function isLarge(node: AnyNode, syntax: ProgramSyntax): boolean {
  if (node.type === "Property" && staticName(node.key, node.computed) === "length") {
    return numberAt(node.value, syntax) >= MANY;
  }
  if (node.type !== "CallExpression" && node.type !== "NewExpression") return false;
  const size = numberAt(node.arguments[0], syntax);
  return size >= MANY && (isSized(node, syntax) || size >= 10 * MANY) && isBuilder(node, syntax);
}

function isSized({ callee }: CallExpression | NewExpression, { globals }: ProgramSyntax): boolean {
  const name = withoutParens(callee);
  return name.type === "Identifier" && SIZED.test(name.name) && !globals.bindingOf(name);
}

function isBuilder(node: CallExpression | NewExpression, syntax: ProgramSyntax): boolean {
  const callee = withoutChain(node.callee);
  if (callee.type !== "MemberExpression") return isSized(node, syntax);
  const name = staticName(callee.property, callee.computed);
  return name === "repeat" || name === "padStart" || name === "padEnd";
}

/** Multiplies the constant bounds of loops in loops. A loop that awaits is glue: it waits for others. */
function countSteps(syntax: ProgramSyntax): { readonly isHeavy: (index: number) => boolean } {
  const { nodes, parents } = syntax.tree;
  const waiting = new Set<number>();
  for (const [index, node] of nodes.entries()) {
    if (node.type !== "AwaitExpression") continue;
    for (let at = index; at >= 0 && !isFunction(nodes[at] ?? node); at = parents[at] ?? -1) waiting.add(at);
  }
  const steps = new Float64Array(nodes.length).fill(1);
  for (const [index, node] of nodes.entries()) {
    const around = steps[parents[index] ?? -1] ?? 1;
    steps[index] = isLoop(node) && !waiting.has(index) ? around * boundOf(node, syntax) : around;
  }
  return { isHeavy: (index) => (steps[index] ?? 1) >= MANY };
}

/** At least 1. */
function boundOf(loop: AnyNode, syntax: ProgramSyntax): number {
  const test = "test" in loop && loop.test ? withoutParens(loop.test) : undefined;
  if (test?.type !== "BinaryExpression" || !BOUNDS.has(test.operator)) return 1;
  const init = loop.type === "ForStatement" && loop.init?.type === "VariableDeclaration" ? loop.init : undefined;
  const from = Math.max(...(init?.declarations ?? []).map((one) => numberAt(one.init, syntax)), 0);
  return Math.max(1, numberAt(test.right, syntax), test.operator.startsWith(">") ? from : 0);
}

/** A function that calls itself twice with a number next to its own, as `fib` does, or that starts at a large number. */
function isDeep(node: AnyNode, syntax: ProgramSyntax): boolean {
  const { globals, tree } = syntax;
  const holder = tree.parentOf(node);
  const name = "id" in node && node.id ? node.id : holder?.type === "VariableDeclarator" ? holder.id : undefined;
  const mentions = name && globals.bindingOf(name)?.mentions;
  if (!mentions) return false;
  const inside = (at: AnyNode): boolean => at.start >= node.start && at.end <= node.end;
  const calls = mentions.flatMap((mention) => {
    const parent = tree.parentOf(mention);
    return parent?.type === "CallExpression" && parent.callee === mention ? [parent] : [];
  });
  const own = calls.filter(inside);
  if (own.length === 0) return false;
  const isStep = (call: CallExpression): boolean => call.arguments.some((part) => part.type === "BinaryExpression");
  if (own.filter(isStep).length > 1) return true;
  return calls.some((call) => call.arguments.some((part) => numberAt(part, syntax) >= MANY));
}

/** A promise that nothing waits for: only V8 ends a program when it rejects. */
function isFloating(expression: AnyNode, syntax: ProgramSyntax): boolean {
  const call = withoutChain(expression);
  if (call.type !== "CallExpression") return false;
  if (calledNamespace(call, syntax) !== undefined) return true;
  const callee = withoutChain(call.callee);
  if (callee.type === "MemberExpression") return staticName(callee.property, callee.computed) === "then";
  const called = callee.type === "Identifier" ? syntax.globals.valueOf(callee) : callee;
  return called !== undefined && isFunction(called) && called.async;
}

/** How often and when a call may run, and which of its arguments the source fixes. */

import type { AnyNode, CallExpression, Expression, Identifier, SpreadElement } from "acorn";
import type { Json, JsonObject, Program } from "../../domain/index.ts";
import { defined } from "../../domain/index.ts";
import { callOf, climb, createCallerFinder } from "./find-function.ts";
import { findCalledFunction } from "../find-entry.ts";
import { namespaceAt, withoutChain } from "../program-syntax.ts";
import { staticName, withoutParens } from "../read-tree.ts";
import { functionAround, isLoop, withinFunction } from "../surroundings.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

export type CallSite = Program["calls"][number];

export type CallContext = Pick<CallSite, "times" | "when" | "args">;

/** For a tool that is passed around: any code may call it. */
export const UNKNOWN_CONTEXT: CallContext = { times: "many", when: "maybe" };

const MAX_ARGUMENT_CHARS = 2_000;
const MAX_DEPTH = 6;

export function createCallContext(syntax: ProgramSyntax): (reader: AnyNode) => CallContext {
  const findWhen = createWhenFinder(syntax);
  return (reader) => {
    const call = findOnlyCall(reader, syntax);
    if (!call) return UNKNOWN_CONTEXT;
    const { times, when } = findWhen(call);
    return defined({ times, when: isCertain(reader, syntax) ? when : "maybe", args: readArguments(call, syntax) });
  };
}

/** The single call of a tool that was read: the read is its callee, or it initializes a name with a single call. */
function findOnlyCall(reader: AnyNode, syntax: ProgramSyntax): CallExpression | undefined {
  const { parent } = climb(reader, syntax);
  if (parent?.type === "CallExpression") return callOf(reader, syntax);
  const target =
    reader.type === "Property" ? reader.value : parent?.type === "VariableDeclarator" ? parent.id : undefined;
  const binding = target?.type === "Identifier" ? syntax.globals.bindingOf(target) : undefined;
  const [mention] = binding?.mentions ?? [];
  const isSingle = binding?.declarers.length === 1 && binding.mentions.length === 1;
  return mention && isSingle ? callOf(mention, syntax) : undefined;
}

/** Whether the object can only be one namespace: its name, or an alias that is never written. */
function isCertain(reader: AnyNode, syntax: ProgramSyntax): boolean {
  const object = objectOf(reader, syntax);
  if (!object || namespaceAt(object, syntax) === undefined) return false;
  const binding = syntax.globals.bindingOf(withoutChain(object));
  return !binding || syntax.folder.isSteady(binding);
}

function objectOf(reader: AnyNode, { tree }: ProgramSyntax): AnyNode | undefined {
  if (reader.type === "MemberExpression") return reader.object;
  const pattern = tree.parentOf(reader);
  const declarer = pattern && tree.parentOf(pattern);
  return declarer?.type === "VariableDeclarator" && declarer.id === pattern ? (declarer.init ?? undefined) : undefined;
}

/** Climbs from a call to the calls of the functions around it. */
function createWhenFinder(syntax: ProgramSyntax): (call: CallExpression) => Pick<CallSite, "times" | "when"> {
  const mayPass = findExits(syntax);
  const callersOf = createCallerFinder(syntax);
  const entry = findCalledFunction(syntax.tree);
  return (call) => {
    let [node, times, when]: [AnyNode, CallSite["times"], CallSite["when"]] = [call, "once", "always"];
    if (isOptional(call, syntax)) when = "maybe";
    const climbed = new Set<AnyNode>();
    for (;;) {
      for (const gate of withinFunction(syntax.around(node))) {
        if (gate.kind === "loop") times = "many";
        if (gate.kind !== "guard" && gate.node.type !== "DoWhileStatement") when = "maybe";
      }
      const callee = functionAround(syntax.around(node));
      if (mayPass(node, callee) || callee?.generator) when = "maybe";
      const callers = callee && callersOf(callee);
      if (!callee || (callee === entry && !callers?.length)) return { times, when };
      const caller = callers?.length === 1 ? callers[0] : undefined;
      if (!caller || climbed.has(caller)) return UNKNOWN_CONTEXT;
      climbed.add(caller);
      node = caller;
    }
  };
}

/** Whether a jump before `node` may leave `callee`, or a block or loop around `node`. */
type MayPass = (node: AnyNode, callee: AnyNode | undefined) => boolean;

/** Beyond this many jumps in one function, everything after them counts as skippable. */
const MAX_JUMPS = 100;

/** Where a program may leave a function, a loop or a labeled block early. Takes one pass over the tree. */
function findExits(syntax: ProgramSyntax): MayPass {
  /** For each function, the ranges that its jumps may skip. */
  const skipped = new Map<AnyNode | undefined, { readonly from: number; readonly to: number }[]>();
  for (const node of syntax.tree.nodes) {
    const to = endOfTarget(node, syntax);
    if (to === undefined) continue;
    const callee = functionAround(syntax.around(node));
    const known = skipped.get(callee) ?? [];
    skipped.set(callee, known);
    // From its end on: its operand runs before the jump.
    if (known.length <= MAX_JUMPS) known.push({ from: node.end, to: known.length === MAX_JUMPS ? Infinity : to });
  }
  return (node, callee) => skipped.get(callee)?.some(({ from, to }) => from <= node.start && node.start < to) ?? false;
}

function endOfTarget(node: AnyNode, { tree }: ProgramSyntax): number | undefined {
  if (node.type === "ReturnStatement" || node.type === "ThrowStatement") return Infinity;
  if (node.type !== "BreakStatement" && node.type !== "ContinueStatement") return undefined;
  const label = node.label?.name;
  for (let at = tree.parentOf(node); at; at = tree.parentOf(at)) {
    if (label !== undefined && at.type === "LabeledStatement" && at.label.name === label) return at.end;
    if (label === undefined && (isLoop(at) || (at.type === "SwitchStatement" && node.type === "BreakStatement")))
      return at.end;
  }
  return Infinity;
}

/** Whether an optional chain may skip the call; a namespace always exists. */
function isOptional(call: CallExpression, { globals, namespaces }: ProgramSyntax): boolean {
  let node: AnyNode = call;
  let isChained = false;
  for (;;) {
    const inner = withoutParens(node);
    if (inner.type === "ChainExpression") node = inner.expression;
    else if (inner.type === "CallExpression" || inner.type === "MemberExpression") {
      isChained ||= inner.optional;
      node = inner.type === "CallExpression" ? inner.callee : inner.object;
    } else if (inner.type === "Identifier" && !globals.bindingOf(inner) && namespaces.has(inner.name)) return false;
    else return isChained;
  }
}

function readArguments(call: CallExpression, syntax: ProgramSyntax): JsonObject | undefined {
  const [first] = call.arguments;
  const given = first && withoutParens(first);
  if (given?.type !== "ObjectExpression") return undefined;
  const args: Record<string, Json> = {};
  for (const property of given.properties) {
    if (property.type !== "Property" || property.kind !== "init") return undefined; // a spread or an accessor may change any of them
    const name = staticName(property.key, property.computed);
    if (name === undefined || name === "__proto__") return undefined; // an unknown name may be any of them
    const value = literalOf(property.value, syntax, MAX_DEPTH);
    // The last property of a name counts, even if its value is unknown.
    if (value === undefined) delete args[name];
    else args[name] = value;
  }
  const chars = JSON.stringify(args).length;
  return Object.keys(args).length > 0 && chars <= MAX_ARGUMENT_CHARS ? args : undefined;
}

function literalOf(node: Expression | SpreadElement, syntax: ProgramSyntax, depth: number): Json | undefined {
  const inner = withoutParens(node);
  if (depth <= 0) return undefined;
  if (inner.type === "ArrayExpression") {
    if (inner.elements.length > MAX_ARGUMENT_CHARS) return undefined;
    const items = inner.elements.map((item) => (item ? literalOf(item, syntax, depth - 1) : undefined));
    return allKnown(items) ? items : undefined;
  }
  if (inner.type === "ObjectExpression") {
    const whole: Record<string, Json> = {};
    for (const property of inner.properties) {
      const name = property.type === "Property" ? staticName(property.key, property.computed) : undefined;
      const value = property.type === "Property" ? literalOf(property.value, syntax, depth - 1) : undefined;
      if (name === undefined || name === "__proto__" || value === undefined) return undefined;
      whole[name] = value;
    }
    return whole;
  }
  const values = syntax.folder.valuesOf(inner);
  return values?.length === 1 && isFixed(inner, syntax, MAX_DEPTH) ? (values[0] ?? undefined) : undefined;
}

/**
 * Whether a constant is one at every time. A `var` is undefined before its declaration runs, and a loop over constants
 * uses an iterator that a program can replace.
 */
function isFixed(node: AnyNode, syntax: ProgramSyntax, depth: number): boolean {
  const inner = withoutParens(node);
  const areFixed = (...parts: readonly AnyNode[]): boolean => parts.every((part) => isFixed(part, syntax, depth - 1));
  if (depth <= 0) return false;
  switch (inner.type) {
    case "Literal":
      return true;
    case "TemplateLiteral":
      return areFixed(...inner.expressions);
    case "UnaryExpression":
      return areFixed(inner.argument);
    case "BinaryExpression":
    case "LogicalExpression":
      return areFixed(inner.left, inner.right);
    case "ConditionalExpression":
      return areFixed(inner.consequent, inner.alternate);
    case "MemberExpression":
      return areFixed(inner.object);
    case "Identifier":
      return isFixedName(inner, syntax, depth);
    default:
      return false;
  }
}

function isFixedName(name: Identifier, syntax: ProgramSyntax, depth: number): boolean {
  const binding = syntax.globals.bindingOf(name);
  if (!binding) return name.name === "undefined";
  const [declarer] = binding.declarers;
  if (declarer?.type !== "VariableDeclarator" || !declarer.init) return false;
  const declaration = syntax.tree.parentOf(declarer);
  const isBlockScoped = declaration?.type === "VariableDeclaration" && declaration.kind !== "var";
  return isBlockScoped && isFixed(declarer.init, syntax, depth - 1);
}

function allKnown(items: readonly (Json | undefined)[]): items is readonly Json[] {
  return items.every((item) => item !== undefined);
}

/**
 * Conditions that stay true once they are: nothing in the loop can change them, or a counter moves away from its bound.
 * A loop with such a condition cannot end by itself. In doubt a condition can change.
 */

import type { AnyNode, BinaryExpression } from "acorn";
import { isWritten } from "../fold.ts";
import { staticName, withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import type { NameBinding } from "../resolve-scopes.ts";
import { functionAround } from "../surroundings.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { readSteps } from "./counter-steps.ts";
import type { CounterStep } from "./counter-steps.ts";

/** Why a loop cannot end: `still` if nothing changes its condition, `clock` if only the time would, or a counter. */
export type StuckReason = { readonly kind: "still" | "clock" } | { readonly kind: "counter"; readonly name: string };

const MAX_STEPS = 40;
/** Names with more writes count as changing. */
const MAX_WRITES = 50;
/** Nodes that are searched for effects in all loops together; loops beyond it can change everything. */
const MAX_SEARCHED = 200_000;

interface LoopFacts extends ProgramSyntax {
  readonly loop: AnyNode;
  /** The function that the loop is in. */
  readonly home: AnyNode | undefined;
  readonly writesOf: (binding: NameBinding) => readonly AnyNode[];
  /** Whether the loop may change an object. */
  readonly hasEffects: () => boolean;
}

/** Returns for a loop why its condition cannot become false; `undefined` if it may. */
export function createStuckTest(syntax: ProgramSyntax): (loop: AnyNode) => StuckReason | undefined {
  const written = new Map<NameBinding, readonly AnyNode[]>();
  const writesOf = (binding: NameBinding): readonly AnyNode[] => {
    const known = written.get(binding) ?? binding.mentions.filter((mention) => isWritten(mention, syntax.tree));
    written.set(binding, known);
    return known;
  };
  let searched = 0;
  let isHidden: boolean | undefined;
  return (loop) => {
    const test = "test" in loop && loop.test ? loop.test : undefined;
    if (!test || syntax.folder.truthOf(test) === false) return undefined;
    let effects: boolean | undefined;
    const hasEffects = (): boolean => {
      if (effects !== undefined || searched > MAX_SEARCHED) return effects ?? true;
      const nodes = syntax.tree.within(loop);
      searched += nodes.length;
      isHidden ??= syntax.tree.nodes.some((node) => runsUnseen(node));
      return (effects = isHidden || nodes.some((node) => mayChangeObjects(node, syntax)));
    };
    const home = functionAround(syntax.around(loop));
    return findReason(test, { ...syntax, loop, home, writesOf, hasEffects }, MAX_STEPS);
  };
}

function findReason(test: AnyNode, facts: LoopFacts, steps: number): StuckReason | undefined {
  const node = withoutParens(test);
  if (steps <= 0) return undefined;
  if (node.type === "LogicalExpression" && node.operator !== "??") {
    const left = findReason(node.left, facts, steps - 1);
    const right = left && findReason(node.right, facts, steps - 1);
    return right && (left.kind === "counter" ? left : right);
  }
  const counter = node.type === "BinaryExpression" ? findRunaway(node, facts) : undefined;
  if (counter !== undefined) return { kind: "counter", name: counter };
  if (!isFixed(node, facts, steps)) return undefined;
  return { kind: facts.tree.within(node).some((part) => isClock(part, facts)) ? "clock" : "still" };
}

/** `Date.now()`, `performance.now()` or `new Date()`: the time stands still until the program waits for something. */
function isClock(node: AnyNode, { globals }: Pick<ProgramSyntax, "globals">): boolean {
  const isGlobal = (name: AnyNode, ...names: readonly string[]): boolean =>
    name.type === "Identifier" && names.includes(name.name) && !globals.bindingOf(name);
  if (node.type === "NewExpression") return node.arguments.length === 0 && isGlobal(node.callee, "Date");
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  const { object, property, computed } = node.callee;
  const name = staticName(property, computed);
  if (name === "now") return isGlobal(object, "Date", "performance");
  return (name === "getTime" || name === "valueOf") && isClock(withoutParens(object), { globals });
}

/** Whether an expression has the same value in every round. */
function isFixed(part: AnyNode, facts: LoopFacts, steps: number): boolean {
  const node = withoutParens(part);
  if (steps <= 0) return false;
  if (facts.folder.valuesOf(node)) return true;
  switch (node.type) {
    case "Literal":
      return true;
    case "Identifier":
      return isSteadyName(node, facts);
    case "UnaryExpression":
      return node.operator !== "delete" && isFixed(node.argument, facts, steps - 1);
    case "BinaryExpression":
    case "LogicalExpression":
      return isFixed(node.left, facts, steps - 1) && isFixed(node.right, facts, steps - 1);
    case "ConditionalExpression":
      return [node.test, node.consequent, node.alternate].every((each) => isFixed(each, facts, steps - 1));
    case "TemplateLiteral":
      return node.expressions.every((each) => isFixed(each, facts, steps - 1));
    case "ChainExpression":
      return isFixed(node.expression, facts, steps - 1);
    case "CallExpression":
    case "NewExpression":
      return isClock(node, facts) && !facts.tree.within(facts.loop).some(({ type }) => WAITING.has(type));
    case "MemberExpression":
      if (node.computed && !isFixed(node.property, facts, steps - 1)) return false;
      return isFixed(node.object, facts, steps - 1) && !facts.hasEffects();
    default:
      return false;
  }
}

const WAITING: ReadonlySet<string> = new Set(["AwaitExpression", "YieldExpression", "ForOfStatement"]);

/** `input` is the only global that a program gets as data. */
function isSteadyName(node: AnyNode, facts: LoopFacts): boolean {
  const binding = facts.globals.bindingOf(node);
  if (!binding) return node.type === "Identifier" && (node.name === "input" || node.name === "undefined");
  const writes = facts.writesOf(binding);
  return writes.length <= MAX_WRITES && writes.every((write) => !isInLoop(write, facts)) && isOwn(binding, facts);
}

function isInLoop({ start, end }: AnyNode, { loop }: LoopFacts): boolean {
  return start >= loop.start && end <= loop.end;
}

/** Whether only the function around the loop writes to the name, to its own copy: no call in the loop can change it. */
function isOwn(binding: NameBinding, { writesOf, home, around }: LoopFacts): boolean {
  const writes = writesOf(binding);
  if (writes.length === 0) return true;
  const isHere = (node: AnyNode): boolean => functionAround(around(node)) === home;
  const isDeclaredHere = binding.declarers.every((node) => (isFunction(node) ? node === home : isHere(node)));
  return writes.every(isHere) && (isDeclaredHere || home === undefined);
}

const MIRRORED: ReadonlyMap<string, string> = new Map([
  ["<", ">"],
  ["<=", ">="],
  [">", "<"],
  [">=", "<="],
  ["!==", "!=="],
  ["!=", "!="],
]);

/** The counter of `i < n` that only gets smaller, of `i > n` that only gets larger, or of `i !== n` that never meets `n`. */
function findRunaway({ left, right, operator }: BinaryExpression, facts: LoopFacts): string | undefined {
  const mirrored = MIRRORED.get(operator);
  if (mirrored === undefined) return undefined;
  const sides = [
    { counter: left, bound: right, order: operator },
    { counter: right, bound: left, order: mirrored },
  ];
  for (const { counter, bound, order } of sides) {
    const name = withoutParens(counter);
    const binding = name.type === "Identifier" ? facts.globals.bindingOf(name) : undefined;
    const writes = binding ? facts.writesOf(binding).filter((write) => isInLoop(write, facts)) : [];
    if (name.type !== "Identifier" || !binding || writes.length === 0 || writes.length > MAX_WRITES) continue;
    const steps = isOwn(binding, facts) ? readSteps(writes, facts) : undefined;
    if (steps && runsAway({ steps, order, bound, start: startOf(binding, facts) }, facts)) return name.name;
  }
  return undefined;
}

interface Counter {
  readonly steps: readonly CounterStep[];
  readonly order: string;
  readonly bound: AnyNode;
  /** Its value before the loop, if the source fixes it. */
  readonly start: number | undefined;
}

function runsAway({ steps, order, bound, start }: Counter, facts: LoopFacts): boolean {
  const isFixedBound = isFixed(bound, facts, MAX_STEPS);
  const [end, ...ends] = facts.folder.valuesOf(bound) ?? [];
  const isKnown = start !== undefined && ends.length === 0 && typeof end === "number";
  if (isKnown && (order.startsWith("<") ? start > end : order.startsWith(">") && start < end)) return false; // it never runs
  if (order === "<" || order === "<=") {
    if (!steps.every(({ by }) => by <= 0)) return false;
    return isFixedBound || (start !== undefined && start <= 0 && isLength(bound) && steps.some(({ isSure }) => isSure));
  }
  if (order === ">" || order === ">=") return isFixedBound && steps.every(({ by }) => by >= 0);
  const [step, ...others] = steps;
  if (!step?.isSure || others.length > 0 || !isKnown) return false;
  const rounds = (end - start) / step.by;
  return !(Number.isInteger(rounds) && rounds >= 0);
}

/** A length is never negative. */
function isLength(bound: AnyNode): boolean {
  const node = withoutParens(bound);
  const name = node.type === "MemberExpression" ? staticName(node.property, node.computed) : undefined;
  return name === "length" || name === "size";
}

/** The initial value of a counter that is written nowhere but in the loop. */
function startOf(binding: NameBinding, facts: LoopFacts): number | undefined {
  const [declarer, ...others] = binding.declarers;
  if (others.length > 0 || declarer?.type !== "VariableDeclarator" || !declarer.init) return undefined;
  if (!facts.writesOf(binding).every((write) => isInLoop(write, facts))) return undefined;
  const [value, ...values] = facts.folder.valuesOf(declarer.init) ?? [];
  return values.length === 0 && typeof value === "number" ? value : undefined;
}

/** Global objects whose functions change none of their arguments. */
const PURE: ReadonlySet<string> = new Set(["console", "Math", "Number", "String", "Boolean"]);

/** Whether a node may run code that is not seen here, or writes to an object. */
function mayChangeObjects(node: AnyNode, { globals }: ProgramSyntax): boolean {
  switch (node.type) {
    case "AwaitExpression":
    case "YieldExpression":
    case "NewExpression":
    case "TaggedTemplateExpression":
    case "SpreadElement":
    case "ForOfStatement":
    case "ImportExpression":
      return true;
    case "CallExpression": {
      const callee = withoutParens(node.callee);
      const root = callee.type === "MemberExpression" ? withoutParens(callee.object) : callee;
      return root.type !== "Identifier" || !PURE.has(root.name) || globals.bindingOf(root) !== undefined;
    }
    case "UnaryExpression":
      return node.operator === "delete";
    case "UpdateExpression":
      return node.argument.type !== "Identifier";
    case "AssignmentExpression":
      return node.left.type !== "Identifier";
    default:
      return false;
  }
}

const UNSEEN: ReadonlySet<string> = new Set([
  "defineProperty",
  "defineProperties",
  "valueOf",
  "toString",
  "toPrimitive",
]);

/** Code that runs when a property is read or a value is converted: accessors, proxies and conversions. */
function runsUnseen(node: AnyNode): boolean {
  if (node.type === "Identifier") return node.name === "Proxy" || UNSEEN.has(node.name);
  const isMember = node.type === "Property" || node.type === "MethodDefinition";
  return isMember && (node.kind === "get" || node.kind === "set");
}

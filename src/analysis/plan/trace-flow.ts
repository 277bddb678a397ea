/**
 * Follows the namespaces of tools through a program: names, parameters, lists, records, loops. Where it cannot follow,
 * the whole namespace counts as reached: the answer may be too wide, never too narrow. Without recursion, in bounded
 * steps.
 */

import type { AnyNode, MemberExpression } from "acorn";
import { bindPattern } from "./bind-pattern.ts";
import type { TracedValue } from "./traced-value.ts";
import { depthOf, namespaceOf, textOf } from "./traced-value.ts";
import { climb, createFunctionFinder } from "./find-function.ts";
import type { FunctionFinder } from "./find-function.ts";
import { passArgument } from "./pass-argument.ts";
import { readList } from "./read-list.ts";
import { hasMethods, putIntoRecord, readRecord } from "./follow-record.ts";
import { staticName } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import type { NameBinding, FunctionNode } from "../resolve-scopes.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** One place from which tools are reached. `tool` is `undefined` when it may be any of the namespace. */
export interface ToolReach {
  readonly namespace: string;
  readonly tool: string | undefined;
  /** Where to point: the expression that holds the namespace. */
  readonly node: AnyNode;
  /** What reads the tool: the member expression, or the property of a pattern. */
  readonly reader: AnyNode | undefined;
  readonly computed: boolean;
}

/** What the parts of the tracer share. */
export interface Tracer {
  readonly syntax: ProgramSyntax;
  readonly functions: FunctionFinder;
  /** Whether built-in functions are what they are everywhere: the program does not change them. */
  readonly builtinsHold: boolean;
  /** The expression may be worth `held`. */
  follow(node: AnyNode, held: TracedValue): void;
  /** Everything that is bound by the pattern may be worth (a part of) `held`. */
  bind(pattern: AnyNode, held: TracedValue): void;
  followBinding(binding: NameBinding, held: TracedValue): void;
  /** It got somewhere that is not followed. */
  lose(held: TracedValue, at: AnyNode): void;
  reach(reach: ToolReach): void;
  /** The list in which a value has this place from the start: the place counts only while nothing moves what is in the list. */
  place(item: TracedValue, at: number | undefined, from: AnyNode): TracedValue;
  /** The program moves what is in the list. */
  move(held: TracedValue): void;
}

const MAX_STEPS = 20_000;
const MAX_DEPTH = 4;
const MAX_ROUNDS = 5;

interface TraceInput {
  readonly starts: readonly { readonly node: AnyNode; readonly name: string }[];
  readonly builtinsHold: boolean;
}

/**
 * `undefined` when the program is too entangled to say anything about it. A list that turns out to be moved is followed
 * again without places: what was read from it before the move was seen may have come from anywhere in it.
 */
export function traceFlow(syntax: ProgramSyntax, given: TraceInput): readonly ToolReach[] | undefined {
  const moved = new Set<AnyNode>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = moved.size;
    const reached = traceOnce(syntax, given, moved);
    if (!reached || moved.size === before) return reached;
  }
  return undefined;
}

function traceOnce(
  syntax: ProgramSyntax,
  { starts, builtinsHold }: TraceInput,
  moved: Set<AnyNode>,
): readonly ToolReach[] | undefined {
  const reached: ToolReach[] = [];
  const open: { readonly node: AnyNode; readonly held: TracedValue }[] = [];
  const seen = new Map<AnyNode | NameBinding, Set<string>>();
  const isNew = (place: AnyNode | NameBinding, held: TracedValue): boolean => {
    const known = seen.get(place) ?? new Set();
    seen.set(place, known);
    const text = textOf(held);
    return !known.has(text) && Boolean(known.add(text));
  };
  const flow: Tracer = {
    syntax,
    functions: createFunctionFinder(syntax),
    builtinsHold,
    follow(node, held) {
      if (depthOf(held) > MAX_DEPTH) flow.lose(held, node);
      else if (isNew(node, held)) open.push({ node, held });
    },
    bind: (pattern, held) => bindPattern(pattern, held, flow),
    followBinding(binding, held) {
      if (isNew(binding, held)) for (const mention of binding.mentions) flow.follow(mention, held);
    },
    lose: (held, node) =>
      void reached.push({ namespace: namespaceOf(held), tool: undefined, node, reader: undefined, computed: true }),
    reach: (reach) => void reached.push(reach),
    place: (item, at, from) => ({ kind: "list", item, at: moved.has(from) ? undefined : at, from }),
    move(held) {
      if (held.kind === "list" && held.at !== undefined && held.from) moved.add(held.from);
    },
  };
  for (const { node, name } of starts) flow.follow(node, { kind: "namespace", name });
  let steps = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    steps += 1;
    if (steps > MAX_STEPS) return undefined;
    step(next.node, next.held, flow);
  }
  return reached;
}

/** Parents that look at a value and let go of it. */
const HARMLESS: ReadonlySet<string> = new Set([
  "ExpressionStatement",
  "UnaryExpression",
  "IfStatement",
  "WhileStatement",
  "DoWhileStatement",
  "ForStatement",
  "ForInStatement",
  "SwitchStatement",
  "SwitchCase",
  "ExportDefaultDeclaration",
]);

function step(node: AnyNode, held: TracedValue, flow: Tracer): void {
  const { outermost, parent } = climb(node, flow.syntax);
  if (!parent || HARMLESS.has(parent.type)) return;
  switch (parent.type) {
    case "MemberExpression":
      return parent.object === outermost ? readMember(node, parent, { held, flow }) : undefined;
    case "CallExpression":
    case "NewExpression":
      return parent.callee === outermost ? undefined : passArgument(parent, outermost, { held, flow });
    case "ArrayExpression":
      return flow.follow(parent, flow.place(held, placeIn(parent.elements, outermost), parent));
    case "BinaryExpression":
      // What stands right of `instanceof` may look at the value by a function of its own.
      return parent.operator === "instanceof" && !flow.builtinsHold ? flow.lose(held, node) : undefined;
    case "SpreadElement":
      return spread(parent, { held, flow });
    case "Property":
      return putIntoRecord(parent, outermost, { held, flow });
    case "VariableDeclarator":
      return flow.bind(parent.id, held);
    case "AssignmentExpression":
      return assign(parent, outermost, { held, flow });
    case "AssignmentPattern":
      return parent.right === outermost ? flow.bind(parent.left, held) : undefined;
    case "ConditionalExpression":
      return parent.test === outermost ? undefined : flow.follow(parent, held);
    case "LogicalExpression":
    case "AwaitExpression":
      return flow.follow(parent, held);
    case "SequenceExpression":
      return parent.expressions.at(-1) === outermost ? flow.follow(parent, held) : undefined;
    case "ForOfStatement":
      return parent.right === outermost ? goThrough(parent.left, held, flow) : undefined;
    case "YieldExpression":
      return yieldOne(parent, { held, flow });
    case "ReturnStatement":
      return giveBack(flow.syntax.around(parent)?.node, parent, { held, flow });
    case "ArrowFunctionExpression":
      return giveBack(parent, parent, { held, flow });
    case "TemplateLiteral":
      return flow.syntax.tree.parentOf(parent)?.type === "TaggedTemplateExpression" ? flow.lose(held, node) : undefined;
    default:
      return flow.lose(held, node);
  }
}

/** Behind a spread, places are not known. */
function placeIn(elements: readonly (AnyNode | null)[], node: AnyNode): number | undefined {
  const at = elements.indexOf(node);
  return elements.slice(0, at).some((element) => element?.type === "SpreadElement") ? undefined : at;
}

/** A value on its way, and where the ways lead. */
export interface TraceStep {
  readonly held: TracedValue;
  readonly flow: Tracer;
}

function readMember(node: AnyNode, member: MemberExpression, { held, flow }: TraceStep): void {
  const fixed = staticName(member.property, member.computed);
  const names = fixed === undefined ? flow.syntax.folder.valuesOf(member.property) : [fixed];
  switch (held.kind) {
    case "namespace":
      if (!names) return flow.lose(held, node);
      for (const name of names) {
        flow.reach({ namespace: held.name, tool: String(name), node, reader: member, computed: fixed === undefined });
      }
      return;
    case "list":
      return readList(member, names, { held, flow });
    case "record":
      return readRecord(member, names, { held, flow });
    default:
      return held satisfies never;
  }
}

/** A copy of a record or list has no more than the original. */
function spread(element: AnyNode, { held, flow }: TraceStep): void {
  const whole = flow.syntax.tree.parentOf(element);
  if (whole?.type === "ArrayExpression" && held.kind === "list" && flow.builtinsHold) {
    return flow.follow(whole, { ...held, at: undefined });
  }
  if (whole?.type !== "ObjectExpression" || held.kind === "list" || hasMethods(whole)) return flow.lose(held, element);
  flow.follow(whole, held);
}

function assign(assignment: AnyNode, node: AnyNode, { held, flow }: TraceStep): void {
  if (assignment.type !== "AssignmentExpression" || assignment.right !== node) return;
  flow.bind(assignment.left, held);
  flow.follow(assignment, held);
}

function goThrough(left: AnyNode, held: TracedValue, flow: Tracer): void {
  if (held.kind !== "list") return;
  if (!flow.builtinsHold) return flow.lose(held, left);
  flow.bind(left.type === "VariableDeclaration" ? (left.declarations[0]?.id ?? left) : left, held.item);
}

/** What a generator yields is followed to where the program goes through it. */
function yieldOne(node: AnyNode, { held, flow }: TraceStep): void {
  const callee = enclosingFunction(undefined, node, flow.syntax);
  const calls = callee?.generator && !callee.async ? flow.functions.callsOf(callee) : undefined;
  if (node.type !== "YieldExpression" || node.delegate || !calls) return flow.lose(held, node);
  for (const call of calls) flow.follow(call, { kind: "list", item: held, at: undefined });
}

/** What a function returns is followed to the places that call it, if all of them are known. */
function giveBack(from: AnyNode | undefined, at: AnyNode, { held, flow }: TraceStep): void {
  const callee = enclosingFunction(from, at, flow.syntax);
  if (!callee) return; // the value of the program: what leaves it calls nothing
  const calls = flow.functions.callsOf(callee);
  if (!calls) return flow.lose(held, at);
  for (const call of calls) {
    const parent = climb(call, flow.syntax).parent;
    if (callee.async && parent?.type !== "AwaitExpression") flow.lose(held, call);
    else if (!callee.generator) flow.follow(call, held);
    else flow.lose(held, call);
  }
}

function enclosingFunction(from: AnyNode | undefined, at: AnyNode, syntax: ProgramSyntax): FunctionNode | undefined {
  if (from && isFunction(from) && from.type === "ArrowFunctionExpression") return from;
  let gate = syntax.around(at);
  while (gate && gate.kind !== "function") gate = gate.outer;
  const node = gate?.node;
  return node && isFunction(node) ? node : undefined;
}

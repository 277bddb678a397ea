/**
 * Traces the namespaces of tools through a program: names, parameters, lists, records, loops. Where it cannot follow, the
 * whole namespace counts as reached: the result may be too wide, never too narrow. Not recursive, and bounded.
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
import type { NameBinding, FunctionNode } from "../resolve-scopes.ts";
import { functionAround } from "../surroundings.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** A site that reaches tools. `tool` is `undefined` if it may be any tool of the namespace. */
export interface ToolReach {
  readonly namespace: string;
  readonly tool: string | undefined;
  /** The expression that holds the namespace; its position is reported. */
  readonly node: AnyNode;
  /** The member expression or pattern property that reads the tool. */
  readonly reader: AnyNode | undefined;
  readonly computed: boolean;
}

/** The state and operations of one trace. */
export interface Tracer {
  readonly syntax: ProgramSyntax;
  readonly functions: FunctionFinder;
  /** Whether the program leaves built-in functions unchanged. */
  readonly builtinsHold: boolean;
  /** The expression may have the value `held`. */
  follow(node: AnyNode, held: TracedValue): void;
  /** The pattern may bind `held` or a part of it. */
  bind(pattern: AnyNode, held: TracedValue): void;
  followBinding(binding: NameBinding, held: TracedValue): void;
  /** The value reached code that is not followed. */
  lose(held: TracedValue, at: AnyNode): void;
  reach(reach: ToolReach): void;
  /** Creates a list that holds a value at an index; the index counts only while nothing reorders the list. */
  place(item: TracedValue, at: number | undefined, from: AnyNode): TracedValue;
  /** The program reorders the list. */
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
 * Returns `undefined` if the program exceeds the bounds. If a list turns out to be reordered, the trace starts again
 * without its indexes: reads before the reordering was seen may have come from any index.
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

/** Parents that only read a value. */
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
      // The right side of `instanceof` may have a `Symbol.hasInstance` that receives the value.
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
      return giveBack(functionAround(flow.syntax.around(parent)), parent, { held, flow });
    case "ArrowFunctionExpression":
      return giveBack(parent, parent, { held, flow });
    case "TemplateLiteral":
      return flow.syntax.tree.parentOf(parent)?.type === "TaggedTemplateExpression" ? flow.lose(held, node) : undefined;
    default:
      return flow.lose(held, node);
  }
}

/** After a spread, indexes are unknown. */
function placeIn(elements: readonly (AnyNode | null)[], node: AnyNode): number | undefined {
  const at = elements.indexOf(node);
  return elements.slice(0, at).some((element) => element?.type === "SpreadElement") ? undefined : at;
}

/** A traced value and its tracer. */
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

/** A copy of a record or list contains at most the original. */
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

/** Follows yielded values to the loops over the generator. */
function yieldOne(node: AnyNode, { held, flow }: TraceStep): void {
  const callee = functionAround(flow.syntax.around(node));
  const calls = callee?.generator && !callee.async ? flow.functions.callsOf(callee) : undefined;
  if (node.type !== "YieldExpression" || node.delegate || !calls) return flow.lose(held, node);
  for (const call of calls) flow.follow(call, { kind: "list", item: held, at: undefined });
}

/** Follows a returned value to the calls of the function, if all of them are known. */
function giveBack(callee: FunctionNode | undefined, at: AnyNode, { held, flow }: TraceStep): void {
  if (!callee) return; // the result of the program, which calls nothing
  const calls = flow.functions.callsOf(callee);
  if (!calls) return flow.lose(held, at);
  for (const call of calls) {
    const parent = climb(call, flow.syntax).parent;
    if (callee.async && parent?.type !== "AwaitExpression") flow.lose(held, call);
    else if (!callee.generator) flow.follow(call, held);
    else flow.lose(held, call);
  }
}

/**
 * Traces the namespaces of tools through a program: names, parameters, lists, records, loops. Where it cannot follow, the
 * whole namespace counts as reached: the result may be too wide, never too narrow. Not recursive, and bounded.
 */

import type { AnyNode, MemberExpression, YieldExpression } from "acorn";
import { climb, createCallerFinder } from "./find-function.ts";
import type { FindCallers } from "./find-function.ts";
import { bindPattern, hasMethods, passArgument, putIntoRecord, readList, readRecord } from "./trace-parts.ts";
import { staticName } from "../read-tree.ts";
import type { NameBinding, FunctionNode } from "../resolve-scopes.ts";
import { functionAround } from "../surroundings.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** A value that holds one namespace; an expression may have several traced values. */
export type TracedValue =
  | { readonly kind: "namespace"; readonly name: string }
  /** An array. `at` is the index of the item, if the source fixes it; `from` is the node that created the array. */
  | { readonly kind: "list"; readonly item: TracedValue; readonly at: number | undefined; readonly from?: AnyNode }
  /** An object without methods. */
  | { readonly kind: "record"; readonly key: string; readonly item: TracedValue };

/** A site that reaches tools. `tool` is `undefined` if it may be any tool of the namespace. */
export interface ToolReach {
  readonly namespace: string;
  readonly tool?: string;
  /** The expression that holds the namespace; its position is reported. */
  readonly node: AnyNode;
  /** The member expression or pattern property that reads the tool. */
  readonly reader?: AnyNode;
}

const MAX_STEPS = 20_000;
const MAX_DEPTH = 4;
const MAX_ROUNDS = 5;

interface TraceInput {
  readonly starts: readonly { readonly node: AnyNode; readonly name: string }[];
  /** Whether the program leaves built-in functions unchanged. */
  readonly builtinsHold: boolean;
}

/**
 * Returns `undefined` if the program exceeds the bounds. If a list turns out to be reordered, the trace starts again
 * without its indexes: reads before the reordering was seen may have come from any index.
 */
export function traceFlow(syntax: ProgramSyntax, input: TraceInput): readonly ToolReach[] | undefined {
  const moved = new Set<AnyNode>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = moved.size;
    const tracer = new Tracer(syntax, input.builtinsHold, moved);
    if (!tracer.run(input.starts)) return undefined;
    if (moved.size === before) return tracer.reached;
  }
  return undefined;
}

export class Tracer {
  readonly syntax: ProgramSyntax;
  readonly builtinsHold: boolean;
  readonly callersOf: FindCallers;
  readonly reached: ToolReach[] = [];
  readonly #moved: Set<AnyNode>;
  readonly #open: { readonly node: AnyNode; readonly held: TracedValue }[] = [];
  readonly #followed = new Map<AnyNode | NameBinding, Set<string>>();
  readonly #argumentUsers = new Set<AnyNode>();

  constructor(syntax: ProgramSyntax, builtinsHold: boolean, moved: Set<AnyNode>) {
    this.syntax = syntax;
    this.builtinsHold = builtinsHold;
    this.#moved = moved;
    this.callersOf = createCallerFinder(syntax);
    for (const mention of syntax.globals.mentions.get("arguments") ?? []) {
      for (let gate = syntax.around(mention); gate; gate = gate.outer) this.#argumentUsers.add(gate.node);
    }
  }

  /** Returns false if the program exceeds the bound. */
  run(starts: TraceInput["starts"]): boolean {
    for (const { node, name } of starts) this.follow(node, { kind: "namespace", name });
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const next = this.#open.pop();
      if (next) step(next.node, next.held, this);
      else return true;
    }
    return this.#open.length === 0;
  }

  /** The expression may have the value `held`. */
  follow(node: AnyNode, held: TracedValue): void {
    if (depthOf(held) > MAX_DEPTH) this.lose(held, node);
    else if (this.#isNew(node, held)) this.#open.push({ node, held });
  }

  /** The name may have the value `held`. */
  followBinding(binding: NameBinding, held: TracedValue): void {
    if (this.#isNew(binding, held)) for (const mention of binding.mentions) this.follow(mention, held);
  }

  #isNew(place: AnyNode | NameBinding, held: TracedValue): boolean {
    const known = this.#followed.get(place) ?? new Set();
    this.#followed.set(place, known);
    const text = textOf(held);
    return !known.has(text) && Boolean(known.add(text));
  }

  /** The value reached code that is not followed. */
  lose(held: TracedValue, node: AnyNode): void {
    this.reached.push({ namespace: namespaceOf(held), node });
  }

  /** `reader` reads tools of the namespace that `node` holds; any of them if the names are unknown. */
  reach(namespace: string, names: readonly unknown[], [node, reader]: readonly [AnyNode, AnyNode]): void {
    for (const name of names) this.reached.push({ namespace, tool: String(name), node, reader });
  }

  /** Creates a list that holds a value at an index; the index counts only while nothing reorders the list. */
  place(item: TracedValue, at: number | undefined, from: AnyNode): TracedValue {
    return { kind: "list", item, at: this.#moved.has(from) ? undefined : at, from };
  }

  /** The program reorders the list. */
  move(held: TracedValue): void {
    if (held.kind === "list" && held.at !== undefined && held.from) this.#moved.add(held.from);
  }

  /** `arguments` exposes values without a parameter. */
  usesArguments(callee: FunctionNode): boolean {
    return this.#argumentUsers.has(callee);
  }

  /** The names that a key can have, if the source fixes them. */
  namesOf(key: AnyNode, computed: boolean): readonly unknown[] | undefined {
    const fixed = staticName(key, computed);
    return fixed === undefined ? this.syntax.folder.valuesOf(key) : [fixed];
  }
}

/** A key: two values with the same key are followed once. */
function textOf(held: TracedValue): string {
  if (held.kind === "namespace") return held.name;
  const place = held.kind === "list" ? `${held.at ?? ""} ${held.from?.start ?? ""}` : JSON.stringify(held.key);
  return `${held.kind} ${place} (${textOf(held.item)})`;
}

function depthOf(held: TracedValue): number {
  return held.kind === "namespace" ? 0 : 1 + depthOf(held.item);
}

function namespaceOf(held: TracedValue): string {
  return held.kind === "namespace" ? held.name : namespaceOf(held.item);
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
      return parent.object === outermost ? readMember([node, parent], held, flow) : undefined;
    case "CallExpression":
    case "NewExpression":
      return parent.callee === outermost ? undefined : passArgument([outermost, parent], held, flow);
    case "ArrayExpression":
      return flow.follow(parent, flow.place(held, placeIn(parent.elements, outermost), parent));
    case "BinaryExpression":
      // The right side of `instanceof` may have a `Symbol.hasInstance` that receives the value.
      return parent.operator === "instanceof" && !flow.builtinsHold ? flow.lose(held, node) : undefined;
    case "SpreadElement":
      return spread(parent, held, flow);
    case "Property":
      return putIntoRecord([outermost, parent], held, flow);
    case "VariableDeclarator":
      return bindPattern(parent.id, held, flow);
    case "AssignmentExpression":
      if (parent.right !== outermost) return;
      bindPattern(parent.left, held, flow);
      return flow.follow(parent, held);
    case "AssignmentPattern":
      return parent.right === outermost ? bindPattern(parent.left, held, flow) : undefined;
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
      return yieldOne(parent, held, flow);
    case "ReturnStatement":
      return giveBack([functionAround(flow.syntax.around(parent)), parent], held, flow);
    case "ArrowFunctionExpression":
      return giveBack([parent, parent], held, flow);
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

function readMember([node, member]: readonly [AnyNode, MemberExpression], held: TracedValue, flow: Tracer): void {
  if (held.kind === "list") return readList(member, held, flow);
  if (held.kind === "record") return readRecord(member, held, flow);
  const names = flow.namesOf(member.property, member.computed);
  return names ? flow.reach(held.name, names, [node, member]) : flow.lose(held, node);
}

/** A copy of a record or list contains at most the original. */
function spread(element: AnyNode, held: TracedValue, flow: Tracer): void {
  const whole = flow.syntax.tree.parentOf(element);
  if (whole?.type === "ArrayExpression" && held.kind === "list" && flow.builtinsHold) {
    return flow.follow(whole, { ...held, at: undefined });
  }
  if (whole?.type !== "ObjectExpression" || held.kind === "list" || hasMethods(whole)) return flow.lose(held, element);
  flow.follow(whole, held);
}

function goThrough(left: AnyNode, held: TracedValue, flow: Tracer): void {
  if (held.kind !== "list") return;
  if (!flow.builtinsHold) return flow.lose(held, left);
  bindPattern(left.type === "VariableDeclaration" ? (left.declarations[0]?.id ?? left) : left, held.item, flow);
}

/** Follows yielded values to the loops over the generator. */
function yieldOne(node: YieldExpression, held: TracedValue, flow: Tracer): void {
  const callee = functionAround(flow.syntax.around(node));
  const calls = callee?.generator && !callee.async ? flow.callersOf(callee) : undefined;
  if (node.delegate || !calls) return flow.lose(held, node);
  for (const call of calls) flow.follow(call, { kind: "list", item: held, at: undefined });
}

/** Follows a returned value to the calls of the function, if all of them are known. */
function giveBack([callee, at]: readonly [FunctionNode | undefined, AnyNode], held: TracedValue, flow: Tracer): void {
  if (!callee) return; // the result of the program, which calls nothing
  const calls = flow.callersOf(callee);
  if (!calls) return flow.lose(held, at);
  for (const call of calls) {
    const isAwaited = climb(call, flow.syntax).parent?.type === "AwaitExpression";
    if (callee.generator || (callee.async && !isAwaited)) flow.lose(held, call);
    else flow.follow(call, held);
  }
}

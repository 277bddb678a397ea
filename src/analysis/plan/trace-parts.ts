/** Follows a traced value through patterns, lists, object literals and the parameters of functions. */

import type { AnyNode, CallExpression, MemberExpression, NewExpression, ObjectExpression } from "acorn";
import { callOf, climb, findFunction } from "./find-function.ts";
import { staticName, withoutParens } from "../read-tree.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { TracedValue, Tracer } from "./trace-flow.ts";

type TracedList = Extract<TracedValue, { kind: "list" }>;
type TracedRecord = Extract<TracedValue, { kind: "record" }>;

/** Names are followed to their mentions; anything but a name or a plain pattern is lost. */
export function bindPattern(pattern: AnyNode, held: TracedValue, flow: Tracer): void {
  switch (pattern.type) {
    case "Identifier": {
      const binding = flow.syntax.globals.bindingOf(pattern);
      return binding ? flow.followBinding(binding, held) : flow.lose(held, pattern);
    }
    case "AssignmentPattern":
      return bindPattern(pattern.left, held, flow);
    case "ParenthesizedExpression":
      return bindPattern(pattern.expression, held, flow);
    case "ObjectPattern":
      for (const part of pattern.properties) {
        if (part.type === "Property") bindProperty(part, held, flow);
        else bindPattern(part.argument, held, flow); // the rest contains at most the whole
      }
      return;
    case "ArrayPattern":
      return bindArray(pattern.elements, held, flow);
    default:
      return flow.lose(held, pattern);
  }
}

function bindProperty(
  part: { key: AnyNode; computed: boolean; value: AnyNode } & AnyNode,
  held: TracedValue,
  flow: Tracer,
): void {
  const names = flow.namesOf(part.key, part.computed);
  if (!names || held.kind === "list") flow.lose(held, part);
  else if (held.kind === "namespace") flow.reach(held.name, names, [part, part]);
  else if (names.includes(held.key)) bindPattern(part.value, held.item, flow);
  else if (names.some(isInherited)) flow.lose(held, part);
}

/** Every object has this member; reading it may expose the object. */
export function isInherited(name: unknown): boolean {
  return Object.hasOwn(Object.prototype, String(name));
}

function bindArray(elements: readonly (AnyNode | null)[], held: TracedValue, flow: Tracer): void {
  if (held.kind === "record") flow.lose(held, elements[0] ?? flow.syntax.tree.root);
  if (held.kind !== "list") return;
  for (const [at, element] of elements.entries()) {
    if (!element) continue;
    if (element.type === "RestElement") flow.lose(held, element);
    else if (held.at === undefined || held.at === at) bindPattern(element, held.item, flow);
  }
}

interface ListMethod {
  readonly gives?: "item" | "list";
  /** How many items its callback receives. */
  readonly callsBack?: 1 | 2;
  /** Whether it reorders the list. */
  readonly moves?: true;
}

/** Array methods that pass items on. */
const LIST_METHODS: ReadonlyMap<string, ListMethod> = new Map<string, ListMethod>([
  ["at", { gives: "item" }],
  ["concat", { gives: "list" }],
  ["every", { callsBack: 1 }],
  ["filter", { gives: "list", callsBack: 1 }],
  ["find", { gives: "item", callsBack: 1 }],
  ["findIndex", { callsBack: 1 }],
  ["findLast", { gives: "item", callsBack: 1 }],
  ["flatMap", { callsBack: 1 }],
  ["forEach", { callsBack: 1 }],
  ["includes", {}],
  ["indexOf", {}],
  ["map", { callsBack: 1 }],
  ["pop", { gives: "item" }],
  ["push", {}],
  ["reverse", { gives: "list", moves: true }],
  ["shift", { gives: "item", moves: true }],
  ["slice", { gives: "list" }],
  ["some", { callsBack: 1 }],
  ["sort", { gives: "list", callsBack: 2, moves: true }],
  ["splice", { gives: "list", moves: true }],
  ["toReversed", { gives: "list" }],
  ["toSorted", { gives: "list", callsBack: 2 }],
]);

/** Any other use loses the list. */
export function readList(member: MemberExpression, held: TracedList, flow: Tracer): void {
  const names = flow.namesOf(member.property, member.computed);
  const name = names?.length === 1 ? names[0] : undefined;
  const call = callOf(member, flow.syntax);
  if (name === "length") return;
  if (typeof name === "number" || (member.computed && !names)) {
    // An unknown name is an item, or a method that may reorder the list.
    if (name === undefined && call) flow.lose(held, member);
    if (name === undefined || held.at === undefined || held.at === name) flow.follow(member, held.item);
    return;
  }
  const method = typeof name === "string" ? LIST_METHODS.get(name) : undefined;
  if (typeof name !== "string" || method?.moves) flow.move(held);
  if (!call || !method || !flow.builtinsHold) return flow.lose(held, member);
  if (method.callsBack && call.arguments.length > 0) callBack([call, method.callsBack], held, flow);
  if (method.gives === "item") flow.follow(call, held.item);
  if (method.gives === "list") flow.follow(call, { ...held, at: undefined });
}

/** The callback of an array method receives the items first, and the list as its third argument. */
function callBack([call, items]: readonly [CallExpression, number], held: TracedList, flow: Tracer): void {
  const callback = call.arguments[0] && findFunction(call.arguments[0], flow.syntax);
  if (!callback || callback.params.length > 2 || flow.usesArguments(callback)) return flow.lose(held, call);
  for (const param of callback.params.slice(0, items)) bindPattern(param, held.item, flow);
}

/** Other names lead nowhere, unless a function that was added later receives the object as its `this`. */
export function readRecord(member: MemberExpression, held: TracedRecord, flow: Tracer): void {
  const names = flow.namesOf(member.property, member.computed);
  if (names?.some(isInherited)) return flow.lose(held, member);
  if (!names || names.includes(held.key)) flow.follow(member, held.item);
  const { outermost, parent } = climb(member, flow.syntax);
  const isTag = parent?.type === "TaggedTemplateExpression" && parent.tag === outermost;
  const givesThis = isTag || callOf(member, flow.syntax) !== undefined;
  if (givesThis && !names?.every((name) => name === held.key)) flow.lose(held, member);
}

/** Memo: an object with thousands of properties is tested for each of them. */
const withMethods = new WeakMap<ObjectExpression, boolean>();

/** Whether a function in the object literal can see the object through `this`. */
export function hasMethods(record: ObjectExpression): boolean {
  const known =
    withMethods.get(record) ??
    record.properties.some(
      (part) => part.type === "Property" && (part.kind !== "init" || part.value.type === "FunctionExpression"),
    );
  withMethods.set(record, known);
  return known;
}

/** The object now holds the value. Objects with methods or accessors are not followed: those see it through `this`. */
export function putIntoRecord(
  [node, property]: readonly [AnyNode, { key: AnyNode; computed: boolean } & AnyNode],
  held: TracedValue,
  flow: Tracer,
): void {
  const record = flow.syntax.tree.parentOf(property);
  if (record?.type !== "ObjectExpression" || (property.computed && property.key === node)) return;
  const names = flow.namesOf(property.key, property.computed);
  if (!names || hasMethods(record) || names.includes("__proto__")) return flow.lose(held, node);
  for (const name of names) flow.follow(record, { kind: "record", key: String(name), item: held });
}

/** Built-in functions that read a value and neither keep nor return it. */
const LOOKING: ReadonlySet<string> = new Set([
  "Object.keys",
  "Object.getOwnPropertyNames",
  "Object.hasOwn",
  "JSON.stringify",
  "console.log",
  "console.info",
  "console.debug",
  "console.warn",
  "console.error",
  "Array.isArray",
  "Boolean",
]);

/** Follows it into the parameter of a known function or through `Object.values` and `Object.entries`; otherwise loses it. */
export function passArgument(
  [node, call]: readonly [AnyNode, CallExpression | NewExpression],
  held: TracedValue,
  flow: Tracer,
): void {
  const builtin = flow.builtinsHold ? builtinOf(call.callee, flow.syntax) : undefined;
  if (builtin === "JSON.stringify" && !isPlain(call.arguments[1])) return flow.lose(held, node);
  if (builtin !== undefined && LOOKING.has(builtin)) return;
  if (builtin === "Object.values" || builtin === "Object.entries") {
    if (held.kind === "namespace") return flow.lose(held, call);
    // The entries are lists with the value at index 1.
    const item = builtin === "Object.entries" ? flow.place(held.item, 1, call) : held.item;
    return flow.follow(call, { kind: "list", item, at: undefined });
  }
  const at = call.arguments.findIndex((argument) => argument === node);
  const callee = call.type === "CallExpression" ? findFunction(call.callee, flow.syntax) : undefined;
  const spread = call.arguments.slice(0, at).some((argument) => argument.type === "SpreadElement");
  if (at < 0 || !callee || spread || flow.usesArguments(callee)) return flow.lose(held, node);
  const param = callee.params[at];
  const rest = callee.params.at(-1);
  if (param && param.type !== "RestElement") return bindPattern(param, held, flow);
  if (rest?.type === "RestElement") {
    bindPattern(rest.argument, flow.place(held, at - callee.params.length + 1, rest), flow);
  }
}

/** `JSON.stringify` passes every value to the function that is its second argument. */
function isPlain(replacer: AnyNode | undefined): boolean {
  if (!replacer) return true;
  const inner = withoutParens(replacer);
  if (inner.type === "Identifier") return inner.name === "undefined";
  return inner.type === "Literal" || inner.type === "ArrayExpression";
}

/** Returns a name like `Object.keys` for a global function or a method of a global, otherwise `undefined`. */
function builtinOf(callee: AnyNode, { globals }: ProgramSyntax): string | undefined {
  const inner = withoutParens(callee);
  const root = inner.type === "MemberExpression" ? inner.object : inner;
  if (root.type !== "Identifier" || globals.bindingOf(root)) return undefined;
  return inner.type === "MemberExpression"
    ? `${root.name}.${staticName(inner.property, inner.computed) ?? ""}`
    : root.name;
}

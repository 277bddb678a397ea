/** How often and when a call may run, and which of its arguments the text fixes. */

import type { AnyNode, CallExpression, Expression, SpreadElement } from "acorn";
import type { CallSite, Json, JsonObject } from "../domain/index.ts";
import { climb } from "./find-function.ts";
import type { FunctionFinder } from "./find-function.ts";
import { staticName, withoutParens } from "./read-tree.ts";
import { isFunction } from "./resolve-scopes.ts";
import type { FunctionNode } from "./resolve-scopes.ts";
import type { Subject } from "./rules/rule.ts";

/** What a plan says about one call besides its tool. */
export type CallContext = Pick<CallSite, "times" | "when" | "args">;

/** For a tool that is handed around: it may be called by anyone. */
export const UNKNOWN_CONTEXT: CallContext = { times: "many", when: "maybe" };

const MAX_ARGUMENT_CHARS = 2_000;
const MAX_DEPTH = 6;

/** Answers about the calls of one program. */
export function createCallContext(subject: Subject, functions: FunctionFinder): (reader: AnyNode) => CallContext {
  const exits = findEarlyExits(subject);
  return (reader) => {
    const call = findOnlyCall(reader, subject);
    if (!call) return UNKNOWN_CONTEXT;
    const args = readArguments(call, subject);
    return { ...whenOf(call, subject, { functions, exits }), ...(args && { args }) };
  };
}

/** The one call that a read tool is for: the read is its callee, or it gives the only name that is called once. */
function findOnlyCall(reader: AnyNode, subject: Subject): CallExpression | undefined {
  const { outermost, parent } = climb(reader, subject);
  if (parent?.type === "CallExpression") return parent.callee === outermost ? parent : undefined;
  const target =
    reader.type === "Property" ? reader.value : parent?.type === "VariableDeclarator" ? parent.id : undefined;
  const binding = target?.type === "Identifier" ? subject.globals.bindingOf(target) : undefined;
  const [mention] = binding?.mentions ?? [];
  if (binding?.declarers.length !== 1 || binding.mentions.length !== 1 || !mention) return undefined;
  const use = climb(mention, subject);
  return use.parent?.type === "CallExpression" && use.parent.callee === use.outermost ? use.parent : undefined;
}

interface Known {
  readonly functions: FunctionFinder;
  /** For each function (or the program) the first place from which it may be left early. */
  readonly exits: ReadonlyMap<AnyNode | undefined, number>;
}

function whenOf(call: AnyNode, subject: Subject, { functions, exits }: Known): Pick<CallSite, "times" | "when"> {
  let [node, times, when] = [call, "once" as CallSite["times"], "always" as CallSite["when"]];
  const seen = new Set<AnyNode>();
  for (;;) {
    let gate = subject.around(node);
    for (; gate && gate.kind !== "function"; gate = gate.outer) {
      if (gate.kind === "loop") times = "many";
      if (gate.kind !== "guard" && gate.node.type !== "DoWhileStatement") when = "maybe";
    }
    const callee = gate?.node;
    if ((exits.get(callee) ?? Infinity) < node.start) when = "maybe";
    if (!callee || !isFunction(callee)) return { times, when };
    const caller = findOnlyCaller(callee, subject, functions);
    if (caller === "program") return { times, when };
    if (!caller || seen.has(caller)) return { times: "many", when: "maybe" };
    seen.add(caller);
    node = caller;
  }
}

/** The only place that calls a function; "program" for the function that the program consists of. */
function findOnlyCaller(
  callee: FunctionNode,
  subject: Subject,
  functions: FunctionFinder,
): AnyNode | "program" | undefined {
  const calls = functions.callsOf(callee);
  if (calls?.length === 1) return calls[0];
  const { outermost, parent } = climb(callee, subject);
  const statement =
    callee.type === "FunctionDeclaration" ? callee : parent?.type === "VariableDeclarator" ? undefined : parent;
  const isTop =
    statement !== undefined &&
    (subject.tree.root.body.some((node) => node === statement || node === outermost) ||
      statement.type === "ExportDefaultDeclaration");
  return isTop && (calls === undefined || calls.length === 0) ? "program" : undefined;
}

/** A `return` or `throw` that a condition leads to: what comes after it may not run. */
function findEarlyExits({ tree, around }: Subject): ReadonlyMap<AnyNode | undefined, number> {
  const exits = new Map<AnyNode | undefined, number>();
  for (const node of tree.nodes) {
    if (node.type !== "ReturnStatement" && node.type !== "ThrowStatement") continue;
    let gate = around(node);
    while (gate && gate.kind !== "function") gate = gate.outer;
    // From its end on: what stands in it runs before it leaves.
    exits.set(gate?.node, Math.min(exits.get(gate?.node) ?? Infinity, node.end));
  }
  return exits;
}

function readArguments(call: CallExpression, subject: Subject): JsonObject | undefined {
  const [first] = call.arguments;
  const given = first && withoutParens(first);
  if (given?.type !== "ObjectExpression") return undefined;
  const args: Record<string, Json> = {};
  for (const property of given.properties) {
    if (property.type !== "Property" || property.kind !== "init") return undefined; // may change any of them
    const name = staticName(property.key, property.computed);
    if (name === undefined || name === "__proto__") return undefined; // a name that is not known may be any of them
    const value = literalOf(property.value, subject, MAX_DEPTH);
    // The last of two with one name counts, also when it is not known.
    if (value === undefined) delete args[name];
    else args[name] = value;
  }
  const chars = JSON.stringify(args).length;
  return Object.keys(args).length > 0 && chars <= MAX_ARGUMENT_CHARS ? args : undefined;
}

function literalOf(node: Expression | SpreadElement, subject: Subject, depth: number): Json | undefined {
  const inner = withoutParens(node);
  if (depth <= 0) return undefined;
  if (inner.type === "ArrayExpression") {
    if (inner.elements.length > MAX_ARGUMENT_CHARS) return undefined;
    const items = inner.elements.map((item) => (item ? literalOf(item, subject, depth - 1) : undefined));
    return allKnown(items) ? items : undefined;
  }
  if (inner.type === "ObjectExpression") {
    const whole: Record<string, Json> = {};
    for (const property of inner.properties) {
      const name = property.type === "Property" ? staticName(property.key, property.computed) : undefined;
      const value = property.type === "Property" ? literalOf(property.value, subject, depth - 1) : undefined;
      if (name === undefined || name === "__proto__" || value === undefined) return undefined;
      whole[name] = value;
    }
    return whole;
  }
  const values = subject.folder.valuesOf(inner);
  return values?.length === 1 ? (values[0] ?? undefined) : undefined;
}

function allKnown(items: readonly (Json | undefined)[]): items is readonly Json[] {
  return items.every((item) => item !== undefined);
}

/** Follows a traced value that is passed to a function. */

import type { AnyNode, CallExpression, NewExpression } from "acorn";
import type { TracedValue } from "./traced-value.ts";
import { staticName, withoutParens } from "../read-tree.ts";
import type { TraceStep, Tracer } from "./trace-flow.ts";

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
export function passArgument(call: CallExpression | NewExpression, node: AnyNode, { held, flow }: TraceStep): void {
  const builtin = flow.builtinsHold ? builtinOf(call.callee, flow) : undefined;
  if (builtin === "JSON.stringify" && !isPlain(call.arguments[1])) return flow.lose(held, node);
  if (builtin !== undefined && LOOKING.has(builtin)) return;
  if (builtin === "Object.values" || builtin === "Object.entries") return unpack(call, builtin, { held, flow });
  const at = call.arguments.findIndex((argument) => argument === node);
  const callee = call.type === "CallExpression" ? flow.functions.find(call.callee) : undefined;
  const spread = call.arguments.slice(0, at).some((argument) => argument.type === "SpreadElement");
  if (at < 0 || !callee || spread || flow.functions.usesArguments(callee)) return flow.lose(held, node);
  const param = callee.params[at];
  const rest = callee.params.at(-1);
  if (param && param.type !== "RestElement") return flow.bind(param, held);
  if (rest?.type === "RestElement") {
    flow.bind(rest.argument, flow.place(held, at - callee.params.length + 1, rest));
  }
}

/** `JSON.stringify` passes every value to the function that is its second argument. */
function isPlain(replacer: AnyNode | undefined): boolean {
  if (!replacer) return true;
  const inner = withoutParens(replacer);
  if (inner.type === "Identifier") return inner.name === "undefined";
  return inner.type === "Literal" || inner.type === "ArrayExpression";
}

/** The values as a list; the entries as a list of lists with the value at index 1. */
function unpack(call: AnyNode, builtin: string, { held, flow }: TraceStep): void {
  if (held.kind === "namespace") return flow.lose(held, call);
  const item = held.kind === "list" ? held.item : held.value;
  const entry: TracedValue = builtin === "Object.entries" ? flow.place(item, 1, call) : item;
  flow.follow(call, { kind: "list", item: entry, at: undefined });
}

/** Returns a name like `Object.keys` for a global function or a method of a global, otherwise `undefined`. */
function builtinOf(callee: AnyNode, { syntax }: Tracer): string | undefined {
  const inner = withoutParens(callee);
  if (inner.type === "Identifier") return syntax.globals.bindingOf(inner) ? undefined : inner.name;
  if (inner.type !== "MemberExpression" || inner.object.type !== "Identifier") return undefined;
  if (syntax.globals.bindingOf(inner.object)) return undefined;
  return `${inner.object.name}.${staticName(inner.property, inner.computed) ?? ""}`;
}

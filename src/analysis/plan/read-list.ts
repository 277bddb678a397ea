/** Follows a traced list when a member is read or a method is called. */

import type { CallExpression, MemberExpression } from "acorn";
import { climb } from "./find-function.ts";
import type { TraceStep } from "./trace-flow.ts";

const GIVES_ITEM: ReadonlySet<string> = new Set(["find", "findLast", "at", "pop", "shift"]);
const GIVES_LIST: ReadonlySet<string> = new Set([
  "filter",
  "slice",
  "toReversed",
  "toSorted",
  "reverse",
  "concat",
  "sort",
  "splice",
]);
/** Methods that reorder the list in place. */
const MOVES: ReadonlySet<string> = new Set(["reverse", "sort", "splice", "shift"]);
const GIVES_NEITHER: ReadonlySet<string> = new Set([
  "forEach",
  "map",
  "flatMap",
  "some",
  "every",
  "findIndex",
  "includes",
  "indexOf",
  "push",
]);
const CALLS_BACK: ReadonlySet<string> = new Set([
  "sort",
  "toSorted",
  "find",
  "findLast",
  "filter",
  "forEach",
  "map",
  "flatMap",
  "some",
  "every",
  "findIndex",
]);

/** Array methods that pass items on are followed; any other use loses the list. */
export function readList(
  member: MemberExpression,
  names: readonly unknown[] | undefined,
  { held, flow }: TraceStep,
): void {
  if (held.kind !== "list") return;
  const name = names?.length === 1 ? names[0] : undefined;
  if (name === "length") return;
  if (typeof name === "number" || (member.computed && names === undefined))
    return readItem(member, name, { held, flow });
  if (typeof name !== "string" || MOVES.has(name)) flow.move(held);
  const { outermost, parent } = climb(member, flow.syntax);
  const call = parent?.type === "CallExpression" && parent.callee === outermost ? parent : undefined;
  const known = typeof name === "string" && (GIVES_ITEM.has(name) || GIVES_LIST.has(name) || GIVES_NEITHER.has(name));
  if (!call || !known || !flow.builtinsHold) return flow.lose(held, member);
  if (CALLS_BACK.has(name) && call.arguments.length > 0) callBack(call, name, { held, flow });
  if (GIVES_ITEM.has(name)) flow.follow(call, held.item);
  if (GIVES_LIST.has(name)) flow.follow(call, { ...held, at: undefined });
}

/** `list[0]`, or an unknown name: an item, or a method that may reorder the list. */
function readItem(member: MemberExpression, at: unknown, { held, flow }: TraceStep): void {
  if (held.kind !== "list") return;
  const { outermost, parent } = climb(member, flow.syntax);
  if (at === undefined && parent?.type === "CallExpression" && parent.callee === outermost) flow.lose(held, member);
  if (at === undefined || held.at === undefined || held.at === at) flow.follow(member, held.item);
}

/**
 * The callback of an array method receives each item, and the list as its third argument; a comparator receives two items.
 */
function callBack(call: CallExpression, name: string, { held, flow }: TraceStep): void {
  const callback = call.arguments[0] && flow.functions.find(call.arguments[0]);
  if (held.kind !== "list" || !callback || callback.params.length > 2 || flow.functions.usesArguments(callback)) {
    return flow.lose(held, call);
  }
  const [item, other] = callback.params;
  if (item) flow.bind(item, held.item);
  if (other && (name === "sort" || name === "toSorted")) flow.bind(other, held.item);
}

/** Follows a traced value into an object literal, and out of it when it is read. */

import type { AnyNode, MemberExpression, ObjectExpression } from "acorn";
import { climb } from "./find-function.ts";
import { staticName } from "../read-tree.ts";
import type { TraceStep, Tracer } from "./trace-flow.ts";

/** Other names lead nowhere, unless a function that was added later receives the object as its `this`. */
export function readRecord(
  member: MemberExpression,
  names: readonly unknown[] | undefined,
  { held, flow }: TraceStep,
): void {
  if (held.kind !== "record") return;
  if (names?.some((name) => Object.hasOwn(Object.prototype, String(name)))) return flow.lose(held, member);
  if (!names || names.includes(held.key)) flow.follow(member, held.value);
  if (givesThis(member, flow) && !names?.every((name) => name === held.key)) flow.lose(held, member);
}

/** Whether the member is called as a method, which receives the object. */
function givesThis(member: MemberExpression, { syntax }: Tracer): boolean {
  const { outermost, parent } = climb(member, syntax);
  if (parent?.type === "TaggedTemplateExpression") return parent.tag === outermost;
  return parent?.type === "CallExpression" && parent.callee === outermost;
}

/** Memo: an object with thousands of properties is tested for each of them. */
const withMethods = new WeakMap<ObjectExpression, boolean>();

/** Whether a function in the object literal can see the object through `this`. */
export function hasMethods(record: ObjectExpression): boolean {
  const known = withMethods.get(record) ?? record.properties.some(isMethod);
  withMethods.set(record, known);
  return known;
}

function isMethod(property: ObjectExpression["properties"][number]): boolean {
  return property.type === "Property" && (property.kind !== "init" || property.value.type === "FunctionExpression");
}

/** The object now holds the value. Objects with methods or accessors are not followed: those see it through `this`. */
export function putIntoRecord(property: AnyNode, node: AnyNode, { held, flow }: TraceStep): void {
  if (property.type !== "Property") return;
  const record = flow.syntax.tree.parentOf(property);
  if (record?.type !== "ObjectExpression" || (property.computed && property.key === node)) return;
  const fixed = staticName(property.key, property.computed);
  const names = fixed === undefined ? flow.syntax.folder.valuesOf(property.key) : [fixed];
  if (!names || hasMethods(record) || names.includes("__proto__")) return flow.lose(held, node);
  for (const name of names) flow.follow(record, { kind: "record", key: String(name), value: held });
}

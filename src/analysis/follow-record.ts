/** What becomes of a followed value that is put into an object, and of the object when it is read. */

import type { AnyNode, MemberExpression, ObjectExpression } from "acorn";
import { climb } from "./find-function.ts";
import type { Held } from "./held-value.ts";
import { staticName } from "./read-tree.ts";
import type { Subject } from "./rules/rule.ts";
import type { Carried, Flow } from "./trace-flow.ts";

/** Names that are not in the object lead nowhere, unless a method that nobody followed gets the object as its `this`. */
export function readRecord(
  member: MemberExpression,
  names: readonly unknown[] | undefined,
  { held, flow }: Carried,
): void {
  if (held.kind !== "record") return;
  if (names?.some((name) => Object.hasOwn(Object.prototype, String(name)))) return flow.lose(held, member);
  if (!names || names.includes(held.key)) flow.follow(member, held.value);
  const isFollowed = names?.every((name) => name === held.key || held.methods.some((method) => method === name));
  if (givesThis(member, flow) && !isFollowed) flow.lose(held, member);
}

/** A method sees the object that it is called on. */
function givesThis(member: MemberExpression, { subject }: Flow): boolean {
  const { outermost, parent } = climb(member, subject);
  if (parent?.type === "TaggedTemplateExpression") return parent.tag === outermost;
  return parent?.type === "CallExpression" && parent.callee === outermost;
}

/** Whether anything written in the object sees all of it through `this`. */
export function hasMethods(record: ObjectExpression): boolean {
  return record.properties.some(
    (property) =>
      property.type === "Property" && (property.kind !== "init" || property.value.type === "FunctionExpression"),
  );
}

/** The object holds the value from now on, and so does `this` in its methods. Accessors run unseen: they are not followed. */
export function putIntoRecord(property: AnyNode, node: AnyNode, { held, flow }: Carried): void {
  if (property.type !== "Property") return;
  const record = flow.subject.tree.parentOf(property);
  if (record?.type !== "ObjectExpression" || (property.computed && property.key === node)) return;
  const fixed = staticName(property.key, property.computed);
  const names = fixed === undefined ? flow.subject.folder.valuesOf(property.key) : [fixed];
  const methods = readMethods(record, flow.subject);
  if (!names || !methods || names.includes("__proto__")) return flow.lose(held, node);
  for (const name of names) {
    const whole: Held = { kind: "record", key: String(name), value: held, methods: methods.names };
    flow.follow(record, whole);
    for (const self of methods.selves) flow.follow(self, whole);
  }
}

interface Methods {
  readonly names: readonly string[];
  /** Every `this` in them. */
  readonly selves: readonly AnyNode[];
}

/** An object with thousands of properties is asked for its methods by each of them. */
const known = new WeakMap<ObjectExpression, { readonly methods: Methods | undefined }>();

/** `undefined` when a method cannot be told by name or runs by being read. */
function readMethods(record: ObjectExpression, subject: Subject): Methods | undefined {
  const found = known.get(record) ?? { methods: findMethods(record, subject) };
  known.set(record, found);
  return found.methods;
}

function findMethods(record: ObjectExpression, { tree, around }: Subject): Methods | undefined {
  const names: string[] = [];
  const selves: AnyNode[] = [];
  for (const property of record.properties) {
    if (property.type !== "Property" || (property.kind === "init" && property.value.type !== "FunctionExpression"))
      continue;
    const name = staticName(property.key, property.computed);
    if (property.kind !== "init" || name === undefined || Object.hasOwn(Object.prototype, name)) return undefined;
    names.push(name);
    for (const node of tree.within(property.value)) {
      if (node.type === "ThisExpression" && ownerOf(around(node)) === property.value) selves.push(node);
    }
  }
  return { names, selves };
}

/** The function that gives `this` its meaning. */
function ownerOf(from: ReturnType<Subject["around"]>): AnyNode | undefined {
  let gate = from;
  while (gate && (gate.kind !== "function" || gate.node.type === "ArrowFunctionExpression")) gate = gate.outer;
  return gate?.node;
}

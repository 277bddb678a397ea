/**
 * Which tools a program can reach, as far as its text tells: for people, for plans, and as a fence around the program
 * when nothing is in doubt. In doubt the answer is "dynamic". The host decides at the call.
 */

import { parseToolAddress } from "../domain/index.ts";
import type { Namespace } from "../domain/index.ts";
import type { AnyNode, Identifier } from "acorn";
import { UNKNOWN_CONTEXT, createCallContext } from "./call-context.ts";
import type { CallSite } from "./call-context.ts";
import { climb, createFunctionFinder } from "./find-function.ts";
import type { Position } from "./locate.ts";
import { staticName } from "./read-tree.ts";
import type { Subject } from "./rules/rule.ts";
import { traceFlow } from "./trace-flow.ts";
import type { Reach } from "./trace-flow.ts";

type Site = Omit<CallSite, "line" | "column"> & { readonly offset: number };

/** Globals that make code from text. */
const MAKERS = ["eval", "Function"] as const;
/** Built-in objects whose functions the tracer knows; a program that changes them is followed without that knowledge. */
const RELIED_ON = ["Object", "JSON", "console", "Array", "Boolean"] as const;
/** More sites than this are not listed one by one: the program counts as dynamic. */
const MAX_SITES = 2_000;

/** Sorted by position. `locate` turns offsets into the author's lines and columns. */
export function findCalls(
  subject: Subject,
  context: { readonly namespaces: readonly Namespace[]; readonly locate: (offset: number) => Position },
): readonly CallSite[] {
  const found = findSites(subject, context.namespaces);
  const sites = found.length > MAX_SITES ? [dynamicAt(0)] : found;
  const sorted = sites.toSorted((a, b) => a.offset - b.offset || a.address.localeCompare(b.address));
  return sorted.map(({ offset, ...site }) => ({ ...site, ...context.locate(offset) }));
}

function findSites(subject: Subject, namespaces: readonly Namespace[]): readonly Site[] {
  const doors = findDoors(subject);
  const starts = [
    ...doors.starts,
    ...namespaces.flatMap(({ name }) => (subject.globals.mentions.get(name) ?? []).map((node) => ({ node, name }))),
  ];
  if (starts.length === 0) return doors.sites;
  const reached = traceFlow(subject, { starts, builtinsHold: doors.builtinsHold && builtinsHold(subject) });
  if (!reached) return [dynamicAt(0)];
  const contextOf = createCallContext(subject, createFunctionFinder(subject));
  return [...doors.sites, ...dropRepeats(reached.map((reach) => toSite(reach, contextOf)))];
}

function toSite(
  { namespace, tool, node, reader, computed }: Reach,
  contextOf: ReturnType<typeof createCallContext>,
): Site {
  const address = tool === undefined || isInherited(tool) ? undefined : parseToolAddress(`${namespace}.${tool}`);
  const offset = node.start;
  if (!address || !reader) return { address: "dynamic", namespace, ...UNKNOWN_CONTEXT, offset };
  return { address, ...(computed && { computed }), ...contextOf(reader), offset };
}

/** What every object inherits is no tool, but a reader may take it for more than it is. */
function isInherited(name: string): boolean {
  return Object.hasOwn(Object.prototype, name);
}

function dropRepeats(sites: readonly Site[]): readonly Site[] {
  const known = new Map(sites.map((site) => [`${site.offset} ${site.address} ${site.namespace ?? ""}`, site]));
  return [...known.values()];
}

/** Places from which everything can be reached, and those where a namespace comes from the global object by name. */
interface Doors {
  readonly sites: readonly Site[];
  readonly starts: readonly { readonly node: AnyNode; readonly name: string }[];
  readonly builtinsHold: boolean;
}

function findDoors(subject: Subject): Doors {
  const { globals, tree } = subject;
  const sites: Site[] = [];
  const starts: { readonly node: AnyNode; readonly name: string }[] = [];
  const roots = [...(globals.mentions.get("globalThis") ?? []), ...globals.outerThis];
  for (const root of roots) {
    const names = namesReadFrom(root, subject);
    const member = climb(root, subject).parent;
    if (!names || !member || names.some((name) => name === "globalThis" || MAKERS.some((maker) => maker === name))) {
      sites.push(dynamicAt(root.start));
      continue;
    }
    for (const name of names) if (subject.namespaces.has(name)) starts.push({ node: member, name });
  }
  for (const mention of MAKERS.flatMap((name) => globals.mentions.get(name) ?? [])) {
    if (!onlyCompares(mention, subject)) sites.push(dynamicAt(mention.start));
  }
  for (const node of tree.nodes) if (takesConstructor(node, subject)) sites.push(dynamicAt(node.start));
  return { sites, starts, builtinsHold: roots.length === 0 };
}

/** `globalThis.name`, with whatever the text fixes as the name; `undefined` when it is used in any other way. */
function namesReadFrom(root: AnyNode, subject: Subject): readonly string[] | undefined {
  const { outermost, parent } = climb(root, subject);
  if (parent?.type === "UnaryExpression" || parent?.type === "ExpressionStatement") return [];
  if (parent?.type !== "MemberExpression" || parent.object !== outermost) return undefined;
  const fixed = staticName(parent.property, parent.computed);
  return fixed === undefined ? subject.folder.valuesOf(parent.property)?.map(String) : [fixed];
}

function onlyCompares(mention: Identifier, subject: Subject): boolean {
  const { parent } = climb(mention, subject);
  return parent?.type === "BinaryExpression" || (parent?.type === "UnaryExpression" && parent.operator === "typeof");
}

/** A function's constructor makes functions from text. Asking for its name or comparing it is harmless. */
function takesConstructor(node: AnyNode, subject: Subject): boolean {
  if (node.type === "ObjectPattern") {
    return node.properties.some(
      (part) => part.type === "Property" && staticName(part.key, part.computed) === "constructor",
    );
  }
  if (node.type !== "MemberExpression" || staticName(node.property, node.computed) !== "constructor") return false;
  const { parent } = climb(node, subject);
  if (parent?.type === "BinaryExpression") return false;
  return parent?.type !== "MemberExpression" || staticName(parent.property, parent.computed) !== "name";
}

/** Every mention reads a member and changes none, no prototype is named, and nothing that could put one in its place. */
function builtinsHold(subject: Subject): boolean {
  if (["Symbol", "Reflect", "Proxy"].some((name) => subject.globals.mentions.has(name))) return false;
  const mentions = RELIED_ON.flatMap((name) => subject.globals.mentions.get(name) ?? []);
  const onlyRead = mentions.every((mention) => {
    const { parent } = climb(mention, subject);
    if (parent?.type === "CallExpression") return mention.name === "Boolean";
    if (parent?.type !== "MemberExpression")
      return parent?.type === "BinaryExpression" || parent?.type === "NewExpression";
    const user = climb(parent, subject).parent;
    return user?.type !== "AssignmentExpression" && user?.type !== "UpdateExpression";
  });
  if (!onlyRead) return false;
  return !subject.tree.nodes.some(
    (node) =>
      node.type === "MemberExpression" &&
      ["prototype", "__proto__"].includes(staticName(node.property, node.computed) ?? ""),
  );
}

function dynamicAt(offset: number): Site {
  return { address: "dynamic", ...UNKNOWN_CONTEXT, offset };
}

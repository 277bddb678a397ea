/**
 * Finds the tools that a program can reach, for people, for plans, and as a limit on the program if the plan is exact.
 * In doubt the result is "dynamic". The host decides at the call.
 */

import { defined, parseToolAddress } from "../../domain/index.ts";
import type { Namespace } from "../../domain/index.ts";
import type { AnyNode, Identifier } from "acorn";
import { UNKNOWN_CONTEXT, createCallContext } from "./call-context.ts";
import type { CallSite } from "./call-context.ts";
import { climb } from "./find-function.ts";
import type { SourcePosition } from "../locate.ts";
import { staticName } from "../read-tree.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { traceFlow } from "./trace-flow.ts";
import { isInherited } from "./trace-parts.ts";
import type { ToolReach } from "./trace-flow.ts";

type Site = Omit<CallSite, "line" | "column"> & { readonly offset: number };

/** Globals that compile strings to code. */
const MAKERS = ["eval", "Function"] as const;
/** Built-in objects whose functions the tracer models, unless the program changes them. */
const RELIED_ON = ["Object", "JSON", "console", "Array", "Boolean"] as const;
/** A program with more sites counts as dynamic. */
const MAX_SITES = 2_000;

/** Sorted by position. `locate` converts offsets to the author's lines and columns. */
export function findCalls(
  syntax: ProgramSyntax,
  context: { readonly namespaces: readonly Namespace[]; readonly locate: (offset: number) => SourcePosition },
): readonly CallSite[] {
  const found = findSites(syntax, context.namespaces);
  const sites = found.length > MAX_SITES ? [dynamicAt(0)] : found;
  const sorted = sites.toSorted((a, b) => a.offset - b.offset || a.address.localeCompare(b.address));
  return sorted.map(({ offset, ...site }) => ({ ...site, ...context.locate(offset) }));
}

function findSites(syntax: ProgramSyntax, namespaces: readonly Namespace[]): readonly Site[] {
  const doors = findDoors(syntax);
  const starts = [
    ...doors.starts,
    ...namespaces.flatMap(({ name }) => (syntax.globals.mentions.get(name) ?? []).map((node) => ({ node, name }))),
  ];
  if (starts.length === 0) return doors.sites;
  const reached = traceFlow(syntax, { starts, builtinsHold: doors.builtinsHold && builtinsHold(syntax) });
  if (!reached) return [dynamicAt(0)];
  const contextOf = createCallContext(syntax);
  return [...doors.sites, ...dropRepeats(reached.map((reach) => toSite(reach, contextOf)))];
}

function toSite({ namespace, tool, node, reader }: ToolReach, contextOf: ReturnType<typeof createCallContext>): Site {
  const address = tool === undefined || isInherited(tool) ? undefined : parseToolAddress(`${namespace}.${tool}`);
  const offset = node.start;
  if (!address || !reader) return { address: "dynamic", namespace, ...UNKNOWN_CONTEXT, offset };
  const computed = nameReadBy(reader) === undefined ? true : undefined;
  return defined({ address, computed, ...contextOf(reader), offset });
}

function nameReadBy(reader: AnyNode): string | undefined {
  if (reader.type === "MemberExpression") return staticName(reader.property, reader.computed);
  return reader.type === "Property" ? staticName(reader.key, reader.computed) : undefined;
}

function dropRepeats(sites: readonly Site[]): readonly Site[] {
  const known = new Map(sites.map((site) => [`${site.offset} ${site.address} ${site.namespace ?? ""}`, site]));
  return [...known.values()];
}

/** Uses of the global object: sites that can reach everything, and namespaces read by name. */
interface GlobalAccess {
  readonly sites: readonly Site[];
  readonly starts: readonly { readonly node: AnyNode; readonly name: string }[];
  readonly builtinsHold: boolean;
}

function findDoors(syntax: ProgramSyntax): GlobalAccess {
  const { globals, tree } = syntax;
  const sites: Site[] = [];
  const starts: { readonly node: AnyNode; readonly name: string }[] = [];
  const roots = [...(globals.mentions.get("globalThis") ?? []), ...globals.outerThis];
  for (const root of roots) {
    const names = namesReadFrom(root, syntax);
    const member = climb(root, syntax).parent;
    if (!names || !member || names.some((name) => name === "globalThis" || MAKERS.some((maker) => maker === name))) {
      sites.push(dynamicAt(root.start));
      continue;
    }
    for (const name of names) if (syntax.namespaces.has(name)) starts.push({ node: member, name });
  }
  for (const mention of MAKERS.flatMap((name) => globals.mentions.get(name) ?? [])) {
    if (!onlyCompares(mention, syntax)) sites.push(dynamicAt(mention.start));
  }
  for (const node of tree.nodes) if (takesConstructor(node, syntax)) sites.push(dynamicAt(node.start));
  return { sites, starts, builtinsHold: roots.length === 0 };
}

/** The names read from the global object; `undefined` for any other use or an unknown name. */
function namesReadFrom(root: AnyNode, syntax: ProgramSyntax): readonly string[] | undefined {
  const { outermost, parent } = climb(root, syntax);
  if (parent?.type === "UnaryExpression" || parent?.type === "ExpressionStatement") return [];
  if (parent?.type !== "MemberExpression" || parent.object !== outermost) return undefined;
  const fixed = staticName(parent.property, parent.computed);
  return fixed === undefined ? syntax.folder.valuesOf(parent.property)?.map(String) : [fixed];
}

function onlyCompares(mention: Identifier, syntax: ProgramSyntax): boolean {
  const { parent } = climb(mention, syntax);
  return parent?.type === "BinaryExpression" || (parent?.type === "UnaryExpression" && parent.operator === "typeof");
}

/** A function's constructor compiles strings. Reading its name or comparing it is harmless. */
function takesConstructor(node: AnyNode, syntax: ProgramSyntax): boolean {
  if (node.type === "ObjectPattern") {
    return node.properties.some(
      (part) => part.type === "Property" && staticName(part.key, part.computed) === "constructor",
    );
  }
  if (node.type !== "MemberExpression" || staticName(node.property, node.computed) !== "constructor") return false;
  const { parent } = climb(node, syntax);
  if (parent?.type === "BinaryExpression") return false;
  return parent?.type !== "MemberExpression" || staticName(parent.property, parent.computed) !== "name";
}

/** Whether the program leaves the built-ins unchanged: it only reads their members, and uses no prototype or proxy. */
function builtinsHold(syntax: ProgramSyntax): boolean {
  if (["Symbol", "Reflect", "Proxy"].some((name) => syntax.globals.mentions.has(name))) return false;
  const mentions = RELIED_ON.flatMap((name) => syntax.globals.mentions.get(name) ?? []);
  const onlyRead = mentions.every((mention) => {
    const { parent } = climb(mention, syntax);
    if (parent?.type === "CallExpression") return mention.name === "Boolean";
    if (parent?.type !== "MemberExpression")
      return parent?.type === "BinaryExpression" || parent?.type === "NewExpression";
    const user = climb(parent, syntax).parent;
    return user?.type !== "AssignmentExpression" && user?.type !== "UpdateExpression";
  });
  if (!onlyRead) return false;
  return !syntax.tree.nodes.some(
    (node) =>
      node.type === "MemberExpression" &&
      ["prototype", "__proto__"].includes(staticName(node.property, node.computed) ?? ""),
  );
}

function dynamicAt(offset: number): Site {
  return { address: "dynamic", ...UNKNOWN_CONTEXT, offset };
}

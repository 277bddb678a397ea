/** From a field that the program reads back to the value that it got: a result of a tool, or its `input`. */

import type { AnyNode } from "acorn";
import type { Program } from "../../domain/index.ts";
import type { SourcePosition } from "../locate.ts";
import { calledTool, withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { staticName } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";

export type ProgramRead = NonNullable<Program["reads"]>[number];
type Traced = Required<Pick<ProgramRead, "from" | "steps">>;

const ITEM = "*";
/** A string is parsed as JSON, or split into its lines. */
const PARSED = "(JSON)";
const LINES = "(lines)";
/** The items of an array that `map` made; the next step takes one of them. */
const COLLECTED = "(map)";
const MAX_STEPS = 20;
const TRIMS: ReadonlySet<string> = new Set(["trim", "trimStart", "trimEnd"]);
/** Array methods that return some of the items, and those that return one. */
const SOME: ReadonlySet<string> = new Set(["filter", "slice", "sort", "toSorted", "reverse", "toReversed"]);
const ONE: ReadonlySet<string> = new Set(["find", "findLast", "at", "pop", "shift"]);
/** Methods whose callback gets the items first. */
const EACH: ReadonlySet<string> = new Set(["map", "flatMap", "forEach", "filter", "find", "some", "every"]);

const MAX_TEXT = 60;

/** An expression as its author wrote it, shortened, and its place. */
export function showExpression(
  node: AnyNode,
  { source, toAuthor }: ProgramSyntax,
  locate: (offset: number) => SourcePosition,
): Pick<ProgramRead, "expression" | "line" | "column"> {
  const text = source.slice(toAuthor(node.start), toAuthor(node.end)).replace(/\s+/gu, " ");
  const expression = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return { expression, ...locate(toAuthor(node.start)) };
}

export function traceRead(node: AnyNode, syntax: ProgramSyntax, steps = MAX_STEPS): Traced | undefined {
  const inner = withoutChain(node);
  if (steps <= 0) return undefined;
  const next = (from: AnyNode, ...names: readonly string[]): Traced | undefined => {
    const traced = traceRead(from, syntax, steps - 1);
    return traced && extend(traced, names);
  };
  switch (inner.type) {
    case "AwaitExpression":
      return next(inner.argument);
    case "MemberExpression": {
      const name = staticName(inner.property, inner.computed);
      const isItem = inner.property.type === "Literal" && typeof inner.property.value === "number";
      return name === undefined && !isItem ? undefined : next(inner.object, name ?? ITEM);
    }
    case "CallExpression": {
      const called = calledTool(inner, syntax);
      if (called)
        return called.tool === undefined ? undefined : { from: `${called.namespace}.${called.tool}`, steps: [] };
      return traceCall(inner, syntax, next);
    }
    case "Identifier":
      return traceName(inner, syntax, next);
    default:
      return undefined;
  }
}

function extend({ from, steps }: Traced, [name, ...names]: readonly string[]): Traced | undefined {
  if (name === undefined) return { from, steps };
  if (steps.at(-1) !== COLLECTED) return { from, steps: [...steps, name, ...names] };
  return name === ITEM ? { from, steps: [...steps.slice(0, -1), ...names] } : undefined;
}

function traceCall(
  { callee, arguments: given }: Extract<AnyNode, { type: "CallExpression" }>,
  { globals }: ProgramSyntax,
  next: (from: AnyNode, ...names: readonly string[]) => Traced | undefined,
): Traced | undefined {
  const method = withoutChain(callee);
  if (method.type !== "MemberExpression") return undefined;
  const name = staticName(method.property, method.computed) ?? "";
  const [first] = given;
  const isJson = method.object.type === "Identifier" && method.object.name === "JSON";
  if (isJson) return first && name === "parse" && !globals.bindingOf(method.object) ? next(first, PARSED) : undefined;
  if (SOME.has(name) || TRIMS.has(name)) return next(method.object);
  if (ONE.has(name)) return next(method.object, ITEM);
  if (name === "split" && first) return isLineEnd(first) ? next(method.object, LINES) : undefined;
  const isEach = name === "map" && first && isFunction(first) && first.body.type !== "BlockStatement";
  return isEach ? next(first.body, COLLECTED) : undefined;
}

function isLineEnd(node: AnyNode): boolean {
  if (node.type !== "Literal") return false;
  return node.value === "\n" || ("regex" in node && /^\\r\?\\n\+?$|^\\n\+?$/.test(node.regex?.pattern ?? ""));
}

function traceName(
  name: Extract<AnyNode, { type: "Identifier" }>,
  { globals, folder, tree }: ProgramSyntax,
  next: (from: AnyNode, ...names: readonly string[]) => Traced | undefined,
): Traced | undefined {
  const binding = globals.bindingOf(name);
  if (!binding) return name.name === "input" ? { from: "input", steps: [] } : undefined;
  const [declarer, ...others] = binding.declarers;
  if (!declarer || others.length > 0 || !folder.isSteady(binding)) return undefined;
  if (declarer.type === "VariableDeclarator") {
    const keys = keysTo(name.name, declarer.id);
    const loop = tree.parentOf(tree.parentOf(declarer) ?? declarer);
    if (!keys) return undefined;
    if (loop?.type === "ForOfStatement") return next(loop.right, ITEM, ...keys);
    return declarer.init ? next(declarer.init, ...keys) : undefined;
  }
  const call = isFunction(declarer) ? tree.parentOf(declarer) : undefined;
  if (!isFunction(declarer) || call?.type !== "CallExpression" || call.arguments[0] !== declarer) return undefined;
  const method = withoutChain(call.callee);
  if (method.type !== "MemberExpression") return undefined;
  const called = staticName(method.property, method.computed) ?? "";
  const isSum = called === "reduce" && call.arguments.length > 1;
  const item = declarer.params[isSum ? 1 : 0];
  const keys = item && (isSum || EACH.has(called)) ? keysTo(name.name, item) : undefined;
  return keys && next(method.object, ITEM, ...keys);
}

/** The way from a value to a name that a pattern takes out of it; `undefined` if it has a default or is not there. */
function keysTo(name: string, pattern: AnyNode): readonly string[] | undefined {
  if (pattern.type === "Identifier") return pattern.name === name ? [] : undefined;
  if (pattern.type !== "ObjectPattern") return undefined;
  for (const part of pattern.properties) {
    const key = part.type === "Property" ? staticName(part.key, part.computed) : undefined;
    const rest = part.type === "Property" && key !== undefined ? keysTo(name, part.value) : undefined;
    if (rest && key !== undefined) return [key, ...rest];
  }
  return undefined;
}

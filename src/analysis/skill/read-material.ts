/**
 * Finds the literals of a program that could be parameters of a skill: what it calls them, and whether another caller
 * would probably want another value.
 */

import type { AnyNode, BinaryExpression } from "acorn";
import type { Json, Namespace, Program } from "../../domain/index.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { calledNamespace, readSyntax } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { readTree, staticName, withoutParens } from "../read-tree.ts";
import type { Tree } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { rewriteProgram } from "./rewrite-program.ts";
import type { Replacement } from "./rewrite-program.ts";

/** A string, a number, a boolean, or an array of them. */
interface ProgramLiteral {
  /** In the code that runs. */
  readonly start: number;
  readonly end: number;
  readonly value: Json;
  /** After the property, the variable or the field that it is compared with; `value` if the program does not tell. */
  readonly name: string;
  /** True if it is an argument of a tool, a constant of the top level, a list, or compared with a field. */
  readonly isParameter: boolean;
}

const COMPARISONS: ReadonlySet<string> = new Set(["<", "<=", ">", ">=", "==", "===", "!=", "!=="]);
/** What is compared with these is a part of the method, and not of the question. */
const SIZES: ReadonlySet<string> = new Set(["length", "size"]);
const UNNAMED = "value";

/** What of a program decides how it becomes a skill. */
export interface SkillMaterial {
  /** In source order. */
  readonly literals: readonly ProgramLiteral[];
  /** The code with its literals cut out: programs that differ only in literals have the same. */
  readonly skeleton: string;
  /** Whether it reads the `input` of its execution. */
  readonly readsInput: boolean;
  /** Every name in it: a new name must be none of them. */
  readonly names: ReadonlySet<string>;
  /** Its texts with others in place of literals, the likeliest first. */
  readonly rewrite: (replacements: readonly Replacement[]) => readonly string[];
}

/** Throws for a program that does not parse, which cannot have run. */
export function readMaterial(program: Program, namespaces: readonly Namespace[]): SkillMaterial {
  const { javascript } = program;
  const parsed = parseJavascript(javascript);
  if (!parsed.ok) throw new TypeError("A program that was analyzed does not parse");
  const tree = readTree(parsed.root);
  const toAuthor = (offset: number): number => offset;
  const names = readSyntax({ source: javascript, tree, api: { namespaces }, sourceBytes: Infinity, toAuthor });
  const found: ProgramLiteral[] = [];
  let end = 0;
  for (const node of tree.nodes) {
    const value = node.start >= end ? valueOf(node) : undefined;
    if (value === undefined || isFixed(node, tree)) continue;
    ({ end } = node);
    found.push({ start: node.start, end, value, ...judge(node, value, { tree, names }) });
  }
  const literals = found.toSorted((a, b) => a.start - b.start);
  return {
    literals,
    skeleton: cutOut(javascript, literals),
    readsInput: names.globals.mentions.has("input"),
    names: new Set(tree.nodes.flatMap((node) => (node.type === "Identifier" ? [node.name] : []))),
    rewrite: (replacements) => rewriteProgram(program, replacements),
  };
}

function cutOut(javascript: string, literals: readonly ProgramLiteral[]): string {
  let [cut, at] = ["", 0];
  for (const { start, end, value } of literals) {
    cut += `${javascript.slice(at, start)}\0${Array.isArray(value) ? "array" : typeof value}\0`;
    at = end;
  }
  return cut + javascript.slice(at);
}

/** `undefined` for what is not a literal: also for `null`, which has no type to take instead. */
function valueOf(node: AnyNode): Json | undefined {
  switch (node.type) {
    case "Literal":
      return isPlain(node.value) && !("bigint" in node) ? node.value : undefined;
    case "TemplateLiteral":
      return node.expressions.length === 0 ? (node.quasis[0]?.value.cooked ?? undefined) : undefined;
    case "UnaryExpression": {
      const value = node.operator === "-" ? valueOf(node.argument) : undefined;
      return typeof value === "number" ? -value : undefined;
    }
    case "ArrayExpression": {
      const items = node.elements.map((item) => (item ? valueOf(item) : undefined));
      const known = items.filter((item) => item !== undefined);
      return known.length > 0 && known.length === items.length ? known : undefined;
    }
    default:
      return undefined;
  }
}

function isPlain(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** Keys, and texts that are a part of the syntax. */
function isFixed(node: AnyNode, tree: Tree): boolean {
  const parent = tree.parentOf(node);
  switch (parent?.type) {
    case "Property":
    case "PropertyDefinition":
    case "MethodDefinition":
      return parent.key === node;
    case "MemberExpression":
      return parent.property === node;
    case "ExpressionStatement":
      return parent.directive !== undefined;
    case "TaggedTemplateExpression":
    case "ImportDeclaration":
      return true;
    default:
      return false;
  }
}

interface LiteralPlace {
  readonly tree: Tree;
  readonly names: ProgramSyntax;
}

function judge(node: AnyNode, value: Json, around: LiteralPlace): Pick<ProgramLiteral, "name" | "isParameter"> {
  const list = Array.isArray(value) ? nameList(node, around) : undefined;
  if (list !== undefined) return { name: list, isParameter: true };
  let name: string | undefined;
  let inner = node;
  for (let outer = around.tree.parentOf(node); outer; inner = outer, outer = around.tree.parentOf(outer)) {
    if (isFunction(outer)) break;
    if (outer.type === "Property") name ??= staticName(outer.key, outer.computed);
    if (outer.type === "BinaryExpression" && COMPARISONS.has(outer.operator)) {
      const compared = nameCompared(outer, inner);
      name ??= compared;
      if (compared !== undefined && !SIZES.has(compared) && typeof value !== "boolean")
        return { name: name ?? compared, isParameter: true };
    }
    if (outer.type === "VariableDeclarator") {
      if (outer.id.type === "Identifier") name ??= outer.id.name;
      return { name: name ?? UNNAMED, isParameter: isTopLevel(outer, around.tree) };
    }
    if (outer.type === "CallExpression" && calledNamespace(outer, around.names) !== undefined)
      return { name: name ?? UNNAMED, isParameter: true };
    if (!CARRIERS.has(outer.type)) break;
  }
  return { name: name ?? UNNAMED, isParameter: false };
}

/** What a value passes through on the way to an argument or a constant. */
const CARRIERS: ReadonlySet<AnyNode["type"]> = new Set<AnyNode["type"]>([
  "ArrayExpression",
  "BinaryExpression",
  "ConditionalExpression",
  "LogicalExpression",
  "ObjectExpression",
  "ParenthesizedExpression",
  "Property",
  "SpreadElement",
  "TemplateLiteral",
]);

/** The field on the other side. */
function nameCompared({ left, right }: BinaryExpression, inner: AnyNode): string | undefined {
  const other = withoutParens(inner === left ? right : left);
  const member = other.type === "ChainExpression" ? other.expression : other;
  return member.type === "MemberExpression" ? staticName(member.property, member.computed) : undefined;
}

function isTopLevel(declarator: AnyNode, tree: Tree): boolean {
  const declaration = tree.parentOf(declarator);
  return declaration !== undefined && tree.parentOf(declaration)?.type === "Program";
}

/** `["a", "b"].map((owner) => …)` and `for (const owner of ["a", "b"])` are lists of owners. */
function nameList(node: AnyNode, { tree }: LiteralPlace): string | undefined {
  const parent = tree.parentOf(node);
  if (parent?.type === "ForOfStatement" && parent.right === node) {
    const { left } = parent;
    const id = left.type === "VariableDeclaration" ? left.declarations[0]?.id : undefined;
    return id?.type === "Identifier" ? `${id.name}s` : "items";
  }
  const call = parent?.type === "MemberExpression" && parent.object === node ? tree.parentOf(parent) : undefined;
  if (call?.type !== "CallExpression" || call.callee !== parent) return undefined;
  const [callback] = call.arguments;
  const parameter = callback && isFunction(callback) ? callback.params[0] : undefined;
  if (!parameter) return undefined;
  return parameter.type === "Identifier" ? `${parameter.name}s` : "items";
}

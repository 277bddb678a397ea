/**
 * Constant folding: the values that an expression can have, as far as the source fixes them. A name counts if it is
 * declared once with a value and never written. Bounded: long chains of operators are unknown.
 */

import type { AnyNode, BinaryExpression } from "acorn";
import { staticName, withoutParens } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";
import type { NameBinding, ProgramNames } from "./resolve-scopes.ts";

export type Constant = string | number | boolean | null | undefined;

export interface ConstantFolder {
  /** Returns every value that an expression can have, at most sixteen; `undefined` if the source does not fix them. */
  valuesOf(node: AnyNode): readonly Constant[] | undefined;
  /** Returns `true` or `false` if a condition always has that value, otherwise `undefined`. */
  truthOf(node: AnyNode): boolean | undefined;
  /** Whether the program never writes to a name after its declaration. */
  isSteady(binding: NameBinding): boolean;
}

const MAX_STEPS = 40;
const MAX_VALUES = 16;
const MAX_CHARS = 1_000;
const ALWAYS_TRUE: ReadonlySet<string> = new Set([
  "ArrayExpression",
  "ObjectExpression",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "ClassExpression",
  "NewExpression",
]);

interface FoldState {
  readonly tree: Tree;
  readonly globals: ProgramNames;
  /** Memo: without it, chains of names that refer to names would double the work at each step. */
  readonly known: Map<AnyNode, readonly Constant[] | undefined>;
  readonly steady: Map<NameBinding, boolean>;
}

export function createConstantFolder(program: Pick<FoldState, "tree" | "globals">): ConstantFolder {
  const context: FoldState = { ...program, known: new Map(), steady: new Map() };
  return {
    valuesOf: (node) => fold(node, context, MAX_STEPS),
    truthOf: (node) => findTruth(node, context, MAX_STEPS),
    isSteady: (binding) => isSteady(binding, context),
  };
}

function findTruth(node: AnyNode, context: FoldState, steps: number): boolean | undefined {
  if (steps <= 0) return undefined;
  const inner = withoutParens(node);
  if (ALWAYS_TRUE.has(inner.type)) return true;
  if (inner.type === "Literal" && ("regex" in inner || "bigint" in inner)) return Boolean(inner.value);
  if (inner.type === "SequenceExpression") return findTruth(inner.expressions.at(-1) ?? inner, context, steps - 1);
  if (inner.type === "UnaryExpression" && inner.operator === "!") {
    const truth = findTruth(inner.argument, context, steps - 1);
    return truth === undefined ? undefined : !truth;
  }
  if (inner.type === "LogicalExpression" && inner.operator !== "??") {
    const decisive = inner.operator === "||";
    const [left, right] = [inner.left, inner.right].map((part) => findTruth(part, context, steps - 1));
    if (left === decisive || right === decisive) return decisive;
    return left === right ? left : undefined;
  }
  const values = fold(inner, context, steps);
  if (!values || values.length === 0) return undefined;
  if (values.every(Boolean)) return true;
  return values.some(Boolean) ? undefined : false;
}

function fold(node: AnyNode, context: FoldState, steps: number): readonly Constant[] | undefined {
  if (steps <= 0) return undefined;
  if (context.known.has(node)) return context.known.get(node);
  context.known.set(node, undefined); // a name that refers to itself has no value
  const values = foldOnce(node, context, steps);
  context.known.set(node, values);
  return values;
}

function foldOnce(node: AnyNode, context: FoldState, steps: number): readonly Constant[] | undefined {
  const inner = withoutParens(node);
  const next = (part: AnyNode): readonly Constant[] | undefined => fold(part, context, steps - 1);
  switch (inner.type) {
    case "Literal":
      return isConstant(inner.value) && !("bigint" in inner) ? [inner.value] : undefined;
    case "TemplateLiteral":
      return combine(inner.expressions.map(next), (values) =>
        inner.quasis.map(({ value }, at) => (at === 0 ? "" : String(values[at - 1])) + (value.cooked ?? "")).join(""),
      );
    case "UnaryExpression":
      return combine([next(inner.argument)], ([value]) => applyUnary(inner.operator, value));
    case "BinaryExpression":
      return combine([next(inner.left), next(inner.right)], ([a, b]) => applyBinary(inner.operator, a, b));
    case "ConditionalExpression":
      return join([next(inner.consequent), next(inner.alternate)]);
    case "LogicalExpression":
      return join([next(inner.left), next(inner.right)]);
    case "MemberExpression":
      if (staticName(inner.property, inner.computed) !== "length") return undefined;
      return combine([next(inner.object)], ([value]) => (typeof value === "string" ? value.length : UNKNOWN));
    case "Identifier":
      return foldName(inner, context, steps);
    default:
      return undefined;
  }
}

function isConstant(value: unknown): value is Constant {
  return value === null || ["string", "number", "boolean", "undefined"].includes(typeof value);
}

/** Folds `undefined`, a name with one constant value or none, or the variable of a loop over an array of constants. */
function foldName(node: AnyNode, context: FoldState, steps: number): readonly Constant[] | undefined {
  const binding = context.globals.bindingOf(node);
  if (!binding) return node.type === "Identifier" && node.name === "undefined" ? [undefined] : undefined;
  if (!isSteady(binding, context)) return undefined;
  const value = context.globals.valueOf(node);
  if (value) return fold(value, context, steps - 1);
  const [declarer, ...others] = binding.declarers;
  if (others.length > 0 || declarer?.type !== "VariableDeclarator" || declarer.id.type !== "Identifier")
    return undefined;
  const loop = context.tree.parentOf(context.tree.parentOf(declarer) ?? declarer);
  if (loop?.type !== "ForOfStatement" && loop?.type !== "ForInStatement" && !declarer.init) return [undefined];
  const list = loop?.type === "ForOfStatement" ? listOf(loop.right, context) : undefined;
  return list && join(list.map((element) => fold(element, context, steps - 1)));
}

function isSteady(binding: NameBinding, { steady, tree }: FoldState): boolean {
  const known = steady.get(binding) ?? !binding.mentions.some((mention) => isWritten(mention, tree));
  steady.set(binding, known);
  return known;
}

/** The elements of an array literal without holes or spreads, also through a name that is only iterated. */
function listOf(node: AnyNode, { globals, tree }: Pick<FoldState, "tree" | "globals">): readonly AnyNode[] | undefined {
  const inner = withoutParens(node);
  const isIterated = (mention: AnyNode): boolean => {
    const parent = tree.parentOf(mention);
    return parent?.type === "ForOfStatement" && parent.right === mention;
  };
  const list = globals.bindingOf(inner)?.mentions.every(isIterated) ? globals.valueOf(inner) : inner;
  if (list?.type !== "ArrayExpression") return undefined;
  const elements = list.elements.filter((element) => element !== null && element.type !== "SpreadElement");
  return elements.length === list.elements.length && elements.length <= MAX_VALUES ? elements : undefined;
}

export function isWritten(mention: AnyNode, tree: Tree): boolean {
  let node = mention;
  for (let parent = tree.parentOf(node); parent; parent = tree.parentOf(node)) {
    if (parent.type === "UpdateExpression") return true;
    if (parent.type === "AssignmentExpression") return parent.left === node;
    if (parent.type === "ForInStatement" || parent.type === "ForOfStatement") return parent.left === node;
    const inPattern =
      parent.type === "ArrayPattern" ||
      parent.type === "ObjectPattern" ||
      parent.type === "RestElement" ||
      parent.type === "ParenthesizedExpression" ||
      (parent.type === "AssignmentPattern" && parent.left === node) ||
      (parent.type === "Property" && parent.value === node);
    if (!inPattern) return false;
    node = parent;
  }
  return false;
}

function join(parts: readonly (readonly Constant[] | undefined)[]): readonly Constant[] | undefined {
  const unique = [...new Set(parts.flatMap((part) => part ?? []))];
  return parts.includes(undefined) || unique.length > MAX_VALUES ? undefined : unique;
}

/** Applies `make` to every combination of the parts' values. */
function combine(
  parts: readonly (readonly Constant[] | undefined)[],
  make: (values: readonly Constant[]) => Constant,
): readonly Constant[] | undefined {
  let rows: readonly (readonly Constant[])[] = [[]];
  for (const part of parts) {
    if (!part) return undefined;
    rows = rows.flatMap((row) => part.map((value) => [...row, value]));
    if (rows.length > MAX_VALUES) return undefined;
  }
  const made = rows.map((row) => make(row));
  const isLost = made.some((value) => value === UNKNOWN || (typeof value === "string" && value.length > MAX_CHARS));
  return isLost ? undefined : [...new Set(made)];
}

/** Marks a value that is not computed; no program has this string by accident. */
const UNKNOWN = "\u0000unknown";

function applyUnary(operator: string, value: Constant): Constant {
  if (operator === "!") return !value;
  if (operator === "void") return undefined;
  if (operator === "typeof") return value === null ? "object" : typeof value;
  if (operator === "-") return -Number(value);
  return operator === "+" ? Number(value) : UNKNOWN;
}

const OF_NUMBERS: ReadonlyMap<string, (a: number, b: number) => Constant> = new Map<
  string,
  (a: number, b: number) => Constant
>([
  ["<", (a, b) => a < b],
  [">", (a, b) => a > b],
  ["<=", (a, b) => a <= b],
  [">=", (a, b) => a >= b],
  ["-", (a, b) => a - b],
  ["*", (a, b) => a * b],
  ["/", (a, b) => a / b],
  ["%", (a, b) => a % b],
]);

function applyBinary(operator: BinaryExpression["operator"], a: Constant, b: Constant): Constant {
  if (operator === "+") return typeof a === "string" || typeof b === "string" ? `${a}${b}` : Number(a) + Number(b);
  if (operator === "===") return a === b;
  if (operator === "!==") return a !== b;
  if (typeof a !== typeof b || (typeof a !== "number" && typeof a !== "string")) return UNKNOWN;
  if (operator === "==") return a === b;
  if (operator === "!=") return a !== b;
  return typeof a === "number" && typeof b === "number" ? (OF_NUMBERS.get(operator)?.(a, b) ?? UNKNOWN) : UNKNOWN;
}

/**
 * Makes a program give its value: the last expression is returned, a lone function or `main` is called, `export default`
 * is unwrapped. By insertions and blanks only, so a program that already returned does what it did.
 */

import type { AnyNode, ExportDefaultDeclaration, Program as Root } from "acorn";
import { blank } from "./blank.ts";
import { insert } from "./insert.ts";
import type { Edit, Inserted } from "./insert.ts";
import { withoutParens } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";

/** Idempotent. What is inserted starts with a keyword or a semicolon, so it cannot join the statement before it. */
export function normalize(text: string, tree: Tree): Inserted {
  const exported = tree.root.body.find((node) => node.type === "ExportDefaultDeclaration");
  const blanked = exported ? blank(text, exported.start, exported.declaration.start) : text;
  return insert(blanked, [...editsOfExport(tree.root, exported), ...editsOfEnd(tree, exported)]);
}

/**
 * The author's text as a function's body, types kept and nothing moved: what stands after `export default` stays a
 * declaration when it has a name and becomes the operand of `void` otherwise.
 */
export function toCheckable(text: string, { root }: Pick<Tree, "root">, toAuthor: (offset: number) => number): string {
  const exported = root.body.find((node) => node.type === "ExportDefaultDeclaration");
  if (!exported) return text;
  const start = toAuthor(exported.start);
  const blanked = blank(text, start, toAuthor(exported.declaration.start));
  if (isNamed(exported.declaration)) return blanked;
  return blanked.slice(0, start) + ";void" + blanked.slice(start + ";void".length);
}

/** The last statement that is more than a semicolon. */
export function findLastStatement(root: Root): Root["body"][number] | undefined {
  return root.body.findLast((node) => node.type !== "EmptyStatement");
}

function isAlone(root: Root): boolean {
  return root.body.filter((node) => node.type !== "EmptyStatement").length === 1;
}

/** Returns the last expression, or else calls what the program declares for that. */
function editsOfEnd(tree: Tree, exported: ExportDefaultDeclaration | undefined): readonly Edit[] {
  const last = findLastStatement(tree.root);
  if (last?.type === "ExpressionStatement") return editsOfReturn(last.expression, isAlone(tree.root));
  const entry = last && findEntry(tree, exported);
  return entry === undefined ? [] : [{ at: last?.end ?? 0, text: `;return ${entry}();` }];
}

/** The parentheses make an expression of what would be read as a block or as a declaration without a name. */
function editsOfExport(root: Root, exported: ExportDefaultDeclaration | undefined): readonly Edit[] {
  if (!exported || isNamed(exported.declaration)) return [];
  const following = root.body.slice(root.body.indexOf(exported) + 1);
  const isLast = following.every((node) => node.type === "FunctionDeclaration" || node.type === "EmptyStatement");
  if (isLast) return editsOfReturn(exported.declaration, true);
  const { start, end } = exported.declaration;
  const before = { at: start, text: ";(" };
  return [before, { at: end, text: ");" }];
}

function editsOfReturn(expression: AnyNode, mayCall: boolean): readonly Edit[] {
  const before = { at: expression.start, text: "return (" };
  return [before, { at: expression.end, text: mayCall && isCallable(withoutParens(expression)) ? ")()" : ")" }];
}

/** A function that can be called with nothing. Calling a generator would run none of its body. */
function isCallable(node: AnyNode): boolean {
  if (node.type === "ArrowFunctionExpression") return node.params.length === 0;
  if (node.type !== "FunctionExpression" && node.type !== "FunctionDeclaration") return false;
  return node.params.length === 0 && !node.generator;
}

function isNamed(node: AnyNode): boolean {
  return (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && Boolean(node.id);
}

/** The name of the function that the program declares and forgot to call: its default export, or `main`. */
function findEntry(tree: Tree, exported: ExportDefaultDeclaration | undefined): string | undefined {
  if (!tree.root.body.every((node) => isInert(node))) return undefined;
  const main = tree.root.body.find((node) => node.type === "FunctionDeclaration" && node.id.name === "main");
  const candidate: AnyNode | undefined = exported?.declaration ?? main;
  if (candidate?.type !== "FunctionDeclaration" || !candidate.id || !isCallable(candidate)) return undefined;
  const { name } = candidate.id;
  const isElsewhere = (node: AnyNode): boolean => node.start < candidate.start || node.end > candidate.end;
  const mentioned = tree.nodes.some((node) => node.type === "Identifier" && node.name === name && isElsewhere(node));
  return mentioned ? undefined : name;
}

/** Statements that only prepare: nothing is called, awaited or decided in them. */
function isInert(node: AnyNode): boolean {
  if (node.type === "ExpressionStatement") return node.directive !== undefined;
  if (node.type === "ExportDefaultDeclaration") return isNamed(node.declaration);
  if (node.type === "VariableDeclaration") return node.declarations.every(({ init }) => !init || isInertValue(init));
  return node.type === "FunctionDeclaration" || node.type === "ClassDeclaration" || node.type === "EmptyStatement";
}

const INERT_VALUES: ReadonlySet<string> = new Set([
  "Literal",
  "Identifier",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

function isInertValue(node: AnyNode): boolean {
  if (node.type === "TemplateLiteral") return node.expressions.length === 0;
  if (node.type === "UnaryExpression") return isInertValue(node.argument);
  if (node.type === "ParenthesizedExpression") return isInertValue(node.expression);
  if (node.type === "ArrayExpression") return node.elements.every((element) => !element || isInertValue(element));
  if (node.type !== "ObjectExpression") return INERT_VALUES.has(node.type);
  return node.properties.every((property) => property.type === "Property" && isInertValue(property.value));
}

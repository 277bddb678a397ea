/**
 * Makes a program give its value: the last expression is returned, also at the end of a branch, a lone function or `main`
 * is called, `export default` is unwrapped. By insertions and blanks only, so a program that already returned does what it did.
 */

import type { AnyNode, ExportDefaultDeclaration, ExpressionStatement, Program as Root } from "acorn";
import { blank } from "./blank.ts";
import { findDropped, findEntry, findLastStatement, isAlone, isCallable, isLastExport, isNamed } from "./find-entry.ts";
import { insert } from "./insert.ts";
import type { Edit, Inserted } from "./insert.ts";
import { findLastObject } from "./last-object.ts";
import { withoutParens } from "./read-tree.ts";
import type { Tree } from "./read-tree.ts";

/** What was done to a program beyond returning its last expression, so that an author is not surprised. */
export function describeRewrites(
  text: string,
  tree: Tree,
): readonly { readonly offset: number; readonly message: string }[] {
  const { root } = tree;
  const object = findLastObject(text, root);
  if (object) return [{ offset: object.start, message: "The braces at the end were taken for an object" }];
  const exported = root.body.find((node) => node.type === "ExportDefaultDeclaration");
  const last = findLastStatement(root);
  const unwrapped = exported ? [{ offset: exported.start, message: "`export default` was taken off" }] : [];
  const entry = last?.type === "ExpressionStatement" ? undefined : last && findEntry(tree, exported);
  if (entry) return [...unwrapped, { offset: last?.start ?? 0, message: `\`${entry.name}\` was called` }];
  const dropped = findDropped(root);
  if (dropped) return [...unwrapped, { offset: dropped.start, message: "`void` at the end was taken off" }];
  const lone = last?.type === "ExpressionStatement" ? last.expression : exported?.declaration;
  const isCalled = lone !== undefined && isAlone(root) && isCallable(withoutParens(lone));
  return isCalled ? [...unwrapped, { offset: lone.start, message: "The function was called" }] : unwrapped;
}

/** Idempotent. What is inserted starts with a keyword or a semicolon, so it cannot join the statement before it. */
export function normalize(text: string, tree: Tree): Inserted {
  const exported = tree.root.body.find((node) => node.type === "ExportDefaultDeclaration");
  const bare = exported ? blank(text, exported.start, exported.declaration.start) : text;
  const dropped = findDropped(tree.root);
  const blanked = dropped ? blank(bare, dropped.start, dropped.start + "void".length) : bare;
  const object = findLastObject(blanked, tree.root);
  const ending = object ? editsOfReturn(object, false) : editsOfEnd(tree, exported);
  return insert(blanked, [...editsOfExport(tree.root, exported), ...ending]);
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

/** An expression whose value is the program's. */
export interface Result {
  readonly statement: ExpressionStatement;
  /** In a `try` whose `catch` must still see its failure. */
  readonly guarded: boolean;
}

/** Branches deeper than this keep their values to themselves. */
const MAX_BRANCHES = 50;

/** The expressions that a person at a prompt would see the value of: the last one of each branch that ends the program. */
export function findResults(root: Root): readonly Result[] {
  const results: Result[] = [];
  const open: { readonly node: AnyNode | null | undefined; readonly guarded: boolean; readonly depth: number }[] = [
    { node: findLastStatement(root), guarded: false, depth: 0 },
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, guarded, depth } = next;
    if (node?.type === "ExpressionStatement") results.push({ statement: node, guarded });
    if (!node || depth > MAX_BRANCHES) continue;
    for (const end of endsOf(node))
      open.push({ node: end, guarded: guarded || node.type === "TryStatement", depth: depth + 1 });
  }
  return results.toSorted((a, b) => a.statement.start - b.statement.start);
}

/** The statements with which a statement may end; a loop has none, since nobody can say which round is the last. */
function endsOf(node: AnyNode): readonly (AnyNode | null | undefined)[] {
  switch (node.type) {
    case "BlockStatement":
      return [node.body.findLast(({ type }) => type !== "EmptyStatement")];
    case "IfStatement":
      return [node.consequent, node.alternate];
    case "TryStatement":
      return [node.block, node.handler?.body];
    case "SwitchStatement":
      return node.cases.map(({ consequent }, at) => endOfCase(consequent, at === node.cases.length - 1));
    default:
      return [];
  }
}

/** What falls through to the next case is not the end. */
function endOfCase(statements: readonly AnyNode[], isLast: boolean): AnyNode | undefined {
  const last = statements.at(-1);
  if (last?.type === "BreakStatement" && !last.label) return statements.at(-2);
  return isLast || last?.type === "BlockStatement" ? endOfBlock(last, isLast) : undefined;
}

/** `case 1: { …; break; }` ends with what stands before its `break`. */
function endOfBlock(last: AnyNode | undefined, isLast: boolean): AnyNode | undefined {
  if (last?.type !== "BlockStatement") return last;
  const end = last.body.at(-1);
  if (end?.type === "BreakStatement" && !end.label) return last.body.at(-2);
  return isLast ? last : undefined;
}

/** Returns the last expression, or else calls what the program declares for that. */
function editsOfEnd(tree: Tree, exported: ExportDefaultDeclaration | undefined): readonly Edit[] {
  const last = findLastStatement(tree.root);
  if (last?.type === "ExpressionStatement") return editsOfReturn(last.expression, isAlone(tree.root));
  const results = findResults(tree.root);
  if (results.length > 0) return results.flatMap(({ statement, guarded }) => editsOfResult(statement, guarded));
  const entry = last && findEntry(tree, exported);
  return entry ? [{ at: last?.end ?? 0, text: `;return ${entry.name}();` }] : [];
}

/** The parentheses make an expression of what would be read as a block or as a declaration without a name. */
function editsOfExport(root: Root, exported: ExportDefaultDeclaration | undefined): readonly Edit[] {
  if (!exported || isNamed(exported.declaration)) return [];
  if (isLastExport(root, exported)) return editsOfReturn(exported.declaration, true);
  const { start, end } = exported.declaration;
  const before = { at: start, text: ";(" };
  return [before, { at: end, text: ");" }];
}

function editsOfReturn(expression: AnyNode, mayCall: boolean): readonly Edit[] {
  const before = { at: expression.start, text: "return (" };
  return [before, { at: expression.end, text: mayCall && isCallable(withoutParens(expression)) ? ")()" : ")" }];
}

/** In a `try` the value is awaited there, so that its failure is still caught. */
function editsOfResult({ expression }: ExpressionStatement, guarded: boolean): readonly Edit[] {
  const before = { at: expression.start, text: guarded ? "return await (" : "return (" };
  return [before, { at: expression.end, text: ")" }];
}

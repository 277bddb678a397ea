/**
 * Makes a program return its value: returns the last expression, also at the end of a branch; calls a lone function or
 * `main`; unwraps `export default`. Uses insertions and blanks only; a program that returns by itself is unchanged.
 */

import type { AnyNode, ExportDefaultDeclaration, ExpressionStatement, Program as Root } from "acorn";
import { blank } from "../edit-text.ts";
import {
  findDropped,
  findEntry,
  findLastStatement,
  findResults,
  isAlone,
  isCallable,
  isLastExport,
  isNamed,
} from "../find-entry.ts";
import { insert } from "../edit-text.ts";
import type { Edit, EditedText } from "../edit-text.ts";
import { findLastObject } from "./last-object.ts";
import { withoutParens } from "../read-tree.ts";
import type { Tree } from "../read-tree.ts";

/** Describes the changes beyond returning the last expression, for the author. */
export function describeRewrites(
  text: string,
  tree: Tree,
): readonly { readonly offset: number; readonly message: string }[] {
  const { root } = tree;
  const object = findLastObject(text, root);
  if (object) return [{ offset: object.start, message: "The braces at the end were read as an object" }];
  const exported = root.body.find((node) => node.type === "ExportDefaultDeclaration");
  const last = findLastStatement(root);
  const unwrapped = exported ? [{ offset: exported.start, message: "`export default` was removed" }] : [];
  const entry = last?.type === "ExpressionStatement" ? undefined : last && findEntry(tree, exported);
  if (entry) return [...unwrapped, { offset: last?.start ?? 0, message: `\`${entry.name}\` was called` }];
  const dropped = findDropped(root);
  if (dropped) return [...unwrapped, { offset: dropped.start, message: "`void` at the end was removed" }];
  const lone = last?.type === "ExpressionStatement" ? last.expression : exported?.declaration;
  const isCalled = lone !== undefined && isAlone(root) && isCallable(withoutParens(lone));
  return isCalled ? [...unwrapped, { offset: lone.start, message: "The function was called" }] : unwrapped;
}

/** Idempotent. Insertions start with a keyword or a semicolon, so they cannot join the statement before. */
export function normalize(text: string, tree: Tree): EditedText {
  const exported = tree.root.body.find((node) => node.type === "ExportDefaultDeclaration");
  const bare = exported ? blank(text, exported.start, exported.declaration.start) : text;
  const dropped = findDropped(tree.root);
  const blanked = dropped ? blank(bare, dropped.start, dropped.start + "void".length) : bare;
  const object = findLastObject(blanked, tree.root);
  const ending = object ? editsOfReturn(object, false) : editsOfEnd(tree, exported);
  return insert(blanked, [...editsOfExport(tree.root, exported), ...ending]);
}

/**
 * The author's text as a function body with its types, nothing moved. What follows `export default` stays a declaration
 * if it has a name and becomes the operand of `void` otherwise.
 */
export function toCheckable(text: string, { root }: Pick<Tree, "root">, toAuthor: (offset: number) => number): string {
  const exported = root.body.find((node) => node.type === "ExportDefaultDeclaration");
  if (!exported) return text;
  const start = toAuthor(exported.start);
  const blanked = blank(text, start, toAuthor(exported.declaration.start));
  if (isNamed(exported.declaration)) return blanked;
  return blanked.slice(0, start) + ";void" + blanked.slice(start + ";void".length);
}

/** Returns the last expression, or calls the entry function. */
function editsOfEnd(tree: Tree, exported: ExportDefaultDeclaration | undefined): readonly Edit[] {
  const last = findLastStatement(tree.root);
  if (last?.type === "ExpressionStatement") return editsOfReturn(last.expression, isAlone(tree.root));
  const results = findResults(tree.root);
  if (results.length > 0) return results.flatMap(({ statement, guarded }) => editsOfResult(statement, guarded));
  const entry = last && findEntry(tree, exported);
  return entry ? [{ at: last?.end ?? 0, text: `;return ${entry.name}();` }] : [];
}

/** The parentheses turn a block or an unnamed declaration into an expression. */
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

/** In a `try` the value is awaited, so that its rejection is caught there. */
function editsOfResult({ expression }: ExpressionStatement, guarded: boolean): readonly Edit[] {
  const before = { at: expression.start, text: guarded ? "return await (" : "return (" };
  return [before, { at: expression.end, text: ")" }];
}

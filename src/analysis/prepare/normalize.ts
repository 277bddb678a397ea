/**
 * Makes a program return its value: returns the last expression, also at the end of a branch; calls a lone function or
 * `main`; unwraps `export default`. Uses insertions and blanks only; a program that returns by itself is unchanged.
 */

import type { AnyNode, ExportDefaultDeclaration, Program as Root } from "acorn";
import { blank, insert } from "../edit-text.ts";
import type { Edit, EditedText } from "../edit-text.ts";
import {
  findDropped,
  findEntry,
  findExported,
  findLastStatement,
  findResults,
  isAlone,
  isCallable,
  isLastExport,
  isNamed,
} from "../find-entry.ts";
import { findLastObject } from "./last-object.ts";
import { withoutParens } from "../read-tree.ts";
import type { Tree } from "../read-tree.ts";

export interface NormalizedProgram extends EditedText {
  /** The changes beyond returning the last expression, for the author. */
  readonly notes: readonly { readonly offset: number; readonly message: string }[];
}

/** Idempotent. Insertions start with a keyword or a semicolon, so they cannot join the statement before. */
export function normalize(text: string, tree: Tree): NormalizedProgram {
  const { root } = tree;
  const exported = findExported(root);
  const bare = exported ? blank(text, exported.start, exported.declaration.start) : text;
  const dropped = findDropped(root);
  const blanked = dropped ? blank(bare, dropped.start, dropped.start + "void".length) : bare;
  const object = findLastObject(blanked, root);
  if (object) {
    const note = { offset: object.start, message: "The braces at the end were read as an object" };
    return { ...insert(blanked, [...editsOfExport(root, exported), ...editsOfReturn(object, false)]), notes: [note] };
  }
  const last = findLastStatement(root);
  const value = last?.type === "ExpressionStatement" ? last.expression : undefined;
  const entry = last && !value ? findEntry(tree, exported) : undefined;
  const called = entry ? [{ at: last?.end ?? 0, text: `;return ${entry.name}();` }] : editsOfResults(root);
  const ending = value ? editsOfReturn(value, isAlone(root)) : called;
  const lone = value ?? exported?.declaration;
  const isCalled = lone !== undefined && isAlone(root) && isCallable(withoutParens(lone));
  const notes = [
    exported && { offset: exported.start, message: "`export default` was removed" },
    entry && { offset: last?.start ?? 0, message: `\`${entry.name}\` was called` },
    dropped && { offset: dropped.start, message: "`void` at the end was removed" },
    isCalled && !entry && !dropped && { offset: lone.start, message: "The function was called" },
  ].filter((note) => note !== undefined && note !== false);
  return { ...insert(blanked, [...editsOfExport(root, exported), ...ending]), notes };
}

/**
 * The author's text as a function body with its types, nothing moved. What follows `export default` stays a declaration
 * if it has a name and becomes the operand of `void` otherwise.
 */
export function toCheckable(text: string, { root }: Pick<Tree, "root">, toAuthor: (offset: number) => number): string {
  const exported = findExported(root);
  if (!exported) return text;
  const start = toAuthor(exported.start);
  const blanked = blank(text, start, toAuthor(exported.declaration.start));
  if (isNamed(exported.declaration)) return blanked;
  return blanked.slice(0, start) + ";void" + blanked.slice(start + ";void".length);
}

/** The parentheses turn a block or an unnamed declaration into an expression. */
function editsOfExport(root: Root, exported: ExportDefaultDeclaration | undefined): readonly Edit[] {
  if (!exported || isNamed(exported.declaration)) return [];
  if (isLastExport(root, exported)) return editsOfReturn(exported.declaration, true);
  return wrap(exported.declaration, ";(", ");");
}

function editsOfReturn(expression: AnyNode, mayCall: boolean): readonly Edit[] {
  return wrap(expression, "return (", mayCall && isCallable(withoutParens(expression)) ? ")()" : ")");
}

/** In a `try` the value is awaited, so that its rejection is caught there. */
function editsOfResults(root: Root): readonly Edit[] {
  return findResults(root).flatMap(({ statement, guarded }) =>
    wrap(statement.expression, guarded ? "return await (" : "return (", ")"),
  );
}

function wrap({ start, end }: AnyNode, before: string, after: string): readonly Edit[] {
  return [
    { at: start, text: before },
    { at: end, text: after },
  ];
}

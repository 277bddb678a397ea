/**
 * Removes the parameter of a program that is one function and takes globals (`async ({ github }) => …`,
 * `async (input) => …`), so that it can be called. Runs before the rules, so that they see the globals.
 */

import type { AnyNode } from "acorn";
import { blank, withoutInsertions } from "../edit-text.ts";
import { findCalledFunction, isCallable } from "../find-entry.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { readTree } from "../read-tree.ts";
import type { Tree } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import type { StrippedProgram } from "../parse-javascript.ts";

/** A program after its parameter was removed, if it had one. */
export interface CallableProgram {
  readonly stripped: StrippedProgram;
  readonly tree: Tree;
  /** The author's text without the parameter, types included. */
  readonly text: string;
  /** A note for the author, if any; the offset is in the author's text. */
  readonly note?: { readonly message: string; readonly offset: number; readonly severity: "info" | "warn" };
}

const DROPPED = "The parameter was removed: tools and `input` are globals";
const UNCALLED =
  "The function takes arguments, so it was not called; tools and `input` are globals: remove the parameters, or call it";

/** `names` are the global objects whose methods are tools. */
export function dropParameters(stripped: StrippedProgram, text: string, names: ReadonlySet<string>): CallableProgram {
  const tree = readTree(stripped.root);
  const callee = findCalledFunction(tree, needsArguments);
  if (!callee || !isFunction(callee)) return { stripped, tree, text };
  const toAuthor = (offset: number): number => withoutInsertions(stripped.insertions, offset);
  const offset = toAuthor(callee.start);
  const uncalled: CallableProgram = { stripped, tree, text, note: { message: UNCALLED, offset, severity: "warn" } };
  const [only, ...others] = callee.params;
  if (!only || others.length > 0 || !takesGlobals(only, tree, names)) return uncalled;
  const range = findRange(stripped.text, only);
  const plain = range && takeOut(stripped.text, range);
  const parsed = plain === undefined ? undefined : parseJavascript(plain);
  if (!range || plain === undefined || !parsed?.ok) return uncalled;
  return {
    stripped: { ...stripped, text: plain, root: parsed.root },
    tree: readTree(parsed.root),
    text: takeOut(text, { ...range, start: toAuthor(range.start), end: toAuthor(range.end) }),
    note: { message: DROPPED, offset: toAuthor(range.start), severity: "info" },
  };
}

function needsArguments(node: AnyNode): boolean {
  return isFunction(node) && !node.generator && !isCallable(node);
}

/** Whether the parameter binds only globals of the same name, and the program writes to none of them. */
function takesGlobals(parameter: AnyNode, tree: Tree, names: ReadonlySet<string>): boolean {
  const taken = namesOf(parameter);
  if (!taken?.every((name) => name === "input" || names.has(name))) return false;
  const isTaken = (node: AnyNode): boolean => node.type === "Identifier" && taken.includes(node.name);
  if (tree.nodes.some((node) => node.type === "Identifier" && node.name === "arguments")) return false;
  return !tree.nodes.some((node) => {
    const target = targetOf(node);
    return target && tree.within(target).some(isTaken);
  });
}

/** Returns `undefined` if it renames a value, takes a part of one, or takes the rest. */
function namesOf(parameter: AnyNode): readonly string[] | undefined {
  if (parameter.type === "Identifier") return parameter.name === "input" ? [parameter.name] : undefined;
  if (parameter.type !== "ObjectPattern") return undefined;
  const names = parameter.properties.map((part) =>
    part.type === "Property" && part.shorthand && part.value.type === "Identifier" ? part.value.name : undefined,
  );
  return names.every((name) => name !== undefined) ? names : undefined;
}

/** What a node declares or writes, except members of objects. */
function targetOf(node: AnyNode): AnyNode | null | undefined {
  switch (node.type) {
    case "VariableDeclarator":
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return node.id;
    case "AssignmentExpression":
    case "ForInStatement":
    case "ForOfStatement":
      return node.left.type === "MemberExpression" ? undefined : node.left;
    case "UpdateExpression":
      return node.argument.type === "MemberExpression" ? undefined : node.argument;
    default:
      return undefined;
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
  /** An arrow function without parentheses around its parameter. */
  readonly bare: boolean;
}

/** Up to the closing parenthesis; `undefined` if a comment precedes it. */
function findRange(text: string, { start, end }: AnyNode): Range | undefined {
  const after = /^(?<gap>\s*,?\s*)(?<close>\)|=>)/u.exec(text.slice(end))?.groups;
  if (!after) return undefined;
  const bare = after["close"] === "=>";
  return { start, end: bare ? end : end + (after["gap"]?.length ?? 0), bare };
}

function takeOut(text: string, { start, end, bare }: Range): string {
  const blanked = blank(text, start, end);
  return bare ? `${blanked.slice(0, start)}()${blanked.slice(start + "()".length)}` : blanked;
}

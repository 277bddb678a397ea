/**
 * The parts of a program's result that are fields of other values, as far as the source tells: `return r.items`,
 * `return { count: r.total }`, `return rows.map((row) => ({ name: row.name }))`. If such a part is missing from the result,
 * the field was missing, and the expression can be named.
 */

import type { AnyNode } from "acorn";
import { defined } from "../../domain/index.ts";
import { findCalledFunction, findResults } from "../find-entry.ts";
import type { SourcePosition } from "../locate.ts";
import { withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { staticName } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { functionAround } from "../surroundings.ts";
import { isNumber } from "./is-number.ts";
import { showExpression, traceRead } from "./trace-read.ts";
import type { ProgramRead } from "./trace-read.ts";

const MAX_READS = 20;
const MAX_DEPTH = 6;

interface ReadSearch {
  readonly syntax: ProgramSyntax;
  readonly locate: (offset: number) => SourcePosition;
  /** Whether the result can only come from this expression. */
  readonly isOnly: boolean;
  readonly reads: ProgramRead[];
}

/** In source order. `locate` converts offsets to the author's lines and columns. */
export function findReads(syntax: ProgramSyntax, locate: ReadSearch["locate"]): readonly ProgramRead[] {
  const results = findResultNodes(syntax);
  const mayBeNothing = results.filter(({ type }) => !NEVER_NOTHING.has(type));
  const reads: ProgramRead[] = [];
  for (const result of results) {
    const isOnly = results.length === 1 || (mayBeNothing.length === 1 && mayBeNothing[0] === result);
    describe(result, [], { syntax, locate, reads, isOnly }, []);
  }
  return reads.slice(0, MAX_READS);
}

const NEVER_NOTHING: ReadonlySet<string> = new Set([
  "ArrayExpression",
  "BinaryExpression",
  "Literal",
  "ObjectExpression",
  "TemplateLiteral",
]);

/** What the program returns, or the function that it consists of or ends with. */
function findResultNodes(syntax: ProgramSyntax): readonly AnyNode[] {
  const { tree, globals, around } = syntax;
  const returnsOf = (home: AnyNode | undefined): readonly AnyNode[] =>
    tree.nodes.flatMap((node) => {
      const isOwn = node.type === "ReturnStatement" && node.argument && functionAround(around(node)) === home;
      return isOwn && node.argument ? [bare(node.argument)] : [];
    });
  const entry = findCalledFunction(tree);
  if (entry) return bodyOf(entry) ?? returnsOf(entry);
  const last = findResults(tree.root).map(({ statement }) => bare(statement.expression));
  const results = [...returnsOf(undefined), ...last];
  const [only, ...others] = results;
  const callee = only?.type === "CallExpression" && others.length === 0 ? withoutChain(only.callee) : undefined;
  const called = callee && (isFunction(callee) ? callee : globals.valueOf(callee));
  return called && isFunction(called) ? (bodyOf(called) ?? returnsOf(called)) : results;
}

/** `(row) => row.name` has no `return`. */
function bodyOf(node: AnyNode): readonly AnyNode[] | undefined {
  return isFunction(node) && node.body.type !== "BlockStatement" ? [bare(node.body)] : undefined;
}

/** Without parentheses, `await` and the chain of `?.`. */
function bare(node: AnyNode): AnyNode {
  const inner = withoutChain(node);
  return inner.type === "AwaitExpression" ? bare(inner.argument) : inner;
}

/** `beside` are the other keys of the object that the expression is in. */
function describe(node: AnyNode, path: readonly string[], search: ReadSearch, beside: readonly string[]): void {
  const inner = bare(node);
  const { syntax, reads } = search;
  if (path.length > MAX_DEPTH || reads.length >= MAX_READS) return;
  const go = (next: AnyNode, key: string, others: readonly string[] = []): void =>
    describe(next, [...path, key], search, others);
  const addNumber = (): void => {
    reads.push({ path, beside, isNumber: true, ...showExpression(inner, syntax, search.locate) });
  };
  if (inner.type !== "Literal" && inner.type !== "Identifier" && isNumber(inner, syntax)) return addNumber();
  if (inner.type === "MemberExpression") return addRead(inner, path, search, beside);
  if (inner.type === "ObjectExpression") {
    const named = inner.properties.flatMap((part) => {
      const key = part.type === "Property" ? staticName(part.key, part.computed) : undefined;
      return part.type === "Property" && key !== undefined ? [{ key, value: part.value }] : [];
    });
    for (const { key, value } of named)
      go(
        value,
        key,
        named.map((part) => part.key).filter((each) => each !== key),
      );
    return;
  }
  if (inner.type === "CallExpression") {
    const made = madeByMap(inner);
    return made && go(made, ITEM);
  }
  if (inner.type !== "Identifier") return;
  const binding = syntax.globals.bindingOf(inner);
  if (!binding) return;
  if (!syntax.folder.isSteady(binding)) return isNumber(inner, syntax) ? addNumber() : undefined;
  const value = syntax.globals.valueOf(inner);
  if (!value) return addRead(inner, path, search, beside);
  if (value.type !== "ArrayExpression") return isFunction(value) ? undefined : describe(value, path, search, beside);
  for (const pushed of binding.mentions.flatMap((mention) => pushedAt(mention, syntax))) go(pushed, ITEM);
}

/** Any item of an array. */
const ITEM = "*";

/** What `list.map((item) => …)` makes of each item, if the function only returns it. */
function madeByMap({ callee, arguments: given }: Extract<AnyNode, { type: "CallExpression" }>): AnyNode | undefined {
  const method = withoutChain(callee);
  const [callback] = given;
  if (method.type !== "MemberExpression" || staticName(method.property, method.computed) !== "map") return undefined;
  if (!callback || !isFunction(callback)) return undefined;
  if (callback.body.type !== "BlockStatement") return callback.body;
  const last = callback.body.body.at(-1);
  return last?.type === "ReturnStatement" ? (last.argument ?? undefined) : undefined;
}

function pushedAt(mention: AnyNode, { tree }: ProgramSyntax): readonly AnyNode[] {
  const member = tree.parentOf(mention);
  const call = member && tree.parentOf(member);
  if (member?.type !== "MemberExpression" || call?.type !== "CallExpression" || call.callee !== member) return [];
  const isPush = member.object === mention && staticName(member.property, member.computed) === "push";
  return isPush ? call.arguments.filter(({ type }) => type === "ObjectExpression") : [];
}

function addRead(node: AnyNode, path: readonly string[], search: ReadSearch, beside: readonly string[]): void {
  const { syntax, locate, isOnly, reads } = search;
  const traced = traceRead(node, syntax);
  if (!traced && node.type === "Identifier") return;
  const shown = showExpression(node, syntax, locate);
  reads.push(defined({ path, beside, isOnly: isOnly || undefined, ...traced, ...shown }));
}

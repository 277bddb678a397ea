/**
 * For an error such as "Cannot read properties of undefined (reading 'length')": a copy of the program that returns the
 * value which the failing expression met. It runs with the same deliveries as the program did, so it does the same up to
 * that point. Which values a model is shown is decided by the caller.
 */

import type { AnyNode, CallExpression } from "acorn";
import { defined } from "../domain/index.ts";
import type { Program } from "../domain/index.ts";
import { insert } from "./edit-text.ts";
import { createLocator, createOffsetFinder, cutMessage } from "./locate.ts";
import { parseJavascript } from "./parse-javascript.ts";
import { withoutChain } from "./program-syntax.ts";
import { readTree, staticName, withoutParens } from "./read-tree.ts";
import { resolveScopes } from "./resolve-scopes.ts";
import type { ProgramNames } from "./resolve-scopes.ts";

/** Where an engine says that the error is, and its words. */
export interface EngineComplaint {
  readonly message: string;
  /** Counted in `javascript`. */
  readonly line: number;
  readonly column: number;
}

export interface ErrorProbe {
  /** Returns `[kind of met, met, kind of owner, owner]`; each value is null unless its kind is "object". */
  readonly javascript: string;
  /** The source text of the expression that has the wrong value. */
  readonly met: string;
  /** The source text of the expression that it was read from, and what was read. */
  readonly owner?: string;
  readonly property?: string;
}

/** A value that the program met, and what it was read from. */
interface Suspect {
  readonly met: AnyNode;
  readonly owner?: AnyNode;
  readonly property?: string;
}

/** Longer programs are not parsed again. */
const MAX_CHARS = 100_000;
const SHOWN_CHARS = 60;

const READ =
  /^Cannot (?:read|set) (?:properties|property) (?:'(?<name>.*)' )?of (?:undefined|null)(?: \(.*?'(?<named>.*)'\))?$/i;
const DESTRUCTURE = /^Cannot destructure /;
const CALL = /not a function$/;
const ITERATE = /not iterable|Symbol\.iterator/;
const SEARCH = /^Cannot use 'in' operator|^invalid 'in' operand/;
const TO_OBJECT = /^Cannot convert undefined or null to object$|^cannot convert (?:undefined|null) to object$/i;

/** `undefined` if the words are not about a value, or the place is unclear. */
export function createProbe(
  { javascript }: Pick<Program, "javascript">,
  error: EngineComplaint,
): ErrorProbe | undefined {
  if (javascript.length > MAX_CHARS) return undefined;
  const parsed = parseJavascript(javascript);
  if (!parsed.ok) return undefined;
  const tree = readTree(parsed.root);
  const globals = resolveScopes(tree);
  const suspects = tree.nodes.flatMap((node) => suspectsIn(node, error.message));
  const offset = createOffsetFinder(javascript)(error);
  const locate = createLocator(javascript);
  const near = suspects
    .filter(({ at }) => locate(at).line === error.line)
    .toSorted((a, b) => Math.abs(a.at - offset) - Math.abs(b.at - offset));
  const [first] = near;
  return first && build(javascript, { met: first.met, ...findOwner(first.met, globals) });
}

/** The expressions of a node that the words may be about, each with the place that engines report. */
function suspectsIn(node: AnyNode, message: string): readonly { readonly met: AnyNode; readonly at: number }[] {
  if (ITERATE.test(message)) return iteratedIn(node).map((met) => ({ met, at: met.start }));
  const read = READ.exec(message)?.groups;
  if (read) {
    if (node.type !== "MemberExpression" || node.object.type === "Super") return [];
    const name = staticName(node.property, node.computed);
    const wanted = read["named"] ?? read["name"];
    const isOther = name !== undefined && wanted !== undefined && name !== wanted;
    return isOther ? [] : [{ met: node.object, at: node.property.start }];
  }
  if (DESTRUCTURE.test(message)) return isPattern(node) ? [{ met: node.init, at: node.id.start }] : [];
  if (CALL.test(message)) return node.type === "CallExpression" ? calleeOf(node) : [];
  if (SEARCH.test(message)) {
    return node.type === "BinaryExpression" && node.operator === "in" ? [{ met: node.right, at: node.start }] : [];
  }
  if (!TO_OBJECT.test(message) || node.type !== "CallExpression") return [];
  const [argument] = node.arguments;
  return argument && argument.type !== "SpreadElement" ? [{ met: argument, at: node.start }] : [];
}

function isPattern(node: AnyNode): node is AnyNode & { readonly id: AnyNode; readonly init: AnyNode } {
  return node.type === "VariableDeclarator" && node.id.type === "ObjectPattern" && !!node.init;
}

/** The value whose method is missing, or the name that is not a function. */
function calleeOf({ callee }: CallExpression): readonly { readonly met: AnyNode; readonly at: number }[] {
  const called = withoutChain(callee);
  if (called.type === "Identifier") return [{ met: called, at: called.start }];
  if (called.type !== "MemberExpression" || called.object.type === "Super") return [];
  return [{ met: called.object, at: called.property.start }];
}

/** Functions of the language that go through their first argument. */
const ITERATING = new Set(["all", "allSettled", "any", "race", "from", "fromEntries"]);

function methodOf(callee: AnyNode): string {
  return callee.type === "MemberExpression" ? (staticName(callee.property, callee.computed) ?? "") : "";
}

function iteratedIn(node: AnyNode): readonly AnyNode[] {
  if (node.type === "ForOfStatement") return [node.right];
  if (node.type === "SpreadElement") return [node.argument];
  if (node.type === "VariableDeclarator") return node.id.type === "ArrayPattern" && node.init ? [node.init] : [];
  const isTaken =
    node.type === "NewExpression" ||
    (node.type === "CallExpression" && ITERATING.has(methodOf(withoutChain(node.callee))));
  return isTaken ? node.arguments.slice(0, 1).filter((argument) => argument.type !== "SpreadElement") : [];
}

/** What a missing value was read from: the object of a member or method, also at the declaration of a name. */
function findOwner(met: AnyNode, globals: ProgramNames): Pick<Suspect, "owner" | "property"> {
  const node = withoutAwait(met);
  if (node.type === "MemberExpression" && node.object.type !== "Super") {
    return defined({ owner: node.object, property: staticName(node.property, node.computed) });
  }
  if (node.type === "CallExpression") {
    const callee = withoutChain(node.callee);
    const isMethod = callee.type === "MemberExpression" && callee.object.type !== "Super";
    return isMethod ? { owner: callee.object } : {};
  }
  const [declarer, ...others] = node.type === "Identifier" ? (globals.bindingOf(node)?.declarers ?? []) : [];
  if (declarer?.type !== "VariableDeclarator" || others.length > 0 || !declarer.init) return {};
  if (declarer.id.type === "Identifier")
    return withoutAwait(declarer.init) === node ? {} : findOwner(declarer.init, globals);
  return { owner: declarer.init };
}

function withoutAwait(node: AnyNode): AnyNode {
  const inner = withoutChain(node);
  return inner.type === "AwaitExpression" ? withoutAwait(inner.argument) : inner;
}

function build(javascript: string, { met, owner, property }: Suspect): ErrorProbe | undefined {
  const marked = [met, ...(owner ? [owner] : [])];
  // The parentheses would end the chain: `a?.b.c` is undefined without `a`, but `(a?.b).c` throws.
  if (marked.some((node) => node.type === "ChainExpression" || endsInChain(node))) return undefined;
  const [first, second, thrown] = ["met", "owner", "thrown"].map((name) => unusedName(name, javascript));
  const edits = [
    { at: met.start, text: `(${first}=(` },
    { at: met.end, text: "))" },
    ...(owner
      ? [
          { at: owner.start, text: `(${second}=(` },
          { at: owner.end, text: "))" },
        ]
      : []),
  ].toSorted((a, b) => a.at - b.at);
  const valueOf = (name = ""): string => `typeof ${name}, typeof ${name} === "object" ? ${name} : null`;
  const body = insert(javascript, edits).javascript;
  const text = `let ${first}, ${second}; try {\n${body}\n} catch (${thrown}) { return [${valueOf(first)}, ${valueOf(second)}]; }`;
  const show = (node: AnyNode): string => cutText(javascript.slice(node.start, node.end));
  return defined({
    javascript: text,
    met: show(withoutParens(met)),
    owner: owner && show(withoutParens(owner)),
    property,
  });
}

function endsInChain(node: AnyNode): boolean {
  let part = node;
  for (;;) {
    if ((part.type === "MemberExpression" || part.type === "CallExpression") && part.optional) return true;
    if (part.type === "MemberExpression") part = part.object;
    else if (part.type === "CallExpression") part = part.callee;
    else return false;
  }
}

function unusedName(name: string, text: string): string {
  let unused = `$${name}`;
  while (text.includes(unused)) unused = `$${unused}`;
  return unused;
}

function cutText(text: string): string {
  const line = cutMessage(text.replaceAll(/\s+/gu, " "));
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1).toWellFormed()}…` : line;
}

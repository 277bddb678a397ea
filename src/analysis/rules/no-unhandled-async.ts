/** Promises that are not awaited: the program may end before them, and their errors are lost. */

import type { AnyNode, CallExpression } from "acorn";
import { findResults } from "../find-entry.ts";
import { staticName, withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { calledNamespace, withoutChain } from "../called-namespace.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/** Array methods that use the return value of their callback at once: a promise is always wrong. */
const DECIDING: ReadonlySet<string> = new Set([
  "filter",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
  "some",
  "every",
  "sort",
  "toSorted",
]);
const COLLECTING: ReadonlySet<string> = new Set(["map", "flatMap"]);
const USING: ReadonlySet<string> = new Set([
  "filter",
  "join",
  "reduce",
  "sort",
  "toSorted",
  "find",
  "some",
  "every",
  "includes",
]);

/** Finds async functions passed to code that does not await them, and calls of own async functions without `await`. */
export const noUnhandledAsync: AnalysisRule = {
  name: "no-unhandled-async",
  severity: "warn",
  check: (syntax) => {
    const returned = new Set<AnyNode>(findResults(syntax.tree.root).map(({ statement }) => statement));
    return syntax.tree.nodes.flatMap((node): readonly Objection[] => {
      if (node.type === "CallExpression") return objectToCallback(node, syntax, returned);
      return node.type === "ExpressionStatement" && !returned.has(node) ? objectToDropped(node.expression, syntax) : [];
    });
  },
};

function objectToCallback(
  call: CallExpression,
  syntax: ProgramSyntax,
  returned: ReadonlySet<AnyNode>,
): readonly Objection[] {
  const callee = withoutChain(call.callee);
  const name = callee.type === "MemberExpression" ? staticName(callee.property, callee.computed) : undefined;
  const [callback] = call.arguments;
  if (name === undefined || !callback || !isAsync(callback, syntax)) return [];
  const offset = callback.start;
  if (name === "forEach") {
    const fix = "use `for (const item of list)` with `await`, or `await Promise.all(list.map(async …))`";
    return [{ offset, message: "`forEach` does not wait for an async function", fix }];
  }
  if (DECIDING.has(name)) {
    const fix = "await the results first: `const results = await Promise.all(list.map(async …))`";
    return [{ offset, message: `\`${name}\` gets a promise from an async function, not its result`, fix }];
  }
  if (!COLLECTING.has(name) || !isUsedAtOnce(call, syntax, returned)) return [];
  return [
    {
      offset,
      message: `\`${name}\` returns promises that are not awaited here`,
      fix: "wrap it: `await Promise.all(…)`",
    },
  ];
}

/** `list.map(async …)` as a statement, or followed by an array method. */
function isUsedAtOnce(call: CallExpression, { tree }: ProgramSyntax, returned: ReadonlySet<AnyNode>): boolean {
  let parent = tree.parentOf(call);
  if (parent?.type === "ChainExpression") parent = tree.parentOf(parent);
  if (parent?.type === "ExpressionStatement") return !returned.has(parent);
  if (parent?.type !== "MemberExpression") return false;
  const name = staticName(parent.property, parent.computed);
  return name !== undefined && USING.has(name);
}

function objectToDropped(expression: AnyNode, syntax: ProgramSyntax): readonly Objection[] {
  const call = withoutChain(expression);
  if (call.type !== "CallExpression") return [];
  const callee = withoutChain(call.callee);
  const offset = call.start;
  const fix = "write `await` before it";
  if (callee.type === "Identifier" && isAsync(callee, syntax)) {
    return [{ offset, message: `the async function \`${callee.name}\` is not awaited`, fix }];
  }
  if (isFunction(callee) && callee.async) return [{ offset, message: "this async function is not awaited", fix }];
  if (callee.type !== "MemberExpression") return [];
  const name = staticName(callee.property, callee.computed);
  const source = withoutChain(callee.object);
  const isPromise = calledNamespace(source, syntax) !== undefined || isPromiseMaker(source, syntax);
  if (call.arguments.some((argument) => isHandedIn(argument, syntax))) return [];
  return (name === "then" || name === "finally") && isPromise
    ? [{ offset, message: "the promise of this chain is not awaited", fix }]
    : [];
}

/** `resolve` in `new Promise((resolve, reject) => …)`: the caller of the function waits for it. */
function isHandedIn(node: AnyNode, { globals }: ProgramSyntax): boolean {
  const inner = withoutParens(node);
  const [declarer] = globals.bindingOf(inner)?.declarers ?? [];
  if (inner.type !== "Identifier" || !declarer || !isFunction(declarer)) return false;
  return declarer.params.some((param) => param.type === "Identifier" && param.name === inner.name);
}

function isPromiseMaker(node: AnyNode, syntax: ProgramSyntax): boolean {
  const call = withoutParens(node);
  return call.type === "CallExpression" && isAsync(withoutChain(call.callee), syntax);
}

/** An async function, written here or declared under this name. */
function isAsync(node: AnyNode, { globals }: ProgramSyntax): boolean {
  const inner = withoutParens(node);
  const value = isFunction(inner) ? inner : globals.valueOf(inner);
  return value !== undefined && isFunction(value) && value.async;
}

/** Promises that are not awaited: the program may end before them, and their errors are lost. */

import type { AnyNode, CallExpression, Identifier } from "acorn";
import { findLastStatement, findResults } from "../find-entry.ts";
import { staticName, withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { functionAround } from "../surroundings.ts";
import { calledNamespace, withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/** The statements that give the program its value: normalization returns them, so they are awaited. */
function findReturned({ tree }: ProgramSyntax): ReadonlySet<AnyNode> {
  return new Set(findResults(tree.root).map(({ statement }) => statement));
}

/**
 * A tool call whose promise is dropped, or used as if it were the result where no type error would tell. Follows the
 * promise outward until something uses it; `void` marks a call that is not awaited on purpose.
 */
export const noUnawaitedCall: AnalysisRule = {
  name: "no-unawaited-call",
  severity: "warn",
  check: (syntax) => {
    const returned = findReturned(syntax);
    return syntax.tree.nodes.flatMap((node): Objection[] => {
      const namespace = node.type === "CallExpression" ? calledNamespace(node, syntax) : undefined;
      const fate = namespace === undefined ? undefined : followPromise(node, syntax, returned);
      if (fate === undefined) return [];
      if (fate === "misread") {
        const read = `the promise of this \`${namespace}\` call is used as if it were the result`;
        return [{ offset: node.start, message: read, fix: "write `await` before the call" }];
      }
      const message = `the result of this \`${namespace}\` call is dropped before it arrives`;
      const isAlone = syntax.tree.parentOf(node)?.type === "ExpressionStatement";
      const fix = isAlone ? "write `await` before it" : "await it, or several with `await Promise.all([…])`";
      return [{ offset: node.start, message, fix }];
    });
  },
};

/** Nodes that pass on the value of a child. */
const PASSING: ReadonlySet<string> = new Set([
  "ParenthesizedExpression",
  "ChainExpression",
  "ConditionalExpression",
  "LogicalExpression",
  "ArrayExpression",
]);

type Fate = "dropped" | "misread" | undefined;

/** Returns `undefined` if something handles the promise. */
function followPromise(call: AnyNode, syntax: ProgramSyntax, returned: ReadonlySet<AnyNode>): Fate {
  let node = call;
  for (;;) {
    const parent = syntax.tree.parentOf(node);
    if (!parent) return undefined;
    if (isMisread(node, syntax)) return "misread";
    if (parent.type === "ExpressionStatement") {
      return returned.has(parent) || isLabeled(parent, syntax) ? undefined : "dropped";
    }
    if (parent.type === "VariableDeclarator") return followName(parent.id, syntax);
    if (parent.type === "SequenceExpression" && parent.expressions.at(-1) !== node) return "dropped";
    const isTest = parent.type === "ConditionalExpression" && parent.test === node;
    const next = isTest ? undefined : passOn(node, parent, syntax);
    if (next === "dropped" || !next) return next;
    node = next;
  }
}

/** A name that is written again may hold the result later. */
function followName(id: AnyNode, syntax: ProgramSyntax): Fate {
  if (id.type !== "Identifier") return undefined;
  if (isUnused(id, syntax)) return "dropped";
  const binding = syntax.globals.bindingOf(id);
  if (!binding || !syntax.folder.isSteady(binding)) return undefined;
  return binding.mentions.some((mention) => isMisread(mention, syntax)) ? "misread" : undefined;
}

/** `{ total: … }` at the end of a program is its value. */
function isLabeled(statement: AnyNode, { tree }: ProgramSyntax): boolean {
  const label = tree.parentOf(statement);
  const block = label?.type === "LabeledStatement" ? tree.parentOf(label) : undefined;
  return block !== undefined && block === findLastStatement(tree.root);
}

/** The next node that holds the promise; `undefined` if something handles it. */
function passOn(node: AnyNode, parent: AnyNode, syntax: ProgramSyntax): AnyNode | "dropped" | undefined {
  if (PASSING.has(parent.type) || parent.type === "SequenceExpression") return parent;
  const isAnswer = parent.type === "ReturnStatement" || (isFunction(parent) && parent.body === node);
  return isAnswer ? passAnswer(parent, syntax) : undefined;
}

/** The return value of a callback: `map` collects it, `forEach` drops it. Another rule covers async callbacks. */
function passAnswer(from: AnyNode, syntax: ProgramSyntax): AnyNode | "dropped" | undefined {
  const callback = isFunction(from) ? from : functionAround(syntax.around(from));
  const user = callback && syntax.tree.parentOf(callback);
  if (!callback || callback.async) return undefined;
  if (user?.type !== "CallExpression" || user.arguments[0] !== callback) return undefined;
  const method = withoutChain(user.callee);
  const name = method.type === "MemberExpression" ? staticName(method.property, method.computed) : undefined;
  if (name === "forEach") return "dropped";
  return name === "map" || name === "flatMap" ? user : undefined;
}

/** Whether the program reads nothing of the variable except its `length`. */
function isUnused(name: Identifier, { globals, tree }: ProgramSyntax): boolean {
  const mentions = globals.bindingOf(name)?.mentions;
  return (
    mentions?.every((mention) => {
      const parent = tree.parentOf(mention);
      if (parent?.type !== "MemberExpression" || parent.object !== mention) return false;
      return staticName(parent.property, parent.computed) === "length";
    }) ?? false
  );
}

const TO_TEXT: ReadonlySet<string> = new Set(["String", "Number"]);
const MAX_DEPTH = 20;

/**
 * Whether a promise is used as its result without a type error: a string gets `[object Promise]`, JSON gets `{}`, a
 * spread gets nothing. The checker finds the type errors (a member, a comparison, a product).
 */
function isMisread(node: AnyNode, syntax: ProgramSyntax): boolean {
  const parent = syntax.tree.parentOf(node);
  if (parent?.type === "BinaryExpression") return parent.operator === "+";
  if (parent?.type === "TemplateLiteral") {
    return syntax.tree.parentOf(parent)?.type !== "TaggedTemplateExpression";
  }
  if (parent?.type === "SpreadElement") return isSpread(node, parent, syntax);
  return isStringified(node, syntax);
}

/** An array of promises can be spread; a promise has no properties. */
function isSpread(node: AnyNode, spread: AnyNode, { tree }: ProgramSyntax): boolean {
  const value = withoutChain(node);
  return value.type !== "ArrayExpression" && tree.parentOf(spread)?.type === "ObjectExpression";
}

/** The first argument of `JSON.stringify` at any depth, or of `String` itself. */
function isStringified(node: AnyNode, syntax: ProgramSyntax): boolean {
  let inner = node;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const parent = syntax.tree.parentOf(inner);
    if (parent?.type === "CallExpression") return parent.arguments[0] === inner && takesResult(parent, syntax, depth);
    const isPart = parent?.type === "Property" && parent.value === inner;
    const isInside = parent?.type === "ObjectExpression" || parent?.type === "ArrayExpression";
    if (!parent || !(isPart || isInside || parent.type === "ParenthesizedExpression")) return false;
    inner = parent;
  }
  return false;
}

function takesResult({ callee }: CallExpression, { globals }: ProgramSyntax, depth: number): boolean {
  const called = withoutChain(callee);
  if (called.type === "Identifier") return depth === 0 && TO_TEXT.has(called.name) && !globals.bindingOf(called);
  if (called.type !== "MemberExpression" || called.object.type !== "Identifier") return false;
  const isJson = called.object.name === "JSON" && !globals.bindingOf(called.object);
  return isJson && staticName(called.property, called.computed) === "stringify";
}

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
    const returned = findReturned(syntax);
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

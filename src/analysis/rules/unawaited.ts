/** Promises that are not awaited: the program may end before them, and their errors are lost. */

import type { AnyNode, CallExpression } from "acorn";
import { findResults } from "../find-entry.ts";
import { staticName, withoutParens } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import { calledTool, withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { createPromiseWalk } from "./follow-promise.ts";
import { createChangeFinder, mayChange, nameTool } from "./may-change.ts";
import type { ChangeFinder } from "./may-change.ts";
import { isHandedIn } from "./promise-uses.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/**
 * A tool call whose promise is dropped, or used as if it were the result where no type error would tell. It is an error
 * if the tool may change something: the program can end before the call is made, and nothing tells whether it was.
 * `void` says that the program does not wait, so a change is only a warning then. A call that only reads may be dropped.
 */
export const noUnawaitedCall: AnalysisRule = {
  name: "no-unawaited-call",
  severity: "warn",
  check: (syntax) => {
    const follow = createPromiseWalk(syntax);
    return syntax.tree.nodes.flatMap((node): Objection[] => {
      const called = node.type === "CallExpression" ? calledTool(node, syntax) : undefined;
      const loss = called && follow(node);
      if (!called || !loss) return [];
      const isChange = mayChange(called, syntax);
      if (loss.isQuiet && !isChange) return [];
      const offset = loss.at.start;
      const isAlone = syntax.tree.parentOf(loss.at)?.type === "ExpressionStatement";
      const await_ = isAlone ? "write `await` before it" : "await it, or several with `await Promise.all([…])`";
      const fix = loss.fate === "misread" ? "write `await` before the call" : await_;
      if (isChange) return [{ offset, message: describeChange(nameTool(called)), fix, isChange: !loss.isMeant }];
      const subject = `this \`${called.namespace}\` call`;
      const message =
        loss.fate === "misread"
          ? `the promise of ${subject} is used as if it were the result`
          : `the result of ${subject} is dropped before it arrives`;
      return [{ offset, message, fix }];
    });
  },
};

function describeChange(tool: string): string {
  return `\`${tool}\` may change something and is not awaited, so the program can end before it is done`;
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
    // The statements that give the program its value: normalization returns them, so they are awaited.
    const returned = new Set<AnyNode>(findResults(syntax.tree.root).map(({ statement }) => statement));
    const facts: AsyncFacts = {
      ...syntax,
      ...createChangeFinder(syntax),
      returned,
      follow: createPromiseWalk(syntax),
    };
    return syntax.tree.nodes.flatMap((node): readonly Objection[] => {
      if (node.type === "ExpressionStatement") return returned.has(node) ? [] : objectToDropped(node.expression, facts);
      if (node.type !== "CallExpression") return [];
      const found = objectToCallback(node, facts);
      return found.length > 0 ? found : objectToLostChange(node, facts);
    });
  },
};

interface AsyncFacts extends ProgramSyntax, ChangeFinder {
  readonly returned: ReadonlySet<AnyNode>;
  readonly follow: ReturnType<typeof createPromiseWalk>;
}

/** The promise of an own async function that makes a change, lost in any other way than those below. */
function objectToLostChange(call: CallExpression, syntax: AsyncFacts): readonly Objection[] {
  const made = asyncMadeBy(call, syntax);
  const tool = made && syntax.findChange(made);
  if (!made || tool === undefined) return [];
  const isStatement = syntax.tree.parentOf(call)?.type === "ExpressionStatement";
  const loss = isStatement ? undefined : syntax.follow(call);
  if (!loss && !(isTimer(call, syntax) && !syntax.callsResolver(made))) return [];
  const fix = isTimer(call, syntax)
    ? "await the time first: `await new Promise((done) => setTimeout(done, ms))`"
    : "await it, or several with `await Promise.all([…])`";
  return [{ offset: call.start, message: describeChange(tool), fix, isChange: !loss?.isMeant }];
}

/** The async function whose promise a call returns, or collects with `map`, or that it starts later. */
function asyncMadeBy(call: CallExpression, syntax: ProgramSyntax): AnyNode | undefined {
  const callee = withoutChain(call.callee);
  const [callback] = call.arguments;
  if (callee.type !== "MemberExpression" && !isTimer(call, syntax)) return asyncAt(callee, syntax);
  const name = callee.type === "MemberExpression" ? staticName(callee.property, callee.computed) : undefined;
  const isCollecting = name !== undefined && COLLECTING.has(name);
  return callback && (isCollecting || isTimer(call, syntax)) ? asyncAt(callback, syntax) : undefined;
}

function isTimer({ callee }: CallExpression, { globals }: ProgramSyntax): boolean {
  return callee.type === "Identifier" && callee.name === "setTimeout" && !globals.bindingOf(callee);
}

/** Raises an objection about an async function to an error if the function makes a change. */
function raise(objection: Objection, made: AnyNode, { callsResolver, findChange }: ChangeFinder): Objection {
  const tool = callsResolver(made) ? undefined : findChange(made);
  if (tool === undefined) return objection;
  return { ...objection, message: `${objection.message}, and \`${tool}\` may change something`, isChange: true };
}

function objectToCallback(call: CallExpression, syntax: AsyncFacts): readonly Objection[] {
  const callee = withoutChain(call.callee);
  const name = callee.type === "MemberExpression" ? staticName(callee.property, callee.computed) : undefined;
  const [callback] = call.arguments;
  const made = callback && asyncAt(callback, syntax);
  if (name === undefined || !callback || !made) return [];
  const offset = callback.start;
  if (name === "forEach") {
    const fix = "use `for (const item of list)` with `await`, or `await Promise.all(list.map(async …))`";
    return [raise({ offset, message: "`forEach` does not wait for an async function", fix }, made, syntax)];
  }
  if (DECIDING.has(name)) {
    const fix = "await the results first: `const results = await Promise.all(list.map(async …))`";
    const message = `\`${name}\` gets a promise from an async function, not its result`;
    return [raise({ offset, message, fix }, made, syntax)];
  }
  if (!COLLECTING.has(name) || !isUsedAtOnce(call, syntax)) return [];
  const message = `\`${name}\` returns promises that are not awaited here`;
  return [raise({ offset, message, fix: "wrap it: `await Promise.all(…)`" }, made, syntax)];
}

/** `list.map(async …)` as a statement, or followed by an array method. */
function isUsedAtOnce(call: CallExpression, { tree, returned }: AsyncFacts): boolean {
  let parent = tree.parentOf(call);
  if (parent?.type === "ChainExpression") parent = tree.parentOf(parent);
  if (parent?.type === "ExpressionStatement") return !returned.has(parent);
  if (parent?.type !== "MemberExpression") return false;
  const name = staticName(parent.property, parent.computed);
  return name !== undefined && USING.has(name);
}

function objectToDropped(expression: AnyNode, syntax: AsyncFacts): readonly Objection[] {
  const call = withoutChain(expression);
  if (call.type !== "CallExpression") return [];
  const callee = withoutChain(call.callee);
  const offset = call.start;
  const fix = "write `await` before it";
  const made = asyncAt(callee, syntax);
  if (made) {
    const subject = callee.type === "Identifier" ? `the async function \`${callee.name}\`` : "this async function";
    return [raise({ offset, message: `${subject} is not awaited`, fix }, made, syntax)];
  }
  if (callee.type !== "MemberExpression") return [];
  const name = staticName(callee.property, callee.computed);
  const source = withoutChain(callee.object);
  const called = calledTool(source, syntax);
  if (called && mayChange(called, syntax)) return []; // the other rule refuses it
  const isPromise = called !== undefined || isPromiseMaker(source, syntax);
  if (call.arguments.some((argument) => isHandedIn(argument, syntax))) return [];
  return (name === "then" || name === "finally") && isPromise
    ? [{ offset, message: "the promise of this chain is not awaited", fix }]
    : [];
}

function isPromiseMaker(node: AnyNode, syntax: ProgramSyntax): boolean {
  const call = withoutParens(node);
  return call.type === "CallExpression" && asyncAt(withoutChain(call.callee), syntax) !== undefined;
}

/** An async function, written here or declared under this name. */
function asyncAt(node: AnyNode, { globals }: ProgramSyntax): AnyNode | undefined {
  const inner = withoutParens(node);
  const value = isFunction(inner) ? inner : globals.valueOf(inner);
  return value !== undefined && isFunction(value) && value.async ? value : undefined;
}

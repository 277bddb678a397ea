/**
 * Follows a promise outward until something uses it. There is one such walk: every rule about missing `await` asks it.
 */

import type { AnyNode, CallExpression, Identifier } from "acorn";
import { isWritten } from "../fold.ts";
import { findDropped, findLastStatement, findResults } from "../find-entry.ts";
import { staticName } from "../read-tree.ts";
import { isFunction } from "../resolve-scopes.ts";
import type { NameBinding } from "../resolve-scopes.ts";
import { functionAround } from "../surroundings.ts";
import { withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { isHandedIn, isMisread } from "./promise-uses.ts";

/** How a promise is lost: dropped, or used as if it were its result. */
export interface PromiseLoss {
  readonly fate: "dropped" | "misread";
  /** The call whose promise is lost: the call that was followed, or that of a function which returns its promise. */
  readonly at: AnyNode;
  /** Whether a read may be lost like this: `.then(…)`, `.catch(…)`, a timer, `void`. */
  readonly isQuiet: boolean;
  /** Whether the program says that it does not wait: `void`. */
  readonly isMeant: boolean;
}

interface Walk {
  readonly syntax: ProgramSyntax;
  readonly returned: ReadonlySet<AnyNode>;
  readonly at: AnyNode;
  readonly isQuiet: boolean;
  readonly depth: number;
  /** Whether the program reads nothing of a name. A source can have thousands of calls for one. */
  readonly known: Map<NameBinding, boolean>;
}

/** Nodes that pass on the value of a child. */
const PASSING: ReadonlySet<string> = new Set([
  "ParenthesizedExpression",
  "ChainExpression",
  "ConditionalExpression",
  "LogicalExpression",
  "ArrayExpression",
  "SequenceExpression",
]);
const CHAINED: ReadonlySet<string> = new Set(["then", "catch", "finally"]);
const COMBINED: ReadonlySet<string> = new Set(["all", "allSettled", "any", "race", "resolve"]);
/** Functions that return the promise of a function that returns it. */
const MAX_FUNCTIONS = 8;
const MAX_MENTIONS = 50;

/** Returns a function that follows the promise of a call; it returns `undefined` if something handles the promise. */
export function createPromiseWalk(syntax: ProgramSyntax): (call: AnyNode) => PromiseLoss | undefined {
  // The statements that give the program its value: normalization returns them, so they are awaited.
  const returned = new Set<AnyNode>(findResults(syntax.tree.root).map(({ statement }) => statement));
  const known: Walk["known"] = new Map();
  return (call) => follow(call, { syntax, returned, at: call, isQuiet: false, depth: MAX_FUNCTIONS, known });
}

function follow(from: AnyNode, start: Walk): PromiseLoss | undefined {
  const { syntax, at } = start;
  let node = from;
  let { isQuiet } = start;
  const lost = (fate: PromiseLoss["fate"], isMeant = false): PromiseLoss => {
    return { fate, at, isQuiet: isQuiet || isMeant, isMeant };
  };
  for (;;) {
    const parent = syntax.tree.parentOf(node);
    if (!parent) return undefined;
    if (isMisread(node, syntax) || isTested(node, parent)) return lost("misread");
    switch (parent.type) {
      case "ExpressionStatement":
        return start.returned.has(parent) || isLabeled(parent, syntax) ? undefined : lost("dropped");
      case "VariableDeclarator": {
        const fate = followName(parent.id, syntax);
        return fate && lost(fate);
      }
      case "AssignmentExpression":
        return isNeverRead(parent.left, start) ? lost("dropped") : undefined;
      case "UnaryExpression":
        return parent.operator === "void" && findDropped(syntax.tree.root) !== parent
          ? lost("dropped", true)
          : undefined;
      case "MemberExpression": {
        const chain = chainOf(node, syntax);
        if (!chain || chain.arguments.some((argument) => isHandedIn(argument, syntax))) return undefined;
        isQuiet = true;
        node = chain;
        continue;
      }
      case "CallExpression": {
        if (isCollected(node, parent, start)) return lost("dropped");
        if (!isCombined(node, parent, syntax)) return undefined;
        node = parent;
        continue;
      }
      default:
    }
    if (parent.type === "SequenceExpression" && parent.expressions.at(-1) !== node) return lost("dropped");
    if (PASSING.has(parent.type)) {
      node = parent;
      continue;
    }
    const isAnswer = parent.type === "ReturnStatement" || (isFunction(parent) && parent.body === node);
    const callback = isFunction(parent) ? parent : functionAround(syntax.around(parent));
    return isAnswer && callback && !callback.async ? followAnswer(callback, { ...start, isQuiet }) : undefined;
  }
}

/** A promise is always true. */
function isTested(node: AnyNode, parent: AnyNode): boolean {
  if (parent.type === "UnaryExpression") return parent.operator === "!";
  const hasTest =
    parent.type === "IfStatement" || parent.type === "ConditionalExpression" || parent.type === "WhileStatement";
  return hasTest && parent.test === node;
}

/** A name that is written again may hold the result later. */
function followName(id: AnyNode, syntax: ProgramSyntax): PromiseLoss["fate"] | undefined {
  if (id.type !== "Identifier") return undefined;
  if (isUnused(id, syntax)) return "dropped";
  const binding = syntax.globals.bindingOf(id);
  if (!binding || !syntax.folder.isSteady(binding)) return undefined;
  return binding.mentions.some((mention) => isMisread(mention, syntax)) ? "misread" : undefined;
}

function isNeverRead(target: AnyNode, { syntax, known }: Walk): boolean {
  const binding = target.type === "Identifier" ? syntax.globals.bindingOf(target) : undefined;
  if (!binding) return false;
  const isUnread = known.get(binding) ?? binding.mentions.every((mention) => isWritten(mention, syntax.tree));
  known.set(binding, isUnread);
  return isUnread;
}

/** `{ total: … }` at the end of a program is its value. */
function isLabeled(statement: AnyNode, { tree }: ProgramSyntax): boolean {
  const label = tree.parentOf(statement);
  const block = label?.type === "LabeledStatement" ? tree.parentOf(label) : undefined;
  return block !== undefined && block === findLastStatement(tree.root);
}

/** The call in `promise.then(…)`. */
function chainOf(node: AnyNode, { tree }: ProgramSyntax): CallExpression | undefined {
  const member = tree.parentOf(node);
  if (member?.type !== "MemberExpression" || member.object !== node) return undefined;
  const call = tree.parentOf(member);
  if (call?.type !== "CallExpression" || call.callee !== member) return undefined;
  return CHAINED.has(staticName(member.property, member.computed) ?? "") ? call : undefined;
}

/** `Promise.all(here)` and the like. */
function isCombined(node: AnyNode, { callee, arguments: given }: CallExpression, { globals }: ProgramSyntax): boolean {
  const member = withoutChain(callee);
  if (given[0] !== node || member.type !== "MemberExpression" || member.object.type !== "Identifier") return false;
  const isPromise = member.object.name === "Promise" && !globals.bindingOf(member.object);
  return isPromise && COMBINED.has(staticName(member.property, member.computed) ?? "");
}

/** `jobs.push(here)` into an array of which the program reads nothing but its length. */
function isCollected(node: AnyNode, { callee, arguments: given }: CallExpression, { syntax, known }: Walk): boolean {
  const member = withoutChain(callee);
  if (member.type !== "MemberExpression" || !given.some((argument) => argument === node)) return false;
  const isPush = staticName(member.property, member.computed) === "push";
  if (!isPush || member.object.type !== "Identifier") return false;
  const binding = syntax.globals.bindingOf(member.object);
  if (!binding || syntax.globals.valueOf(member.object)?.type !== "ArrayExpression") return false;
  const isUnread = known.get(binding) ?? isUnused(member.object, syntax, ["length", "push"]);
  known.set(binding, isUnread);
  return isUnread;
}

/** Whether the program reads nothing of the variable except these members. */
function isUnused(
  name: Identifier,
  { globals, tree }: ProgramSyntax,
  members: readonly string[] = ["length"],
): boolean {
  const binding = globals.bindingOf(name);
  if (!binding || binding.declarers.some((declarer) => declarer.type !== "VariableDeclarator")) return false;
  return binding.mentions.every((mention) => {
    const parent = tree.parentOf(mention);
    if (parent?.type !== "MemberExpression" || parent.object !== mention) return false;
    return members.includes(staticName(parent.property, parent.computed) ?? "");
  });
}

/** The return value of a function: `map` collects it, `forEach` and timers drop it, a named function gives it to callers. */
function followAnswer(callback: AnyNode, walk: Walk): PromiseLoss | undefined {
  const { syntax, depth } = walk;
  const user = syntax.tree.parentOf(callback);
  if (user?.type === "CallExpression" && user.arguments[0] === callback) return followCallback(user, walk);
  const name = nameOf(callback, user);
  const mentions = name && depth > 0 ? (syntax.globals.bindingOf(name)?.mentions ?? []) : [];
  for (const mention of mentions.length > MAX_MENTIONS ? [] : mentions) {
    const call = syntax.tree.parentOf(mention);
    if (call?.type !== "CallExpression") continue;
    const next = { ...walk, at: call, depth: depth - 1 };
    const loss = call.callee === mention ? follow(call, next) : undefined;
    const passed = call.arguments[0] === mention ? followCallback(call, next) : undefined;
    if (loss ?? passed) return loss ?? passed;
  }
  return undefined;
}

function nameOf(callback: AnyNode, holder: AnyNode | undefined): AnyNode | undefined {
  if (callback.type === "FunctionDeclaration") return callback.id ?? undefined;
  return holder?.type === "VariableDeclarator" && holder.init === callback ? holder.id : undefined;
}

function followCallback(user: CallExpression, walk: Walk): PromiseLoss | undefined {
  const method = withoutChain(user.callee);
  if (method.type === "Identifier") {
    const isTimer = method.name === "setTimeout" && !walk.syntax.globals.bindingOf(method);
    return isTimer ? { fate: "dropped", at: walk.at, isQuiet: true, isMeant: false } : undefined;
  }
  const name = method.type === "MemberExpression" ? staticName(method.property, method.computed) : undefined;
  if (name === "forEach") return { fate: "dropped", at: walk.at, isQuiet: walk.isQuiet, isMeant: false };
  return name === "map" || name === "flatMap" ? follow(user, walk) : undefined;
}

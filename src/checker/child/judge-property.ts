/** Missing properties of a namespace, a promise or a result, undeclared names, and calls of other than functions. */

import type { Node, SourceFile } from "typescript/unstable/ast";
import type { Type } from "typescript/unstable/sync";
import {
  isArrowFunction,
  isBindingElement,
  isCallExpression,
  isForOfStatement,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isObjectBindingPattern,
  isPropertyAccessExpression,
  isTypeOfExpression,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";

import { defined } from "../../domain/index.ts";
import type { Fix, Mistake } from "../wire.ts";
import type { ApiDiagnostic } from "./judge.ts";
import { createAwaitMistake } from "./judge-await.ts";
import { describePrimitive } from "./judge-primitive.ts";
import type { Origin } from "./origin.ts";
import { traceOrigin } from "./trace.ts";
import type { OriginContext } from "./trace.ts";
import {
  callAround,
  calledChain,
  initializerOf,
  isAssigned,
  isGuarded,
  isReassigned,
  isTestedByName,
  namesGiven,
  outermost,
  some,
  textOf,
  variableFor,
  writesComputed,
} from "./tree.ts";

/** Where the property is read, and whether the program handles its absence. */
interface PropertyAccess {
  readonly receiver: Node;
  readonly name: string;
  readonly isGuarded: boolean;
  /** The whole expression that reads the property. */
  readonly value?: Node;
  /** The variable that a pattern binds it to. */
  readonly bound?: string;
}

export function judgeProperty({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const context = { file, origins };
  const access = findAccess(node, file);
  // An object that the program adds properties to is no longer the tool's type.
  if (!access || namesGiven(file).has(access.name)) return undefined;
  const letters = lettersOf(access.receiver, context);
  const type = letters ? origins.typeOf(letters) : origins.typeOf(access.receiver);
  if (origins.isVague(type) || isReassigned(access.receiver, file)) return undefined;
  if (origins.isPromise(type)) return createAwaitMistake(access.receiver, { file, origins }, access.name);
  if (origins.mayHave(type, access.name)) return undefined;
  const origin =
    origins.ofType(type) ?? origins.ofName(access.receiver) ?? traceForeign(letters ?? access.receiver, type, context);
  if (!origin) return undefined;
  const doubtful = access.isGuarded || isTestedLater(access, { file, origins });
  const name = origin.kind === "namespace" ? calledPath(access, file) : access.name;
  const missing = { start: node.getStart(file), name, doubtful };
  const found = toMistake(origin, missing, textOf(access.receiver, file));
  const holder = found.kind === "unknown-field" && access.value && origins.onlyHolder(type, access.name);
  const mistake = holder ? defined({ ...found, fix: readThrough(access, holder, file) }) : found;
  const primitive = origins.primitiveOf(type);
  if (mistake.kind !== "unknown-field" || primitive === undefined) return mistake;
  return describePrimitive(mistake, { primitive, receiver: letters ?? access.receiver, access: access.value }, context);
}

/** `issues.list` of `tracker.issues.list()`: a server's tools have no groups. */
function calledPath({ name, value }: PropertyAccess, file: SourceFile): string {
  const next = value?.parent;
  const isGroup =
    next && isPropertyAccessExpression(next) && next.expression === value && isCallExpression(next.parent);
  return isGroup && next.parent.expression === next ? `${name}.${textOf(next.name, file)}` : name;
}

/** `r.map` where only the field `rows` is an array: `r.rows.map`. */
function readThrough({ receiver, name, value }: PropertyAccess, holder: string, file: SourceFile): Fix | undefined {
  const text = textOf(receiver, file);
  if (!value || !isIdentifier(receiver)) return undefined;
  return { start: value.getStart(file), end: value.end, text: `${text}.${holder}.${name}` };
}

/** The string whose letters a pattern takes apart: `for (const { name } of text)`. */
function lettersOf(pattern: Node, { origins }: OriginContext): Node | undefined {
  const loop = isObjectBindingPattern(pattern) ? pattern.parent.parent.parent : undefined;
  if (!loop || !isForOfStatement(loop)) return undefined;
  return origins.primitiveOf(origins.typeOf(loop.expression)) === "string" ? loop.expression : undefined;
}

/** The origin of a value whose type does not tell it. */
function traceForeign(receiver: Node, type: Type | undefined, context: OriginContext): Origin | undefined {
  const { origins, file } = context;
  const isTraced =
    origins.primitiveOf(type) !== undefined ||
    origins.isOfLanguage(type) ||
    (origins.isSpread(type) && !writesComputed(file));
  return isTraced ? traceOrigin(receiver, context) : undefined;
}

function toMistake(origin: Origin, missing: Pick<Mistake, "start" | "name" | "doubtful">, receiver: string): Mistake {
  switch (origin.kind) {
    case "namespace":
      return { kind: "unknown-tool", ...missing, name: `${origin.address}.${missing.name}`, detail: "" };
    case "tool": {
      const detail = `${origin.address} is a tool; call it with an object of arguments`;
      return { kind: "not-callable", ...missing, detail, tool: origin.address };
    }
    case "value": {
      const tool = origin.address === "" ? undefined : origin.address;
      return defined({ kind: "unknown-field" as const, ...missing, detail: receiver, tool, type: origin.type });
    }
    default:
      return origin.kind satisfies never;
  }
}

/** Whether the program stores the value and tests it, or passes it to a function that tests it. */
function isTestedLater(
  { value, bound }: PropertyAccess,
  { file, origins }: Pick<ApiDiagnostic, "file" | "origins">,
): boolean {
  const name = bound ?? (value && variableFor(value));
  if (name !== undefined) return isTestedByName(name, file);
  const call = value && outermost(value).parent;
  if (!call || !isCallExpression(call)) return false;
  const at = call.arguments.findIndex((argument) => argument === outermost(value));
  const declared = at < 0 ? undefined : origins.declarationOf(call.expression);
  const callee = declared && (initializerOf(declared) ?? declared);
  if (!callee || !(isArrowFunction(callee) || isFunctionDeclaration(callee) || isFunctionExpression(callee)))
    return false;
  const parameter = callee.parameters[at]?.name;
  return parameter !== undefined && isIdentifier(parameter) && isTestedByName(parameter.text, callee);
}

function findAccess(node: Node, file: SourceFile): PropertyAccess | undefined {
  const { parent } = node;
  if (isPropertyAccessExpression(parent) && parent.name === node) {
    if (isAssigned(parent)) return undefined;
    return { receiver: parent.expression, name: textOf(node, file), isGuarded: isGuarded(parent), value: parent };
  }
  const element = isBindingElement(node) ? node : parent;
  if (!isBindingElement(element) || !isObjectBindingPattern(element.parent)) return undefined;
  const named = element.propertyName ?? element.name;
  if (!named) return undefined;
  const name = textOf(named, file);
  const pattern = element.parent;
  return defined({
    receiver: (isVariableDeclaration(pattern.parent) && pattern.parent.initializer) || pattern,
    name,
    isGuarded: element.initializer !== undefined,
    bound: element.name && isIdentifier(element.name) ? element.name.text : undefined,
  });
}

/** Only a called name can be a misspelled tool: `gihub.listIssues()`, `listIssues()`. The gateway decides. */
export function judgeName({ file, node }: ApiDiagnostic): Mistake | undefined {
  if (!isIdentifier(node) || namesGiven(file).has(node.text)) return undefined;
  // `typeof github` tests for the global, so the program handles its absence.
  if (some(file, (part) => isTypeOfExpression(part) && textOf(part.expression, file) === node.text)) return undefined;
  const isCallee = isCallExpression(node.parent) && node.parent.expression === node;
  const called = isCallee ? node : calledChain(node);
  if (!called) return undefined;
  const name = textOf(called, file).replace(/\s+/gu, "").replaceAll("?.", ".");
  return { kind: "unknown-name", start: node.getStart(file), name, detail: node.text, doubtful: false };
}

export function judgeCallee({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const callee = callAround(node)?.expression;
  if (!callee) return undefined;
  const origin = origins.ofType(origins.typeOf(callee)) ?? origins.ofName(callee);
  if (!origin) return undefined;
  const name = textOf(callee, file);
  const tool = origin.address.includes(".") ? origin.address : undefined;
  return defined({
    kind: "not-callable" as const,
    start: callee.getStart(file),
    name,
    detail: "",
    doubtful: false,
    tool,
  });
}

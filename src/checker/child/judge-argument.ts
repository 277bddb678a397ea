/** Arguments of a tool that are missing, superfluous or of the wrong type. Widened, union and unknown types pass. */

import type { Node } from "typescript/unstable/ast";
import {
  isArrayLiteralExpression,
  isIdentifier,
  isObjectLiteralExpression,
  isSpreadAssignment,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import type { Diagnostic } from "typescript/unstable/sync";

import type { Mistake } from "../wire.ts";
import type { ApiDiagnostic } from "./judge.ts";
import { createAwaitMistake } from "./judge-await.ts";
import {
  callAround,
  countMentions,
  initializerOf,
  isReassigned,
  namesGiven,
  nodeAt,
  outermost,
  textOf,
} from "./tree.ts";
import type { CallLike } from "./tree.ts";

const WRONG_COUNT = 2554;
const MISSING: ReadonlySet<number> = new Set([2739, 2740, 2741]);
const UNKNOWN_NAME: ReadonlySet<number> = new Set([2353, 2559, 2560, 2561]);
const WRONG_TYPE: ReadonlySet<number> = new Set([2322, 2345, 2820]);
const ASSIGNMENT =
  /^(?:Type|Argument of type) '(?<from>.*?)' is not assignable to (?:type|parameter of type) '(?<to>.*)'\./su;

/** Types without information about the value. */
const VAGUE: ReadonlySet<string> = new Set(["any", "unknown", "object", "{}", "void", "never", "undefined", "null"]);

export function judgeArgument(complaint: ApiDiagnostic): Mistake | undefined {
  const { file, diagnostic, node, origins } = complaint;
  const chain = toChain(diagnostic);
  const leaf = chain.at(-1) ?? diagnostic;
  if (readTypes(leaf)?.from.startsWith("Promise<")) return judgePromise(complaint, leaf);
  const call = callAround(diagnostic.code === WRONG_COUNT ? node : outermost(node).parent);
  const origin = call && origins.ofType(origins.typeOf(call.expression));
  if (!call || origin?.kind !== "tool") return undefined;
  const mistake: Mistake = {
    kind: "argument",
    start: Math.max(diagnostic.pos, call.getStart(file)),
    name: textOf(node, file),
    detail: leaf.text,
    tool: origin.address,
    doubtful: false,
  };
  if (diagnostic.code === WRONG_COUNT) return { ...mistake, detail: "it takes one object of named arguments" };
  if (!isInArguments(node, call)) return undefined;
  if (MISSING.has(leaf.code)) {
    return isWrittenOut(node, complaint) ? { ...mistake, detail: nameMissing(leaf.text) } : undefined;
  }
  if (UNKNOWN_NAME.has(leaf.code)) return mistake;
  if (!WRONG_TYPE.has(leaf.code) || mayHaveChanged(chain, complaint)) return undefined;
  return chain.every((part) => isCertain(part)) ? mistake : undefined;
}

/** Only the names: the types in the compiler's message may be too long. */
function nameMissing(text: string): string {
  const names = /^Type .* is missing the following properties from type .*: (.*?)\.?$/su.exec(text)?.[1];
  if (names !== undefined) return `Properties are missing: ${names}`;
  return /^Property '[^']*' is missing/u.exec(text)?.[0] ?? text;
}

/** The diagnostic and its reasons, down to the innermost. */
function toChain(diagnostic: Diagnostic): readonly Diagnostic[] {
  const [next] = diagnostic.messageChain ?? [];
  return next ? [diagnostic, ...toChain(next)] : [diagnostic];
}

function readTypes({ text }: Diagnostic): { readonly from: string; readonly to: string } | undefined {
  const { from, to } = ASSIGNMENT.exec(text)?.groups ?? {};
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Whether the program writes to the variable, or to the property that is reported as wrong. */
function mayHaveChanged(chain: readonly Diagnostic[], { node, file }: ApiDiagnostic): boolean {
  if (isReassigned(valueAt(node) ?? node, file)) return true;
  const properties = chain.flatMap(({ text }) => /^Types of property '(.*)' are incompatible/u.exec(text)?.[1] ?? []);
  const given = properties.length === 0 ? undefined : namesGiven(file);
  return properties.some((name) => given?.has(name));
}

/** Whether the type is wrong for every value at run time. */
function isCertain(part: Diagnostic): boolean {
  const types = readTypes(part);
  if (!types) return true;
  const { from, to } = types;
  if (VAGUE.has(from) || isUnion(from) || /^[A-Z][A-Z0-9]?$/u.test(from)) return false;
  // The compiler widens `let order = "asc"` to string, though the value is allowed.
  if (from === "string") return !/["`]/u.test(to);
  if (from === "number") return !/(?<![\w"])-?\d/u.test(to);
  if (from === "boolean") return !/\b(?:true|false)\b/u.test(to);
  // A date is serialized to a string.
  return !(from === "Date" && /\bstring\b/u.test(to));
}

/** Whether the type has a `|` outside brackets and quotes. */
function isUnion(type: string): boolean {
  const flat = type.replace(/"(?:[^"\\]|\\.)*"/gu, "s");
  let depth = 0;
  for (const character of flat.replaceAll("=>", "")) {
    if ("{[(<".includes(character)) depth += 1;
    if ("}])>".includes(character)) depth -= 1;
    if (character === "|" && depth === 0) return true;
  }
  return false;
}

/** A promise passed where its value is expected, to a tool or to a function of the program. */
function judgePromise({ file, diagnostic, node, origins }: ApiDiagnostic, leaf: Diagnostic): Mistake | undefined {
  if (readTypes(leaf)?.to.includes("Promise")) return undefined;
  const value = valueAt(node) ?? nodeAt(file, diagnostic.pos, diagnostic.end);
  return origins.isPromise(origins.typeOf(value)) ? createAwaitMistake(value, { file, origins }) : undefined;
}

/** The compiler reports the name of a property or variable; the mistake is its value. */
function valueAt(node: Node): Node | undefined {
  const value = initializerOf(node.parent);
  return value === node ? undefined : value;
}

function isInArguments(node: Node, call: CallLike): boolean {
  return call.arguments?.some((argument) => node.pos >= argument.pos && node.end <= argument.end) ?? false;
}

/** Whether the argument is one complete literal; an object that is extended elsewhere may have the missing properties. */
function isWrittenOut(node: Node, { file, origins }: ApiDiagnostic): boolean {
  if (isArrayLiteralExpression(node)) return true;
  if (!isIdentifier(node)) return isComplete(node);
  const value = valueAt(node);
  if (value) return isComplete(value);
  const declared = origins.declarationOf(node);
  const made = declared && isVariableDeclaration(declared) ? declared.initializer : undefined;
  return made !== undefined && isComplete(made) && countMentions(file, node.text) <= 2;
}

function isComplete(node: Node): boolean {
  return isObjectLiteralExpression(node) && !node.properties.some((part) => isSpreadAssignment(part));
}

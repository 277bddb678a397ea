/** Undeclared names, and calls of values that are not functions. */

import { isCallExpression, isIdentifier, isNewExpression, isTypeOfExpression } from "typescript/unstable/ast/is";
import type { Node, SourceFile } from "typescript/unstable/ast";

import type { Mistake } from "../wire.ts";
import type { ApiDiagnostic } from "./judge.ts";
import { callAround, calledChain, namesGiven, startOf, textOf } from "./tree.ts";

/** Only a called name can be a misspelled tool: `gihub.listIssues()`, `listIssues()`. The gateway decides. */
export function judgeName({ file, node }: ApiDiagnostic): Mistake | undefined {
  if (!isIdentifier(node) || namesGiven(file).has(node.text) || asksForType(file, node.text)) return undefined;
  const isCallee = isCallExpression(node.parent) && node.parent.expression === node;
  const called = isCallee ? node : calledChain(node);
  if (!called) return undefined;
  const name = textOf(called, file).replace(/\s+/gu, "").replaceAll("?.", ".");
  return { kind: "unknown-name", start: startOf(node, file), name, detail: node.text, doubtful: false };
}

export function judgeCallee({ file, node, origins }: ApiDiagnostic): Mistake | undefined {
  const call = callAround(node);
  if (!call || (!isCallExpression(call) && !isNewExpression(call))) return undefined;
  const callee = call.expression;
  const origin = origins.ofType(origins.typeOf(callee)) ?? origins.ofName(callee);
  if (!origin) return undefined;
  const name = textOf(callee, file);
  const tool = origin.address.includes(".") ? { tool: origin.address } : {};
  return { kind: "not-callable", start: startOf(callee, file), name, detail: "", doubtful: false, ...tool };
}

/** `typeof github` tests for the global, so the program handles its absence. */
function asksForType(file: SourceFile, name: string): boolean {
  const visit = (node: Node): boolean =>
    (isTypeOfExpression(node) && textOf(node.expression, file) === name) ||
    node.forEachChild((child) => visit(child) || undefined) === true;
  return visit(file);
}

/** A call whose promise is dropped may be cut off when the program ends, and its failure is lost. */

import type { AnyNode } from "acorn";
import { findLastStatement } from "../normalize.ts";
import { withoutParens } from "../read-tree.ts";
import type { Objection, Rule, Subject } from "./rule.ts";

/** Looks at bare statements `ns.tool(…);` only. The last one is returned by normalization, which waits for it. */
export const noUnawaitedCall: Rule = {
  name: "no-unawaited-call",
  severity: "warn",
  check: (subject) => {
    const returned = findLastStatement(subject.tree.root);
    const mentions = namespaceMentions(subject);
    return subject.tree.nodes.flatMap((node): Objection[] => {
      if (node.type !== "ExpressionStatement" || node === returned) return [];
      const namespace = calledNamespace(node.expression, mentions);
      if (namespace === undefined) return [];
      const message = `the result of this \`${namespace}\` call is dropped before it arrives`;
      return [{ offset: node.start, message, fix: "write `await` before it" }];
    });
  },
};

function namespaceMentions({ globals, namespaces }: Subject): ReadonlySet<AnyNode> {
  return new Set([...namespaces].flatMap((name) => globals.mentions.get(name) ?? []));
}

function calledNamespace(expression: AnyNode, mentions: ReadonlySet<AnyNode>): string | undefined {
  const call = withoutChain(expression);
  const callee = call.type === "CallExpression" ? withoutChain(call.callee) : undefined;
  const object = callee?.type === "MemberExpression" ? withoutChain(callee.object) : undefined;
  return object?.type === "Identifier" && mentions.has(object) ? object.name : undefined;
}

function withoutChain(node: AnyNode): AnyNode {
  const inner = withoutParens(node);
  return inner.type === "ChainExpression" ? inner.expression : inner;
}

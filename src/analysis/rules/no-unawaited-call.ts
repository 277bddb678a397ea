/** A call whose promise is dropped may be cut off when the program ends, and its failure is lost. */

import type { AnyNode } from "acorn";
import { findResults } from "../normalize.ts";
import { calledNamespace } from "./called-namespace.ts";
import type { Objection, Rule } from "./rule.ts";

/** Looks at bare statements `ns.tool(…);` only. Those that give the program its value are returned by normalization, which waits for them. */
export const noUnawaitedCall: Rule = {
  name: "no-unawaited-call",
  severity: "warn",
  check: (subject) => {
    const returned = new Set<AnyNode>(findResults(subject.tree.root).map(({ statement }) => statement));
    return subject.tree.nodes.flatMap((node): Objection[] => {
      if (node.type !== "ExpressionStatement" || returned.has(node)) return [];
      const namespace = calledNamespace(node.expression, subject);
      if (namespace === undefined) return [];
      const message = `the result of this \`${namespace}\` call is dropped before it arrives`;
      return [{ offset: node.start, message, fix: "write `await` before it" }];
    });
  },
};

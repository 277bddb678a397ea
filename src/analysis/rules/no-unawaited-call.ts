/** A call whose promise is dropped may be cut off when the program ends, and its failure is lost. */

import { findLastStatement } from "../normalize.ts";
import { calledNamespace } from "./called-namespace.ts";
import type { Objection, Rule } from "./rule.ts";

/** Looks at bare statements `ns.tool(…);` only. The last one is returned by normalization, which waits for it. */
export const noUnawaitedCall: Rule = {
  name: "no-unawaited-call",
  severity: "warn",
  check: (subject) => {
    const returned = findLastStatement(subject.tree.root);
    return subject.tree.nodes.flatMap((node): Objection[] => {
      if (node.type !== "ExpressionStatement" || node === returned) return [];
      const namespace = calledNamespace(node.expression, subject);
      if (namespace === undefined) return [];
      const message = `the result of this \`${namespace}\` call is dropped before it arrives`;
      return [{ offset: node.start, message, fix: "write `await` before it" }];
    });
  },
};

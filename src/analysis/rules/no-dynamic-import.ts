/** `import(…)` never finds a module in the sandbox, and `import.meta` does not compile outside a module. */

import type { Objection, AnalysisRule } from "./rule.ts";

const FIX = "use the tools, which are globals; for what no tool does, ask an operator to add an upstream that does it";

export const noDynamicImport: AnalysisRule = {
  name: "no-dynamic-import",
  severity: "error",
  check: ({ tree }) =>
    tree.nodes.flatMap((node): Objection[] => {
      const { start: offset } = node;
      if (node.type === "ImportExpression") {
        return [{ offset, message: "modules cannot be imported", fix: FIX }];
      }
      if (node.type !== "MetaProperty" || node.meta.name !== "import") return [];
      return [
        {
          offset,
          message: "`import.meta` exists in modules only",
          fix: "remove it: take what you need from `input`",
          fatal: true,
        },
      ];
    }),
};

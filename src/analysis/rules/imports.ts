/** A program is not a module: it cannot import or export. */

import type { AnyNode } from "acorn";
import type { Objection, AnalysisRule } from "./rule.ts";

const INSTEAD = "for what no tool does, ask an operator to add an upstream that does it";
const IMPORTED = "modules cannot be imported";

/** `export default` is allowed: normalization unwraps it. */
export const noExternalImport: AnalysisRule = {
  name: "no-external-import",
  severity: "error",
  check: ({ tree }) => tree.root.body.flatMap((node) => objectToModule(node)),
};

function objectToModule(node: AnyNode): readonly Objection[] {
  const { start: offset } = node;
  const isExport = node.type === "ExportNamedDeclaration" && !node.source;
  if (isExport) {
    const fix = "remove the word `export` and give the result with `return`";
    return [{ offset, message: "nothing can be exported", fix, fatal: true }];
  }
  if (!/^(?:ImportDeclaration|ExportAllDeclaration|ExportNamedDeclaration)$/u.test(node.type)) return [];
  const fix = `remove the line: tools are globals, such as \`await github.listIssues({ … })\`; ${INSTEAD}`;
  return [{ offset, message: IMPORTED, fix, fatal: true }];
}

/** `import(…)` never finds a module in the sandbox, and `import.meta` does not compile outside a module. */
export const noDynamicImport: AnalysisRule = {
  name: "no-dynamic-import",
  severity: "error",
  check: ({ tree }) =>
    tree.nodes.flatMap((node): readonly Objection[] => {
      const { start: offset } = node;
      if (node.type === "ImportExpression") {
        return [{ offset, message: IMPORTED, fix: `use the tools, which are globals; ${INSTEAD}` }];
      }
      if (node.type !== "MetaProperty" || node.meta.name !== "import") return [];
      const fix = "remove it: take what you need from `input`";
      return [{ offset, message: "`import.meta` exists in modules only", fix, fatal: true }];
    }),
};

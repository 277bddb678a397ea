/** A program is not a module: it cannot import or export. */

import type { Objection, AnalysisRule } from "./rule.ts";

const FIX_IMPORT =
  "remove the line: tools are globals, such as `await github.listIssues({ … })`; for what no tool does, ask an operator to add an upstream that does it";
const FIX_EXPORT = "remove the word `export` and give the result with `return`";

/** `export default` is allowed: normalization unwraps it. */
export const noExternalImport: AnalysisRule = {
  name: "no-external-import",
  severity: "error",
  check: ({ tree }) =>
    tree.root.body.flatMap((node): Objection[] => {
      const { start: offset } = node;
      if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") {
        return [{ offset, message: "modules cannot be imported", fix: FIX_IMPORT, fatal: true }];
      }
      if (node.type !== "ExportNamedDeclaration") return [];
      if (node.source) return [{ offset, message: "modules cannot be imported", fix: FIX_IMPORT, fatal: true }];
      return [{ offset, message: "nothing can be exported", fix: FIX_EXPORT, fatal: true }];
    }),
};

/**
 * Removes `import` from a program. A Worker consists of modules, where it would load the engine's own; nothing in the
 * realm can prevent that. The keyword cannot be written in another way, so most programs need no parsing.
 */

import { parse } from "acorn";
import type { Node, Program } from "acorn";

/** Replaces the keyword and is as long, so that every position stays the same. */
export const WITHHELD = "$_im_$";
const KEYWORD = "import";

/** A program whose imports only the engine could tell is refused as if it did not compile. */
export class ImportRefused extends SyntaxError {}

/** The module's source with every `import(…)` and `import.meta` made an ordinary expression. */
export function withholdImports(module: string): string {
  if (!module.includes(KEYWORD)) return module;
  if (module.indexOf(WITHHELD) !== module.lastIndexOf(WITHHELD)) throw new ImportRefused("Unexpected import");
  let text = module;
  for (const { type, start } of listNodes(parseModule(module))) {
    if (/^(Import[A-Z][a-z]*Declaration|ImportDeclaration|Export(Named|All)Declaration)$/.test(type)) {
      throw new ImportRefused("Cannot use import statement outside a module");
    }
    if (type !== "ImportExpression" && type !== "MetaProperty") continue;
    if (!text.startsWith(KEYWORD, start)) continue; // `new.target`
    text = text.slice(0, start) + WITHHELD + text.slice(start + KEYWORD.length);
  }
  return text;
}

function parseModule(text: string): Program {
  try {
    return parse(text, { ecmaVersion: "latest", sourceType: "module" });
  } catch (cause) {
    throw new ImportRefused(cause instanceof Error ? cause.message : "Unexpected import", { cause });
  }
}

/** Without recursion: a program may nest deeper than the stack is. */
function listNodes(root: Program): readonly Node[] {
  const found: Node[] = [];
  const queue: unknown[] = [root];
  while (queue.length > 0) {
    const value = queue.pop();
    if (typeof value !== "object" || value === null) continue;
    if (isNode(value)) found.push(value);
    for (const field of Object.values(value)) if (typeof field === "object") queue.push(field);
  }
  return found;
}

function isNode(value: object): value is Node {
  return "type" in value && typeof value.type === "string" && "start" in value;
}

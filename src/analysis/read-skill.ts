/**
 * Reads the source of a skill without running it: `export default defineSkill({ input, output, needs }, async (input) =>
 * …)`. What remains is a program that calls the function with its input, and the definition as data.
 */

import type { AnyNode, CallExpression, Program as Root } from "acorn";
import { defined } from "../domain/index.ts";
import type { GloveboxError, Json, JsonSchema, Limits } from "../domain/index.ts";
import { blankAll, withoutInsertions } from "./edit-text.ts";
import { findExported, isLastExport } from "./find-entry.ts";
import { refuse } from "./locate.ts";
import { checkSize } from "./prepare/check-size.ts";
import { withoutParens } from "./read-tree.ts";
import { isFunction } from "./resolve-scopes.ts";
import { readSchema } from "./skill/read-schema.ts";
import { findConstants, objectTo, readProperties, readValue } from "./skill/static-value.ts";
import type { SkillText } from "./skill/static-value.ts";
import type { Timebox } from "./typescript/erase-types.ts";
import { stripTypes } from "./typescript/strip-types.ts";

export interface SkillDefinition {
  /** In which every character keeps its position up to the end of the function. */
  readonly program: string;
  readonly input: JsonSchema;
  /** Absent if it declares none. */
  readonly output?: JsonSchema;
  /** What the skill asks for, as written. */
  readonly needs: Json;
}

/** The only imports: they exist for editors, and are removed. */
const MODULES: ReadonlySet<string> = new Set(["glovebox", "zod"]);
const KEYS = ["input", "output", "needs"];
const FORM = "export default defineSkill({ input, output, needs }, async (input) => { … })";
/** As long as the words that it replaces. */
const EXPORT = "export default";
const RETURN = "return await (";

/** Throws PROGRAM_SYNTAX for source that does not parse, and REQUEST_INVALID for a definition of another form. */
export function readSkill(source: string, limits: Pick<Limits, "sourceBytes">, timebox?: Timebox): SkillDefinition {
  const { visits, tokens } = checkSize(source, limits);
  const { root, insertions } = stripTypes(source, { visits, tokens, timebox });
  const toAuthor = (offset: number): number => withoutInsertions(insertions, offset);
  const text: SkillText = { source, constants: findConstants(root), toAuthor };
  const { call, definition, run, start } = findDefinition(root, text);
  const parts = new Map(readProperties(definition, text));
  const unknown = [...parts.keys()].find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw objectTo(definition, text, `has the unknown key ${JSON.stringify(unknown)}`);
  const [input, output, needs] = KEYS.map((key) => parts.get(key));
  if (!input) throw objectTo(definition, text, "lacks `input`");
  return {
    program: toProgram(source, [...findImports(root, text), [start, toAuthor(run.start)]], {
      start,
      runEnd: toAuthor(run.end),
      callEnd: toAuthor(call.end),
    }),
    input: readSchema(input, text),
    ...defined({ output: output && readSchema(output, text) }),
    needs: needs ? readValue(needs, text) : {},
  };
}

interface FoundDefinition {
  readonly call: CallExpression;
  readonly definition: AnyNode;
  readonly run: AnyNode;
  /** Of `export`, in the author's text. */
  readonly start: number;
}

function findDefinition(root: Root, text: SkillText): FoundDefinition {
  const exported = findExported(root);
  const call = exported && withoutParens(exported.declaration);
  const isCall = call?.type === "CallExpression" && call.callee.type === "Identifier" && call.callee.name === DEFINE;
  const [definition, run, more] = isCall ? call.arguments : [];
  if (!exported || !isCall || !definition || !run || more || !isFunction(withoutParens(run))) throw wrongForm(text);
  if (!isLastExport(root, exported)) throw wrongForm(text);
  const start = text.toAuthor(exported.start);
  if (!text.source.startsWith(EXPORT, start)) throw wrongForm(text);
  return { call, definition, run, start };
}

const DEFINE = "defineSkill";

function wrongForm({ source }: SkillText): GloveboxError {
  const message = "skill.ts does not end with a definition of a skill";
  return refuse("REQUEST_INVALID", source, { message, offset: 0, hint: `It ends with ${FORM}` });
}

type TextRange = readonly [from: number, to: number];

function findImports(root: Root, text: SkillText): readonly TextRange[] {
  return root.body.flatMap((node): TextRange[] => {
    if (node.type !== "ImportDeclaration") return [];
    if (MODULES.has(String(node.source.value))) return [[text.toAuthor(node.start), text.toAuthor(node.end)]];
    throw objectTo(node, text, "imports a module: a skill can import `glovebox` only");
  });
}

function toProgram(
  source: string,
  removed: readonly TextRange[],
  { start, runEnd, callEnd }: Readonly<Record<"start" | "runEnd" | "callEnd", number>>,
): string {
  const blanked = blankAll(source, [...removed, [runEnd, callEnd]]);
  const [before, run, after] = [blanked.slice(0, start), blanked.slice(start, callEnd), blanked.slice(callEnd)];
  return `${before}${RETURN}${run.slice(RETURN.length)})(input)${after}`;
}

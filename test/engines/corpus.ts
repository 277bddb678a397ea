/** The programs that must do the same on every engine. */

import { readFileSync, readdirSync } from "node:fs";

import { parseSync } from "oxc-parser";

import { analyze } from "../../src/analysis/index.ts";
import { DEFAULT_LIMITS } from "../../src/domain/index.ts";
import { builtinPrograms } from "./builtins.ts";
import { generateProgram } from "./generate-programs.ts";
import { PRELUDE } from "./prelude.ts";

export interface CorpusProgram {
  readonly name: string;
  /** The body of an async function. */
  readonly code: string;
  /** Each has the tools `echo` and `fail`. */
  readonly namespaces: readonly string[];
}

const TOOLS = ["tools"];
const GENERATED = 1_000;
const SCENARIOS = new URL("../scenarios/", import.meta.url);

function readCorpus(file: string): string {
  return readFileSync(new URL(`./corpus/${file}`, import.meta.url), "utf8");
}

/** One expression on each line. */
function expressionPrograms(): readonly CorpusProgram[] {
  const lines = readCorpus("expressions.txt").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("# "))
    .map((line) => ({ name: line, code: `${PRELUDE}return await attempt(() => ${line});`, namespaces: TOOLS }));
}

function snippetPrograms(): readonly CorpusProgram[] {
  return readCorpus("programs.txt")
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const end = block.indexOf("\n");
      return { name: block.slice(0, end), code: block.slice(end + 1), namespaces: TOOLS };
    });
}

function generatedPrograms(): readonly CorpusProgram[] {
  return Array.from({ length: GENERATED }, (_, seed) => ({
    name: `generated ${seed}`,
    code: generateProgram(seed),
    namespaces: TOOLS,
  }));
}

/** Strings and templates of a file that can be programs. */
function stringsOf(file: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, value, expressions, quasis } = node as Readonly<Record<string, unknown>>;
    if (type === "Literal" && typeof value === "string") found.push(value);
    if (type === "TemplateLiteral" && Array.isArray(expressions) && expressions.length === 0) {
      found.push((quasis as readonly { value: { cooked: string } }[])[0]?.value.cooked ?? "");
    }
    for (const part of Object.values(node)) visit(part);
  };
  visit(parseSync(file, readFileSync(new URL(file, SCENARIOS), "utf8")).program);
  return found;
}

/** The programs in the texts of the scenario suite. What they name without declaring it is a namespace of tools. */
function scenarioPrograms(): readonly CorpusProgram[] {
  const files = readdirSync(SCENARIOS, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".test.ts"),
  );
  const sources = new Set(
    files
      .toSorted()
      .flatMap(stringsOf)
      .filter((text) => /\breturn\b|\bawait\b/.test(text)),
  );
  return [...sources].flatMap((source) => {
    const options = { limits: DEFAULT_LIMITS, enabled: false, blockOnError: false, rules: {} };
    const analyzed = analyze(source, { namespaces: [] }, options);
    // One of them never ends; the tests of limits run it.
    if (!analyzed.ok || /for \(;;\)/.test(source)) return [];
    const { javascript, unknownNames = [] } = analyzed.program;
    return [{ name: `scenario ${source}`, code: javascript, namespaces: unknownNames }];
  });
}

/** In a fixed order. */
export function readPrograms(): readonly CorpusProgram[] {
  const builtins = builtinPrograms().map((program) => ({ ...program, namespaces: TOOLS }));
  return [...expressionPrograms(), ...snippetPrograms(), ...builtins, ...scenarioPrograms(), ...generatedPrograms()];
}

/** Writes `docs/reference/library-api.md` from the types of the library. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { rollUpTypes } from "./roll-up-types.ts";
import { isStale } from "./stale.js";

const INTRODUCTION = `# Library API

Generated from the types of the package by \`npm run generate\`. [The guide](../guide/library.md) shows how to use it. \`GloveboxConfig\` is described in [configuration](configuration.md), and every \`ErrorCode\` in [errors](../errors/).
`;
/** Long tables that have pages of their own, and the start of the command line. */
const ELSEWHERE = new Set(["GloveboxConfig", "ERRORS", "DEFAULT_LIMITS", "main"]);
const START = /^(\/\*\*[^]*?\*\/\n)?(export )?(?:declare )?(function|class|const|interface|type) (\w+)/;

interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly isExported: boolean;
  readonly comment: string;
  readonly code: string;
}

export function writeApiReference(): string {
  return toPage(isStale() ? compileTypes() : readFileSync("dist/main.d.ts", "utf8"));
}

function compileTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-types-"));
  try {
    const compiler = join("node_modules", "typescript", "bin", "tsc");
    const args = [compiler, "-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", folder];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`The types are wrong:\n${stdout}`);
    return rollUpTypes(folder, "main.d.ts");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toPage(declarations: string): string {
  const entries = declarations.split(/\n\n(?=\/\*\*|export |declare |interface |type )/).flatMap(parseEntry);
  const sections = [
    ["Functions and classes", entries.filter(({ kind, isExported }) => isExported && /function|class/.test(kind))],
    ["Exported types", entries.filter(({ kind, isExported }) => isExported && !/function|class/.test(kind))],
    ["Other types", entries.filter(({ isExported }) => !isExported)],
  ] as const;
  const texts = sections.map(([title, found]) => [`## ${title}\n`, ...found.map(writeEntry)].join("\n"));
  return [INTRODUCTION, ...texts].join("\n");
}

function parseEntry(text: string): readonly Entry[] {
  const [, comment = "", exported, kind = "", name = ""] = START.exec(text) ?? [];
  if (name === "" || ELSEWHERE.has(name)) return [];
  const code = text.slice(comment.length).trim();
  return [{ name, kind, isExported: exported !== undefined, comment: readComment(comment), code }];
}

function readComment(comment: string): string {
  return comment
    .replace(/^\/\*\*|\*\/\n?$/g, "")
    .replace(/\n \* ?/g, "\n")
    .replace(/\s+/g, " ")
    .trim();
}

function writeEntry({ name, comment, code }: Entry): string {
  return [`### ${name}\n`, ...(comment === "" ? [] : [`${comment}\n`]), "```typescript", code, "```\n"].join("\n");
}

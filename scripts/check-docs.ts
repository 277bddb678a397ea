/**
 * Checks the documents against the code: the paths, links, npm scripts, commands, flags and error codes that they
 * mention exist, and their examples compile, parse or pass the checks of the configuration.
 */

import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { analyze } from "../src/analysis/index.ts";
import { parseSettings } from "../src/config/index.ts";
import { parseJsonc } from "../src/config/read/parse-jsonc.ts";
import { DEFAULT_LIMITS, ERRORS, GloveboxError } from "../src/domain/index.ts";
import { isStale } from "./stale.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DOCUMENTS = ["{README,ARCHITECTURE,SECURITY,CONTRIBUTING,AGENTS,CHANGELOG}.md", "docs/**/*.md"];

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;
const CODE_SPAN = /(`+)(.+?)\1/g;
const REPOSITORY_PATH = /^(?:src|docs|test|guest|web|scripts|examples|bin)\/[\w./-]*$/;
const NPM_CALL = /\bnpm (run )?([a-z][\w:-]*)/g;
const NPM_COMMANDS = new Set(
  "add audit ci exec help i init install link ls pack publish sbom uninstall view".split(" "),
);
/** At the start of a command, after a pipe or behind `npx`: elsewhere the word is a name that a person chose. */
const GLOVEBOX_CALL = /(?:^|[|&;$] *|\bnpx (?:-\S+ )*)glovebox((?: +[^\s|&;<>#]+)*)/g;
/** npx would install and run a package of this name from the registry, and it need not be ours. */
const FETCHING_CALL = /\bnpx (?!--no-install )(?:-\S+ (?:\S+ )??)*glovebox\b/;
const PRINTING_FILES = "{bin,deploy,examples,src,web}/**/*.{js,ts,tsx,yaml}";
const PLACEHOLDER = /^[<[(…]|^[A-Z]+…?$/;
const TEXT_LANGUAGES = new Set(["", "sh", "text", "console"]);

/** A fenced block. `line` is the number of its first line of text, starting at 1. */
interface Block {
  readonly info: string;
  readonly text: string;
  readonly line: number;
}

interface Document {
  /** Relative to the folder that is checked. */
  readonly path: string;
  /** The text outside of fenced blocks; lines inside are empty. */
  readonly prose: readonly string[];
  readonly lines: readonly string[];
  readonly blocks: readonly Block[];
}

interface Problem {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

type Report = (line: number, message: string) => void;

/** The flags of each command by its words: `run`, `secrets set`. */
export type Commands = ReadonlyMap<string, ReadonlySet<string>>;

/** The names that documents may use. They always come from this repository, even if another folder is checked. */
interface Facts {
  readonly commands: Commands;
  readonly scripts: ReadonlySet<string>;
  readonly codes: RegExp;
}

/** Returns every mistake in the documents of `folder` as `path:line message`, in the order of the files. */
export function checkDocs(folder: string): readonly string[] {
  const documents = globSync(DOCUMENTS, { cwd: folder })
    .toSorted()
    .map((path) => readDocument(folder, path));
  const facts = readFacts();
  const found = [
    ...documents.flatMap((document) => checkDocument(document, folder, facts)),
    ...checkDecisionNumbers(documents.map(({ path }) => path)),
    ...documents.flatMap(({ path, lines }) => checkFetches(path, lines)),
    ...globSync(PRINTING_FILES, { cwd: folder }).flatMap((path) =>
      checkFetches(path, readFileSync(join(folder, path), "utf8").split("\n")),
    ),
  ];
  const problems = [...found, ...compileBlocks(documents)];
  return problems
    .toSorted((a, b) => a.path.localeCompare(b.path) || a.line - b.line)
    .map(({ path, line, message }) => `${path}:${line} ${message}`);
}

function readDocument(folder: string, path: string): Document {
  const lines = readFileSync(join(folder, path), "utf8").split(/\r?\n/);
  const prose: string[] = [];
  const blocks: Block[] = [];
  let open: { readonly mark: string; readonly info: string; readonly start: number } | undefined;
  for (const [index, line] of lines.entries()) {
    const [, mark = "", info = ""] = /^\s*(`{3,})(.*)$/.exec(line) ?? [];
    prose.push(open || mark !== "" ? "" : line);
    if (open && mark.startsWith(open.mark)) {
      blocks.push({ info: open.info, text: lines.slice(open.start, index).join("\n"), line: open.start + 1 });
      open = undefined;
    } else if (!open && mark !== "") open = { mark, info: info.trim(), start: index + 1 };
  }
  return { path, prose, lines, blocks };
}

function readFacts(): Facts {
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const rooms = new Set(Object.keys(ERRORS).map((code) => code.slice(0, code.indexOf("_"))));
  return {
    commands: readCommands(),
    scripts: new Set(Object.keys(manifest.scripts)),
    codes: new RegExp(`\\b(?:${[...rooms].join("|")})_[A-Z_]*[A-Z]\\b`, "g"),
  };
}

/** Reads the source files of the command line, so that no process must be started. */
export function readCommands(): Commands {
  const folder = join(ROOT, "src/surfaces/cli");
  const files = globSync("**/*.ts", { cwd: folder, exclude: (name) => name.endsWith(".test.ts") });
  const text = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  const shared = flagsIn(/function addCommand\b[\s\S]*?\n {2}}/.exec(text)?.[0] ?? "");
  const commands = new Map<string, Set<string>>([["", new Set(["--version", "--help"])]]);
  for (const part of text.split(/\badd(?=(?:Json)?Command\()/).slice(1)) {
    const [, json, parent = "", word] = /^(Json)?Command\(\s*(\w+),\s*"([\w-]+)/.exec(part) ?? [];
    if (word === undefined) continue;
    const own = json === undefined ? [] : ["--json"];
    own.push(...flagsIn(part.split(/\n(?:export )?(?:async )?function /)[0] ?? ""));
    commands.set(parent === "program" ? word : `${parent} ${word}`, new Set([...shared, ...own, "--help"]));
  }
  return commands;
}

function flagsIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/ption\(\s*"(--[a-z-]+)/g), ([, flag = ""]) => flag);
}

function checkDocument(document: Document, folder: string, facts: Facts): readonly Problem[] {
  const problems: Problem[] = [];
  const { path } = document;
  const report: Report = (line, message) => void problems.push({ path, line, message });
  for (const [index, line] of document.prose.entries()) {
    const spans = Array.from(line.matchAll(CODE_SPAN), ([, , text = ""]) => text.trim());
    const place: Report = (_, message) => report(index + 1, message);
    checkLinks(line.replace(CODE_SPAN, ""), join(folder, dirname(path)), place);
    checkNumbers(line, place);
    for (const span of spans) {
      checkPath(span, place);
      checkCommands(span, facts, place);
    }
  }
  for (const [index, line] of document.lines.entries()) {
    for (const [code] of line.matchAll(facts.codes)) {
      if (!Object.hasOwn(ERRORS, code)) report(index + 1, `the error code ${code} does not exist`);
    }
  }
  for (const block of document.blocks) checkBlock(block, facts, report);
  return problems;
}

/** A number followed by `<!-- const FILE NAME -->` is compared with that constant of `src/`. */
const MARKED_NUMBER = /([\d.,]+)( ?[A-Za-z]+)?<!-- const (\S+) (\w+) -->/g;
/** How many of the constant's unit one unit of the document is. */
const UNITS: Readonly<Record<string, readonly number[]>> = {
  ms: [1],
  s: [1_000],
  seconds: [1_000],
  minutes: [60_000],
  hours: [3_600_000],
  days: [86_400_000],
  kB: [1_000],
  KiB: [1_024],
  MB: [1_000_000, 1_048_576],
  MiB: [1_048_576],
};

function checkNumbers(line: string, report: Report): void {
  for (const [, digits = "", unit = "", file = "", name = ""] of line.matchAll(MARKED_NUMBER)) {
    const value = readConstant(file, name);
    if (value === undefined) {
      report(0, `src/${file} has no numeric constant ${name}`);
      continue;
    }
    const written = Number(digits.replaceAll(",", ""));
    if ((UNITS[unit.trim()] ?? [1]).some((factor) => written * factor === value)) continue;
    report(0, `the document has ${digits}${unit}, but ${name} of src/${file} is ${value}`);
  }
}

/** The value of `NAME = …` or `NAME: …` in a source file, where it is a product of plain numbers and other constants. */
function readConstant(file: string, name: string): number | undefined {
  const path = join(ROOT, "src", file);
  if (!existsSync(path)) return undefined;
  const [, expression = ""] =
    new RegExp(`\\b${name}(?:: number)?(?: =|:) ([\\w*(). ]+)[;,}]`).exec(readFileSync(path, "utf8")) ?? [];
  const factors = expression.split("*").map((factor) => factor.trim());
  if (expression === "") return undefined;
  return factors.reduce<number | undefined>((product, factor) => {
    const isNumber = /^\d/.test(factor);
    const isDuration = /^(?:SECOND|MINUTE|HOUR|DAY)_MS$/.test(factor);
    const source = isDuration ? "timing/durations.ts" : file;
    const value = isNumber ? Number(factor.replaceAll("_", "")) : readConstant(source, factor);
    return product === undefined || value === undefined ? undefined : product * value;
  }, 1);
}

/** Decisions are cited by number, so each number may be used once. */
function checkDecisionNumbers(paths: readonly string[]): readonly Problem[] {
  const numbers = new Set<string>();
  return paths.flatMap((path) => {
    const [, number] = /^docs\/decisions\/(\d+)-/.exec(path) ?? [];
    if (number === undefined) return [];
    const isTaken = numbers.has(number);
    numbers.add(number);
    return isTaken ? [{ path, line: 1, message: `another decision has the number ${number}` }] : [];
  });
}

function checkFetches(path: string, lines: readonly string[]): readonly Problem[] {
  return lines.flatMap((text, index) =>
    FETCHING_CALL.test(text)
      ? [{ path, line: index + 1, message: "npx may fetch the package of a stranger; write npx --no-install glovebox" }]
      : [],
  );
}

function checkLinks(line: string, folder: string, report: Report): void {
  for (const [, target = ""] of line.matchAll(LINK)) {
    const [path = ""] = target.split("#");
    if (path === "" || /^[a-z]+:/.test(path)) continue;
    if (!existsSync(join(folder, path))) report(0, `the link leads nowhere: ${target}`);
  }
}

function checkPath(span: string, report: Report): void {
  if (REPOSITORY_PATH.test(span) && !existsSync(join(ROOT, span))) report(0, `${span} does not exist`);
}

function checkCommands(text: string, { commands, scripts }: Facts, report: Report): void {
  for (const [, run, name = ""] of text.matchAll(NPM_CALL)) {
    const isKnown = scripts.has(name) || (run === undefined && NPM_COMMANDS.has(name));
    if (!isKnown) report(0, `package.json has no script ${name}`);
  }
  for (const [, rest = ""] of text.matchAll(GLOVEBOX_CALL)) checkCall(rest.trim().split(/ +/), commands, report);
}

function checkCall([first = "", ...rest]: readonly string[], commands: Commands, report: Report): void {
  const isFlag = first.startsWith("-");
  if (PLACEHOLDER.test(first)) return;
  const [second = ""] = rest;
  const words = isFlag ? "" : commands.has(`${first} ${second}`) ? `${first} ${second}` : first;
  const flags = commands.get(words);
  if (!flags) return report(0, `the command glovebox ${first} does not exist`);
  for (const word of isFlag ? [first, ...rest] : rest) {
    const [flag = ""] = /^--[a-z-]+/.exec(word) ?? [];
    if (flag !== "" && !flags.has(flag)) report(0, `glovebox ${words} has no ${flag}`.replace("  ", " "));
  }
}

function checkBlock({ info, text, line }: Block, facts: Facts, report: Report): void {
  const place: Report = (offset, message) => report(line + offset, message);
  const [language = ""] = info.split(" ");
  if (TEXT_LANGUAGES.has(language)) {
    for (const [offset, command] of text.split("\n").entries()) {
      checkCommands(command.trim(), facts, (_, message) => place(offset, message));
    }
  }
  if (language === "json" || language === "jsonc") checkJson(text, info, place);
  if (info === "ts guest") checkProgram(text, place);
}

function checkJson(text: string, info: string, report: Report): void {
  try {
    const value: unknown = info.startsWith("jsonc") ? parseJsonc(text, "block") : JSON.parse(text);
    if (info.endsWith(" config")) parseSettings(value, { folder: ROOT, text }, pretendEnvironment(text));
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof GloveboxError)) throw thrown;
    const { line = 1 } = thrown instanceof GloveboxError ? thrown.details : {};
    report(line - 1, `the ${info} block is wrong: ${thrown.message}`);
  }
}

/** Examples refer to variables of their reader; here each of them has a value. */
function pretendEnvironment(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(text.matchAll(/\$\{(\w+)\}/g), ([, name = ""]) => [name, "x"]));
}

/** A program for the sandbox, checked by the same analysis as real programs. */
function checkProgram(text: string, report: Report): void {
  const options = { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true, rules: {} };
  const analyzed = analyze(text, { namespaces: [] }, options);
  if (!analyzed.ok) report((analyzed.error.line ?? 1) - 1, `the program is refused: ${analyzed.error.message}`);
}

const COMPILER_OPTIONS = {
  noEmit: true,
  rootDir: "/",
  declaration: false,
  noUnusedLocals: false,
  noUnusedParameters: false,
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: false,
  // The declarations of a build compile in a tenth of the time of the sources.
  paths: { glovebox: [join(ROOT, isStale() ? "src/main.ts" : "dist/main.d.ts")] },
};

/** Compiles all `ts` blocks in one run of the compiler, each as its own module. Ignores mistakes in other files. */
function compileBlocks(documents: readonly Document[]): readonly Problem[] {
  const blocks = documents.flatMap(({ path, blocks: all }) =>
    all.filter(({ info }) => info === "ts").map((block) => ({ path, block })),
  );
  if (blocks.length === 0) return [];
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "check-docs-"));
  try {
    for (const [index, { block }] of blocks.entries()) {
      writeFileSync(join(folder, `block-${index}.ts`), `${block.text}\nexport {};\n`);
    }
    return compile(folder).flatMap(({ index, line, message }) => {
      const found = blocks[index];
      return found ? [{ path: found.path, line: found.block.line + line - 1, message }] : [];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compile(folder: string): { readonly index: number; readonly line: number; readonly message: string }[] {
  const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions: COMPILER_OPTIONS, include: ["block-*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...config, exclude: [] }));
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", folder, "--pretty", "false"], { encoding: "utf8" });
  const errors = stdout.matchAll(/block-(\d+)\.ts\((\d+),\d+\): error (.+)/g);
  return Array.from(errors, ([, index, line, message = ""]) => ({ index: Number(index), line: Number(line), message }));
}

if (import.meta.main) {
  const problems = checkDocs(ROOT);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

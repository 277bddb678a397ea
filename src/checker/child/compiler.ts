/**
 * The only file that uses TypeScript's API, which changes with every version. All files are in memory: the compiler reads
 * nothing from the disk, whatever a program refers to.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

import { API } from "typescript/unstable/sync";
import type { Diagnostic, Project } from "typescript/unstable/sync";

/** One program with one set of declarations; valid while `use` runs. */
export interface CompiledProgram {
  readonly project: Project;
  readonly diagnostics: readonly Diagnostic[];
  readonly programFile: string;
  readonly apiFile: string;
  /** The program without what surrounds it in its file. */
  readonly text: string;
}

export interface Compiler {
  readonly knows: (api: string) => boolean;
  /** Adds declarations that later checks can name. Drops the least recently used ones above the limit. */
  readonly learn: (api: string, declarations: string) => void;
  readonly check: <R>(api: string, text: string, use: (compiled: CompiledProgram) => R) => R;
}

/** As many as the gateway caches; each holds its parsed declarations in memory. */
const KEPT_APIS = 4;

/** Not strict: ordinary programs use `any`, `null` and loose objects. The library is a file of ours. */
const OPTIONS = {
  noEmit: true,
  target: "esnext",
  module: "esnext",
  moduleResolution: "bundler",
  moduleDetection: "force",
  noLib: true,
  types: [],
  strict: false,
  skipLibCheck: true,
  allowUnreachableCode: true,
  allowUnusedLabels: true,
};

/**
 * Declared beside the API. `reduce` with a start value may build anything; the library's overloads would infer the
 * element type if all its fields are optional.
 */
const LENIENT = `interface Array<T> {
  reduce(step: (sum: any, value: T, index: number, all: T[]) => any, start: any): any;
}
interface ReadonlyArray<T> {
  reduce(step: (sum: any, value: T, index: number, all: readonly T[]) => any, start: any): any;
}
`;

const NAMES = ["tsconfig.json", "lenient.d.ts", "api.d.ts", "program.ts"] as const;

/** A program is the body of an async function. On one line, so that no directive of the program is at the top. */
const BEFORE = "async function program() { ";
const AFTER = "\n}";

/** The difference between offsets in the checked file and in the program. */
export const SHIFT = BEFORE.length;

/** The newest one, because methods that the engine has must not be reported as unknown. */
const LIBRARY_NAME = "esnext";
const REFERENCE = /^\/\/\/ *<reference lib="([a-z0-9.]+)" *\/>.*$/gmu;
const MODULE = /^export /mu;
const COMMENT = /\/\*[^]*?\*\//gu;

/** Starts the native compiler as a child of this process. */
export function createCompiler(): Compiler {
  const files = joinLibrary(findLibraries());
  const library = [...files.keys()];
  const folders = new Map<string, string>();
  let made = 0;
  const api = new API({
    cwd: "/",
    fs: {
      // `null` means that the file does not exist; with `undefined` the compiler would read the disk.
      readFile: (name) => files.get(name) ?? null,
      fileExists: (name) => files.has(name),
      directoryExists: (name) => name === "/" || [...folders.values()].includes(name),
      getAccessibleEntries: () => ({ files: [], directories: [] }),
      realpath: (name) => name,
    },
  });

  function drop(name: string, folder: string): void {
    folders.delete(name);
    api.updateSnapshot({ closeProjects: [`${folder}/tsconfig.json`] }).dispose();
    for (const name of NAMES) files.delete(`${folder}/${name}`);
  }

  return {
    knows: (name) => folders.has(name),
    learn(name, declarations) {
      made += 1;
      const folder = `/${made}`;
      folders.set(name, folder);
      const config = { compilerOptions: OPTIONS, files: [...library, ...NAMES.slice(1)] };
      files.set(`${folder}/tsconfig.json`, JSON.stringify(config));
      files.set(`${folder}/lenient.d.ts`, LENIENT);
      files.set(`${folder}/api.d.ts`, declarations);
      files.set(`${folder}/program.ts`, "");
      api.updateSnapshot({ openProjects: [`${folder}/tsconfig.json`] }).dispose();
      const [oldest] = folders;
      if (folders.size > KEPT_APIS && oldest) drop(...oldest);
    },
    check(name, text, use) {
      const folder = folders.get(name) ?? "";
      folders.delete(name);
      folders.set(name, folder);
      const programFile = `${folder}/program.ts`;
      files.set(programFile, `${BEFORE}${text}${AFTER}`);
      using snapshot = api.updateSnapshot({ fileChanges: { changed: [programFile] } });
      // The cache compares with the last snapshot, which is disposed: without this it would return an old tree.
      api.clearSourceFileCache();
      const project = snapshot.getProject(`${folder}/tsconfig.json`);
      if (!project) throw new TypeError(`The compiler has no project in ${folder}`);
      const diagnostics = project.program.getSemanticDiagnostics(programFile);
      return use({ project, diagnostics, programFile, apiFile: `${folder}/api.d.ts`, text });
    },
  };
}

/** The folder of the native compiler, which contains its libraries. */
function findLibraries(): string {
  const compiler = createRequire(createRequire(import.meta.url).resolve("typescript/package.json"));
  return `${dirname(compiler.resolve(`@typescript/typescript-${process.platform}-${process.arch}/package.json`))}/lib`;
}

/**
 * The language library without comments, as few files: one for all that declare globals, and each module by itself,
 * because its own names are not global. A hundred small files cost as much again
 * when the process starts, and some at every check.
 */
function joinLibrary(folder: string): Map<string, string> {
  const texts = readLibrary(folder, LIBRARY_NAME, new Map());
  const modules = [...texts].filter(([, text]) => MODULE.test(text));
  const globals = [...texts.values()].filter((text) => !MODULE.test(text)).join("\n");
  return new Map([["/library.d.ts", globals], ...modules.map(([name, text]) => [`/${name}.d.ts`, text] as const)]);
}

/** A library and those that it refers to, by name, each after those that it needs. */
function readLibrary(folder: string, name: string, texts: Map<string, string>): ReadonlyMap<string, string> {
  if (texts.has(name)) return texts;
  const text = readFileSync(`${folder}/lib.${name}.d.ts`, "utf8");
  texts.set(name, "");
  for (const [, other = ""] of text.matchAll(REFERENCE)) readLibrary(folder, other, texts);
  texts.delete(name);
  return texts.set(name, text.replace(REFERENCE, "").replace(COMMENT, ""));
}

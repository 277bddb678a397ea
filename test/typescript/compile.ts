/** Compiles sources with TypeScript's own compiler, all of them in one process. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Like the sandbox: newest library, no modules. Type errors are ignored; `using` and accessors are translated. */
const OPTIONS = {
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["esnext"],
  types: [],
  strict: false,
  noEmitOnError: false,
  removeComments: false,
  outDir: "out",
};

/** In the order of the sources. */
export function compileAll(sources: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-typescript-"));
  try {
    const files = sources.map((source, at) => {
      // As a separate module, so that two files may declare the same name.
      writeFileSync(join(folder, `p${at}.ts`), source);
      return `p${at}.ts`;
    });
    const compilerOptions = { ...OPTIONS, moduleDetection: "force" };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    try {
      execFileSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "pipe" });
    } catch {
      // Ignores type errors and errors about `return` at the top level; only the output counts.
    }
    return files.map((file) => readFileSync(join(folder, "out", file.replace(/ts$/u, "js")), "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

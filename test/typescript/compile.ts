/** What TypeScript's own compiler makes of sources, all of them in one process. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Like the sandbox: newest library, no module. Errors of type are not asked about; `using` and accessors are translated. */
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
      // A module of its own: two files that declare the same name have nothing to do with each other.
      writeFileSync(join(folder, `p${at}.ts`), source);
      return `p${at}.ts`;
    });
    const compilerOptions = { ...OPTIONS, moduleDetection: "force" };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    try {
      execFileSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "pipe" });
    } catch {
      // Complaints about types and about `return` at the top; what it wrote is what counts.
    }
    return files.map((file) => readFileSync(join(folder, "out", file.replace(/ts$/u, "js")), "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

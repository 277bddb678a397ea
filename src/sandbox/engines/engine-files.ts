/** What engines have in common: the bundled child, the shared libraries, and the commands of those that run in Node. */

import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { GloveboxError } from "../../domain/index.ts";
import type { EngineName } from "../../domain/index.ts";
import type { Engine, EngineFile } from "../engine.ts";

/** Where a confined child finds its Node and its code. */
const NODE_AT = "/engine/node";
const CHILD_AT = "/engine/child.mjs";

/** An engine whose child is `node` with the files of `code` (native code, WebAssembly, data) and MEMORY as arguments. */
export function createNodeEngine(
  name: EngineName,
  node: string,
  flags: readonly string[],
  code: readonly EngineFile[],
): Engine {
  const child = findBuilt(name, "child.js");
  const command = (file: string, childAt: string, codeAt: readonly string[]) => (usualMemoryBytes: number) => ({
    file,
    args: [...flags, childAt, ...codeAt, String(usualMemoryBytes)],
  });
  const files = (): readonly EngineFile[] => [
    { from: realpathSync(node), at: NODE_AT },
    { from: child, at: CHILD_AT },
    ...listLibraries(),
    ...code.map(({ from, at }) => ({ from: realpathSync(from), at })),
  ];
  const contained =
    process.platform === "linux"
      ? {
          files: files(),
          command: command(
            NODE_AT,
            CHILD_AT,
            code.map(({ at }) => at),
          ),
        }
      : undefined;
  return {
    name,
    command: command(
      node,
      child,
      code.map(({ from }) => from),
    ),
    contained,
  };
}

/** A file that the build makes: a child is one bundled file, because a confined root takes single files only. */
export function findBuilt(engine: EngineName, name: string): string {
  const file = fileURLToPath(
    import.meta.url.endsWith(".ts")
      ? new URL(`../../../dist/sandbox/engines/${engine}/${name}`, import.meta.url)
      : new URL(`./${engine}/${name}`, import.meta.url),
  );
  if (existsSync(file)) return file;
  throw new GloveboxError("SANDBOX_UNAVAILABLE", "The sandbox child is not built", {
    hint: "Install Glovebox again; in a clone run `npm run build`",
  });
}

/** The shared libraries of this process: the same executable needs the same ones, and the engines no others. */
export function listLibraries(): readonly EngineFile[] {
  // Resolving the names of network interfaces is slow and not needed.
  Object.assign(process.report, { excludeNetwork: true });
  return parseSharedObjects(process.report.getReport())
    .filter((library) => library.startsWith("/") && !library.endsWith(".node"))
    .map((library) => ({ from: realpathSync(library), at: library }));
}

function parseSharedObjects(report: object): readonly string[] {
  const listed: unknown = "sharedObjects" in report ? report.sharedObjects : [];
  return Array.isArray(listed) ? listed.filter((library) => typeof library === "string") : [];
}

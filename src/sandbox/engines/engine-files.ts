/** What engines have in common: the bundled child, the shared libraries, and the commands of those that run in Node. */

import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { GloveboxError } from "../../domain/index.ts";
import type { EngineName } from "../../domain/index.ts";
import type { Engine, EngineFile } from "../engine.ts";

/** Where a confined child finds its Node and its code. */
const NODE_AT = "/engine/node";
const CHILD_AT = "/engine/child.mjs";

/** An engine whose child is `node` with the arguments CODE and MEMORY; `code` is native or WebAssembly. */
export function createNodeEngine(name: EngineName, node: string, flags: readonly string[], code: EngineFile): Engine {
  const child = findChild(name);
  const command = (file: string, childAt: string, codeAt: string) => (usualMemoryBytes: number) => ({
    file,
    args: [...flags, childAt, codeAt, String(usualMemoryBytes)],
  });
  const files = (): readonly EngineFile[] => [
    { from: realpathSync(node), at: NODE_AT },
    { from: child, at: CHILD_AT },
    ...listLibraries(),
    { from: realpathSync(code.from), at: code.at },
  ];
  const contained =
    process.platform === "linux" ? { files: files(), command: command(NODE_AT, CHILD_AT, code.at) } : undefined;
  return { name, command: command(node, child, code.from), contained };
}

/** The child is one bundled file. From source it is the last build's: a confined root takes single files only. */
export function findChild(engine: EngineName): string {
  const file = fileURLToPath(
    import.meta.url.endsWith(".ts")
      ? new URL(`../../../dist/sandbox/engines/${engine}/child.js`, import.meta.url)
      : new URL(`./${engine}/child.js`, import.meta.url),
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

/** The files that engines have in common: the bundled child and the shared libraries. */

import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { GloveboxError } from "../../domain/index.ts";
import type { EngineName } from "../../domain/index.ts";
import type { EngineFile } from "../engine.ts";

/** Where a confined child finds its own Node and code. */
export const NODE_AT = "/engine/node";
export const CHILD_AT = "/engine/child.mjs";

/** The child is one bundled file. From source it is the last build's: a confined root takes single files only. */
export function findChild(engine: EngineName): string {
  const file = fileURLToPath(
    import.meta.url.endsWith(".ts")
      ? new URL(`../../../dist/sandbox/engines/${engine}/child.js`, import.meta.url)
      : new URL(`./${engine}/child.js`, import.meta.url),
  );
  if (existsSync(file)) return file;
  throw new GloveboxError("SANDBOX_UNAVAILABLE", "The sandbox child is not built", { hint: "Run `npm run build`" });
}

/** Node, the child and the libraries under the names of a confined root; an engine adds its own part. */
export function listFiles(node: string, child: string): readonly EngineFile[] {
  return [
    { from: realpathSync(node), at: NODE_AT },
    { from: child, at: CHILD_AT },
    ...listLibraries().map((library) => ({ from: realpathSync(library), at: library })),
  ];
}

/** The shared libraries of this process: the same executable needs the same ones, and the engines no others. */
export function listLibraries(): readonly string[] {
  // Resolving the names of network interfaces is slow and not needed.
  Object.assign(process.report, { excludeNetwork: true });
  return parseSharedObjects(process.report.getReport()).filter(
    (library) => library.startsWith("/") && !library.endsWith(".node"),
  );
}

function parseSharedObjects(report: object): readonly string[] {
  const listed: unknown = "sharedObjects" in report ? report.sharedObjects : [];
  return Array.isArray(listed) ? listed.filter((library) => typeof library === "string") : [];
}

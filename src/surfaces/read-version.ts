/** The version of this package, from its own manifest. */

import { createRequire } from "node:module";

import { GloveboxError } from "../domain/index.ts";

/** `from` is the URL of a file in a folder of the package. Throws if a bundler moved that file elsewhere. */
export function readVersion(from: string): string {
  const manifest = readManifest(from);
  const { name, version }: { name?: unknown; version?: unknown } =
    typeof manifest === "object" && manifest !== null ? manifest : {};
  if (name === "glovebox" && typeof version === "string") return version;
  throw new GloveboxError("CONFIG_INVALID", "Glovebox was bundled into another file, where it does not find its own", {
    hint: "Mark the package glovebox as external: docs/reference/package.md",
  });
}

function readManifest(from: string): unknown {
  try {
    return createRequire(from)("../package.json");
  } catch {
    return undefined;
  }
}

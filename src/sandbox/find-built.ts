/** Finds what the build makes for the sandbox. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { GloveboxError } from "../domain/index.ts";
import type { EngineName } from "../domain/index.ts";

/** A file that the build makes: a child is one bundled file, because a confined root takes single files only. */
export function findBuilt(folder: EngineName, name: string): string {
  const file = fileURLToPath(
    import.meta.url.endsWith(".ts")
      ? new URL(`../../dist/sandbox/engines/${folder}/${name}`, import.meta.url)
      : new URL(`./engines/${folder}/${name}`, import.meta.url),
  );
  if (existsSync(file)) return file;
  throw new GloveboxError("SANDBOX_UNAVAILABLE", "The sandbox child is not built", {
    hint: "Install Glovebox again; in a clone run `npm run build`",
  });
}

/** Bundles `guest/` into one script and writes it as a string constant, so that guest code is a real, checked file. */

import { build } from "esbuild";

const HEAD = "/** Built from `guest/` by `npm run generate`; a test rebuilds and compares it. Do not edit. */\n\n";

/** The text of `src/sandbox/guest.generated.ts`. */
export async function buildGuest(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ["guest/main.ts"],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true,
    tsconfig: "guest/tsconfig.json",
  });
  const [script] = outputFiles;
  if (!script) throw new Error("esbuild wrote nothing for guest/main.ts");
  return `${HEAD}export const GUEST_SOURCE = ${JSON.stringify(script.text)};\n`;
}

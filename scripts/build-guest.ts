/** Bundles `guest/` into scripts and writes them as string constants, so that guest code is real, checked files. */

import { build } from "esbuild";

const HEAD = "/** Built from `guest/` by `npm run generate`; a check rebuilds and compares it. Do not edit. */\n";

/** The text of `src/sandbox/guest.generated.ts`. */
export async function buildGuest(): Promise<string> {
  const [source, warmUp] = await Promise.all([bundle("guest/main.ts"), bundle("guest/warm-up.ts")]);
  return [
    HEAD,
    `export const GUEST_SOURCE = ${JSON.stringify(source)};\n`,
    `export const GUEST_WARM_UP = ${JSON.stringify(warmUp)};\n`,
  ].join("\n");
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
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
  if (!script) throw new Error(`esbuild wrote nothing for ${entry}`);
  return script.text;
}

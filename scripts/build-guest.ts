/**
 * Bundles `guest/` into scripts and writes them as string constants, so that guest code is kept in real, checked files.
 */

import { build } from "esbuild";

const HEAD = "/** Built from `guest/` by `npm run generate`; a check rebuilds and compares it. Do not edit. */\n";

/** The text of `src/sandbox/guest.generated.ts`. */
export async function buildGuest(): Promise<string> {
  const [source, warmUp, worker] = await Promise.all([
    bundle("guest/main.ts", "iife"),
    bundle("guest/warm-up.ts", "iife"),
    bundle("guest/worker/worker.ts", "esm"),
  ]);
  return [
    HEAD,
    `export const GUEST_SOURCE = ${JSON.stringify(source)};\n`,
    `export const GUEST_WARM_UP = ${JSON.stringify(warmUp)};\n`,
    `export const GUEST_WORKER = ${JSON.stringify(worker)};\n`,
  ].join("\n");
}

async function bundle(entry: string, format: "iife" | "esm"): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format,
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true,
    tsconfig: "guest/tsconfig.json",
  });
  const [script] = outputFiles;
  if (!script) throw new Error(`esbuild produced no output for ${entry}`);
  return script.text;
}

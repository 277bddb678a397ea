/** Finds the file of an installed package that npx would run. */

import { closeSync, openSync, readFileSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { parseJson } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

import type { InstalledServer } from "../settings.ts";
import { UpstreamError, unreachable } from "../upstream-error.ts";
import type { NpxRequest } from "./parse-npx.ts";

const MANIFEST = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]).optional() });
const SHEBANG_BYTES = 128;

/** Node runs a script directly; another file is started by itself. */
export function findBin(id: ConnectorId, folder: string, { name, bin, args }: NpxRequest): InstalledServer {
  const own = join(realpathSync(folder), "node_modules", name);
  const { bin: bins } = MANIFEST.parse(parseJson(readFileSync(join(own, "package.json"), "utf8")));
  const chosen = typeof bins === "string" ? bins : choose(new Map(Object.entries(bins ?? {})), name, bin);
  if (chosen === undefined) throw missing(id, name, bin);
  const file = resolveInside(own, chosen);
  if (file === undefined) throw missing(id, name, bin);
  const modules = join(realpathSync(folder), "node_modules");
  return isScript(file)
    ? { command: process.execPath, args: [file, ...args], folder: modules }
    : { command: file, args, folder: modules };
}

/** The rule of npx: the named one, the only one, or the one with the name of the package. */
function choose(bins: ReadonlyMap<string, string>, name: string, bin: string | undefined): string | undefined {
  if (bin !== undefined) return bins.get(bin);
  const paths = new Set(bins.values());
  if (paths.size === 1) return [...paths][0];
  return bins.get(name.replace(/^@[^/]*\//, ""));
}

function resolveInside(own: string, bin: string): string | undefined {
  try {
    const file = realpathSync(join(own, bin));
    return file.startsWith(`${own}/`) ? file : undefined;
  } catch {
    return undefined;
  }
}

function isScript(file: string): boolean {
  if (/\.[cm]?js$/.test(file)) return true;
  const start = Buffer.alloc(SHEBANG_BYTES);
  const descriptor = openSync(file, "r");
  try {
    return /^#!.*\bnode\b/.test(start.toString("latin1", 0, readSync(descriptor, start)));
  } finally {
    closeSync(descriptor);
  }
}

function missing(id: ConnectorId, name: string, bin: string | undefined): UpstreamError {
  const cause = bin === undefined ? `${name} has no command to start` : `${name} has no command ${bin}`;
  const hint = `Name one with mcpServers.${id}.args: ["--package=${name}", "COMMAND", …]`;
  return new UpstreamError(unreachable(cause, hint), id);
}

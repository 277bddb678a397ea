/**
 * The built admin page, read once into memory. Requests are looked up in a map and never touch the file system, so no
 * path of a request can reach another file.
 */

import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";

/** A file with its content type. */
export interface WebFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);

/** Keys are URL paths; `/` is the page. Empty if the folder does not exist. Links and other file types are skipped. */
export function readWebFiles(folder: string): ReadonlyMap<string, WebFile> {
  const files = new Map<string, WebFile>();
  for (const name of listFiles(folder)) {
    const type = TYPES.get(extname(name));
    if (type === undefined) continue;
    const body = Uint8Array.from(readFileSync(join(folder, name)));
    files.set(name === "index.html" ? "/" : `/${name}`, { body, type });
  }
  return files;
}

function listFiles(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** The files of the built admin page, compressed once. */

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);
/** The build gives these a new name with each change. */
const NAMED_BY_CONTENT = /-[A-Z0-9]{8}\.js$/;
const FOR_GOOD = "public, max-age=31536000, immutable";

interface WebFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  readonly tag: string;
  compressed?: Uint8Array<ArrayBuffer>;
}

/**
 * Read once: requests are looked up in a map and never touch the file system, so no path of a request can reach another
 * file. Keys are URL paths; `/` is the page. Without the folder, nothing is found. Links and other file types are skipped.
 */
export function readWebFiles(folder: string): (path: string, request: Headers) => Response | undefined {
  const files = new Map<string, WebFile>();
  for (const name of listFiles(folder)) {
    const type = TYPES.get(extname(name));
    if (type === undefined) continue;
    const body = Uint8Array.from(readFileSync(join(folder, name)));
    const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const cache = NAMED_BY_CONTENT.test(name) ? FOR_GOOD : "no-cache";
    const headers = { "content-type": type, "cache-control": cache, etag: tag, vary: "accept-encoding" };
    files.set(name === "index.html" ? "/" : `/${name}`, { body, headers, tag });
  }
  return (path, request) => {
    const file = files.get(path);
    if (!file) return undefined;
    if (request.get("if-none-match") === file.tag) return new Response(null, { status: 304, headers: file.headers });
    if (!/\bgzip\b/.test(request.get("accept-encoding") ?? ""))
      return new Response(file.body, { headers: file.headers });
    file.compressed ??= Uint8Array.from(gzipSync(file.body));
    return new Response(file.compressed, { headers: { ...file.headers, "content-encoding": "gzip" } });
  };
}

function listFiles(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

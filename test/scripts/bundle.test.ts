/** What the bundle loads: a gateway on standard streams has no use for the HTTP of Node, which takes 20 MB. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const DIST = resolve("dist");
const PARTS = readdirSync(DIST).filter((name) => /^(main|part-.*)\.js$/.test(name));

/** The names of Node's own modules that are loaded after `code`, a module beside the bundle. */
async function listLoaded(code: string): Promise<readonly string[]> {
  const source = `${code}; console.log(JSON.stringify(process.moduleLoadList));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source]);
  const names: readonly string[] = JSON.parse(stdout);
  return names.map((name) => name.replace("NativeModule ", ""));
}

const toUrl = (part: string): string => JSON.stringify(pathToFileURL(join(DIST, part)).href);
/** The part with the servers, as the command `mcp` loads it. */
const SERVERS = PARTS.find((part) => /export\{[^}]*\bserveMcpOverStdio\b/.test(readFileSync(join(DIST, part), "utf8")));

test("the parts that serve standard streams load no HTTP client, TLS or HTTP/2 of Node", async () => {
  const loaded = await listLoaded(`await import(${toUrl("main.js")}); await import(${toUrl(SERVERS ?? "")})`);
  const large = ["internal/deps/undici/undici", "https", "tls", "http2"];
  assert.deepEqual(
    large.filter((name) => loaded.includes(name)),
    [],
  );
});

test("an import of node:http loads the HTTP client, so the bundle takes builtins another way", async () => {
  assert.ok((await listLoaded('await import("node:http")')).includes("internal/deps/undici/undici"));
});

test("every part is ASCII, so that its text takes one byte per character in memory", () => {
  assert.ok(PARTS.length > 5);
  const others = PARTS.filter((name) => /[^\0-\u007f]/.test(readFileSync(join(DIST, name), "latin1")));
  assert.deepEqual(others, []);
});

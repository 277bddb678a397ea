/** Makes one style sheet for the page, without the rules of classes that no source names. Runs in Node at build time. */

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

import { transform } from "esbuild";

/** In this order; the first one has every color and size. */
const STYLES = ["tokens.css", "page.css", "more.css", "control.css", "work.css"];
/** Of `classHighlighter`, which no source names one by one. */
const ALWAYS = /^tok-/;

/** The sources of the page, and those of the gateway that make documents for a browser. */
export async function buildStyles(source: string): Promise<string> {
  const sheets = await Promise.all(STYLES.map((name) => readFile(join(source, "styles", name), "utf8")));
  const { code } = await transform(sheets.join("\n"), { loader: "css", minify: true });
  const folders = [source, join(source, "../src/surfaces/admin")];
  const texts = (await Promise.all(folders.map(readSources))).flat();
  const words = new Set(texts.flatMap((text) => text.match(/[\w-]+/g) ?? []));
  return dropUnused(code.trim(), (name) => ALWAYS.test(name) || words.has(name));
}

async function readSources(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => /\.(?:tsx?|html)$/.test(name) && !/\.test\.ts$|build-styles/.test(name));
  return Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
}

/** Keeps at-rules, and selectors whose classes are all used. Expects a style sheet without comments. */
export function dropUnused(css: string, isUsed: (name: string) => boolean): string {
  let kept = "";
  for (let at = 0; at < css.length;) {
    const open = css.indexOf("{", at);
    const end = css.indexOf(";", at);
    if (open < 0 || (end >= 0 && end < open)) {
      const next = end < 0 ? css.length : end + 1;
      kept += css.slice(at, next);
      at = next;
      continue;
    }
    const close = findClose(css, open);
    const [prelude, body] = [css.slice(at, open), css.slice(open + 1, close)];
    kept += keepRule(prelude, body, isUsed);
    at = close + 1;
  }
  return kept;
}

function keepRule(prelude: string, body: string, isUsed: (name: string) => boolean): string {
  if (/^@(?:media|supports|layer|container)/.test(prelude)) {
    const inner = dropUnused(body, isUsed);
    return inner === "" ? "" : `${prelude}{${inner}}`;
  }
  if (prelude.startsWith("@")) return `${prelude}{${body}}`;
  const selectors = splitSelectors(prelude).filter((selector) =>
    [...selector.matchAll(/\.(-?[A-Za-z_][\w-]*)/g)].every(([, name = ""]) => isUsed(name)),
  );
  return selectors.length === 0 ? "" : `${selectors.join(",")}{${body}}`;
}

function findClose(css: string, open: number): number {
  let depth = 0;
  for (let at = open; at < css.length; at += 1) {
    if (css[at] === "{") depth += 1;
    if (css[at] === "}") depth -= 1;
    if (depth === 0) return at;
  }
  throw new TypeError("A rule of the style sheet is not closed");
}

/** Not at commas inside of parentheses. */
function splitSelectors(prelude: string): readonly string[] {
  const parts = [""];
  let depth = 0;
  for (const char of prelude) {
    if (char === "(") depth += 1;
    if (char === ")") depth -= 1;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts;
}

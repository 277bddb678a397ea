/** How much of the admin page a browser loads, compressed: for the first view, in all, and for the editor alone. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";

import { buildWeb } from "../../web/build-web.ts";

const FIRST_VIEW_BYTES = 40_000;
const ALL_BYTES = 250_000;

const folder = mkdtempSync(join(tmpdir(), "glovebox-page-"));
after(() => rmSync(folder, { recursive: true }));

const sizeOf = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);

/** The scripts that this one loads at once, and those after them. */
function findLoaded(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(folder, name), "utf8");
  for (const [, target = ""] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) findLoaded(target, found);
  return found;
}

/** The scripts that it loads on demand. */
function findLazy(name: string): readonly string[] {
  const text = readFileSync(join(folder, name), "utf8");
  return [...text.matchAll(/import\(\s*"\.\/([\w.-]+\.js)"\s*\)/g)].map(([, target = ""]) => target);
}

test("the admin page stays within its budgets, and the editor is loaded alone", async () => {
  await buildWeb(folder);
  const files = readdirSync(folder).filter((name) => /\.(?:js|css|html)$/.test(name));
  const scripts = files.filter((name) => name.endsWith(".js"));
  const isEditor = (name: string): boolean => readFileSync(join(folder, name), "utf8").includes("cm-activeLine");
  const editors = scripts.filter(isEditor);
  assert.ok(editors.length > 0, "CodeMirror is found by a class of its own");

  const first = findLoaded("main.js");
  const queue = scripts.find((name) => readFileSync(join(folder, name), "utf8").includes("Nothing waits for you"));
  assert.ok(queue !== undefined);
  findLoaded(queue, first);
  const view = sizeOf([...first, "theme.js", "index.html", "style.css"]);
  assert.ok(view <= FIRST_VIEW_BYTES, `The first view has ${view} bytes`);
  assert.deepEqual([...first].filter(isEditor), []);

  const others = files.filter((name) => !isEditor(name));
  const all = sizeOf(others);
  assert.ok(all <= ALL_BYTES, `Without the editor, all has ${all} bytes`);

  // Only what opens the editor loads it.
  const opens = scripts.filter((name) => findLazy(name).some((lazy) => [...findLoaded(lazy)].some(isEditor)));
  const pages = scripts.filter((name) => name.startsWith("page-") && opens.includes(name));
  assert.ok(pages.length <= 2, `These load the editor: ${pages.join(", ")}`);
  console.log(`first view ${view} bytes, all ${all} bytes, editor ${sizeOf(editors)} bytes`);
});

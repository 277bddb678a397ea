/** Holds the import table of `rooms.ts`: who may import whom, through which door, and which packages enter where. */

import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize, relative, sep } from "node:path";
import { test } from "node:test";

import { parseSync } from "oxc-parser";

import { GATES, ROOMS } from "./rooms.ts";

interface Import {
  readonly file: string;
  readonly room: string;
  readonly target: string;
}

const roomOf = (file: string): string => file.split(sep)[0] ?? "";

/** Every source file but the tests, what only tests use, and the composition root, which may import anything. */
function listFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) =>
      /(?<!\.test|\.conformance)\.ts$/.test(file) && !file.split(sep).includes("fixtures") && file.includes(sep),
  );
}

function listImports(root: string): Import[] {
  return listFiles(root).flatMap((file) => {
    const { module } = parseSync(file, readFileSync(join(root, file), "utf8"));
    const requests = [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
      ),
      ...module.dynamicImports.map(({ moduleRequest }) => readLiteral(root, file, moduleRequest)),
    ];
    return requests.map((target) => ({ file, room: roomOf(file), target }));
  });
}

/** The text between the quotes of `import("…")`; a computed target is shown as it stands. */
function readLiteral(root: string, file: string, { start, end }: { start: number; end: number }): string {
  return readFileSync(join(root, file), "utf8")
    .slice(start, end)
    .replace(/^["'`]|["'`]$/g, "");
}

/** Imports that the table does not allow, or that do not go through a front door. */
function findTrespasses(root: string): string[] {
  return listImports(root)
    .filter(({ target }) => target.startsWith("."))
    .map((found) => ({ ...found, to: normalize(join(dirname(found.file), found.target)) }))
    .filter(({ room, to }) => roomOf(to) !== room)
    .filter(({ room, to }) => !ROOMS[room]?.imports.includes(roomOf(to)) || relative(roomOf(to), to) !== "index.ts")
    .map(({ file, to }) => `${file} -> ${to}`);
}

function findUngated(root: string): string[] {
  return listImports(root)
    .filter(({ file, room, target }) =>
      GATES.some(({ match, rooms }) => match.test(target) && !rooms.includes(room) && !rooms.includes(file)),
    )
    .map(({ file, target }) => `${file} -> ${target}`);
}

test("every folder of src is a room, and every room has a front door", () => {
  const folders = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(folders.map(({ name }) => name).toSorted(), Object.keys(ROOMS).toSorted());
  assert.deepEqual(
    folders.filter(({ name }) => !readdirSync(join("src", name)).includes("index.ts")).map(({ name }) => name),
    [],
  );
});

test("a room imports only the rooms it may, and only through their front door", () => {
  assert.deepEqual(findTrespasses("src"), []);
});

test("a gated package enters through its own rooms", () => {
  assert.deepEqual(findUngated("src"), []);
});

test("the domain imports nothing, and the sandbox only domain, timing and text", () => {
  const outside = listImports("src").filter(({ room, target }) => room === "domain" && !target.startsWith("./"));
  assert.deepEqual(outside, []);
  assert.deepEqual(ROOMS["sandbox"]?.imports, ["domain", "timing", "text"]);
});

test("no file switches a rule off", () => {
  const files = ["src", "guest", "web"].flatMap((root) => listFiles(root).map((file) => join(root, file)));
  assert.deepEqual(
    files.filter((file) => /(es|ox)lint-disable/.test(readFileSync(file, "utf8"))),
    [],
  );
});

test("the room table has no cycle", () => {
  const done = new Set<string>();
  const visit = (room: string, path: readonly string[]): void => {
    assert.ok(!path.includes(room), `cycle: ${[...path, room].join(" -> ")}`);
    if (done.has(room)) return;
    for (const next of ROOMS[room]?.imports ?? []) visit(next, [...path, room]);
    done.add(room);
  };
  for (const room of Object.keys(ROOMS)) visit(room, []);
});

test("planted trespasses are found, and only those", (context) => {
  const root = mkdtempSync(join(tmpdir(), "rooms-"));
  context.after(() => rmSync(root, { recursive: true }));
  const plant = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  plant(
    "sandbox/a.ts",
    'import type { Vault } from "../vault/index.ts";\nimport "node:net";\nimport { x } from "./b.ts";',
  );
  plant("bridge/a.ts", 'import { decide } from "../policy/decide.ts";\nexport { decide2 } from "../policy/index.ts";');
  plant(
    "typegen/a.ts",
    'const later = await import("../store/index.ts");\nimport type { Tool } from "../domain/index.ts";',
  );
  assert.deepEqual(findTrespasses(root).toSorted(), [
    "bridge/a.ts -> policy/decide.ts",
    "sandbox/a.ts -> vault/index.ts",
    "typegen/a.ts -> store/index.ts",
  ]);
  assert.deepEqual(findUngated(root), ["sandbox/a.ts -> node:net"]);
});

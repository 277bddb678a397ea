/** Holds the import table of `rooms.ts`: who may import whom, through which door, and which packages enter where. */

import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, normalize, relative, sep } from "node:path";
import { test } from "node:test";

import { parseSync } from "oxc-parser";

import { GATES, ROOMS, SUB_ROOMS } from "./rooms.ts";

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

/** Imports from a sub-room that leave it for anything but an interface file of a parent, or another room's door. */
function findInnerTrespasses(root: string, subRooms: typeof SUB_ROOMS): string[] {
  return listImports(root)
    .filter(({ target }) => target.startsWith("."))
    .map((found) => ({ ...found, to: normalize(join(dirname(found.file), found.target)) }))
    .filter(({ room, to }) => roomOf(to) === room)
    .filter(({ file, to }) => !mayImportInside(file, to, subRooms))
    .map(({ file, to }) => `${file} -> ${to}`);
}

/** Downwards anything but from an interface file; upwards the interface only; sideways nothing. */
function mayImportInside(file: string, to: string, subRooms: typeof SUB_ROOMS): boolean {
  const [from, target] = [dirname(file), dirname(to)];
  if (from === target) return true;
  const isInterface = subRooms[from]?.interface.includes(basename(file)) ?? false;
  if (target.startsWith(from + sep)) return !isInterface;
  return from.startsWith(target + sep) && (subRooms[target]?.interface.includes(basename(to)) ?? false);
}

function countExports(file: string): number {
  const { module } = parseSync(file, readFileSync(file, "utf8"));
  return module.staticExports.flatMap(({ entries }) => entries).length;
}

/** The folders of a room's tree that hold sources, without fixtures. */
function listFolders(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "fixtures")
    .flatMap(({ name }) => [join(folder, name), ...listFolders(root, join(folder, name))]);
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

test("the composition root is four files with at most 600 lines in total", () => {
  const root = readdirSync("src", { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map(({ name }) => name);
  assert.deepEqual(root.toSorted(), ["host-powers.ts", "main.ts", "open-gateway.ts", "open-records.ts"]);
  const lines = root.map((file) => readFileSync(join("src", file), "utf8").split("\n").length - 1);
  const total = lines.reduce((sum, count) => sum + count, 0);
  assert.ok(total <= 600, `The composition root has ${total} lines: move logic into a room`);
});

test("a room imports only the rooms it may, and only through their front door", () => {
  assert.deepEqual(findTrespasses("src"), []);
});

test("every folder inside a room is a sub-room of the table", () => {
  const onDisk = Object.keys(ROOMS).flatMap((room) => listFolders("src", room));
  const inTable = Object.entries(SUB_ROOMS).flatMap(([parent, { folders }]) =>
    folders.map((name) => join(parent, name)),
  );
  assert.deepEqual(onDisk.toSorted(), inTable.toSorted());
});

test("a sub-room imports its parents' interface files and no sibling", () => {
  assert.deepEqual(findInnerTrespasses("src", SUB_ROOMS), []);
});

test("planted imports between sub-rooms are found, and only those", (context) => {
  const root = mkdtempSync(join(tmpdir(), "sub-rooms-"));
  context.after(() => rmSync(root, { recursive: true }));
  const plant = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  plant("policy/shared.ts", 'import "./rules/a.ts";');
  plant("policy/index.ts", 'import "./rules/a.ts";\nimport "./shared.ts";');
  plant(
    "policy/rules/a.ts",
    'import "../shared.ts";\nimport "../quotas/b.ts";\nimport "../index.ts";\nimport "./c.ts";',
  );
  const table = { policy: { folders: ["rules", "quotas"], interface: ["shared.ts"] } };
  assert.deepEqual(findInnerTrespasses(root, table).toSorted(), [
    "policy/rules/a.ts -> policy/index.ts",
    "policy/rules/a.ts -> policy/quotas/b.ts",
    "policy/shared.ts -> policy/rules/a.ts",
  ]);
});

test("a room's door exports at most 20 names, that of domain at most 100", () => {
  const wide = Object.keys(ROOMS)
    .map((room) => ({ room, names: countExports(join("src", room, "index.ts")) }))
    .filter(({ room, names }) => names > (room === "domain" ? 100 : 20));
  assert.deepEqual(wide, []);
});

test("a type name has one declaration in src", () => {
  const declared = new Map<string, string[]>();
  for (const file of listFiles("src")) {
    const names = readFileSync(join("src", file), "utf8").matchAll(/^(?:export )?(?:interface|type|class) (\w+)/gm);
    for (const [, name = ""] of names) declared.set(name, [...(declared.get(name) ?? []), file]);
  }
  assert.deepEqual(
    [...declared].filter(([, files]) => files.length > 1),
    [],
  );
});

test("a gated package enters through its own rooms", () => {
  assert.deepEqual(findUngated("src"), []);
});

test("the domain imports nothing, and the sandbox only domain, timing, text and processes", () => {
  const outside = listImports("src").filter(({ room, target }) => room === "domain" && !target.startsWith("./"));
  assert.deepEqual(outside, []);
  assert.deepEqual(ROOMS["sandbox"]?.imports, ["domain", "timing", "text", "processes"]);
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

/** Reading real files of every kind, and every way in which reading fails. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { loadSettings } from "./index.ts";

const MAX_BYTES = 1024 * 1024;

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-load-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function plant(t: TestContext, name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await folderFor(t), name);
  await writeFile(path, content);
  return path;
}

/** The error message after the file's path. */
async function refusal(path: string): Promise<string> {
  const error: unknown = await loadSettings(path, {}).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof Error && "code" in error && error.code === "CONFIG_INVALID", String(error));
  assert.ok(error.message.startsWith(path), error.message);
  return error.message.slice(path.length);
}

test("loadSettings reads JSON and JSONC with comments, with paths relative to the file", async (t) => {
  for (const name of ["glovebox.config.json", "other.jsonc"]) {
    const path = await plant(
      t,
      name,
      '\ufeff{ // comment\n "server": { "port": 1, }, "mcpServers": { "a": { "command": "${C}" } } }',
    );
    const settings = await loadSettings(path, { C: "run" }, { stateFolder: "/state/glovebox" });
    const folder = path.slice(0, -name.length - 1);
    assert.deepEqual([settings.source, settings.folder], [{ kind: "file", path }, folder]);
    assert.deepEqual([settings.server.host, settings.server.port], ["127.0.0.1", 1]);
    const digits = createHash("sha256").update(path).digest("hex").slice(0, 12);
    assert.equal(settings.store.path, `/state/glovebox/${basename(folder)}-${digits}/glovebox.db`);
    assert.equal(settings.store.former, join(folder, ".glovebox/glovebox.db"));
    assert.deepEqual(
      [...settings.upstreams.values()],
      [{ transport: "stdio", command: "run", args: [], env: {}, cwd: folder, startMs: 30_000, start: "eager" }],
    );
  }
});

test("loadSettings runs a TypeScript file and checks its default export", async (t) => {
  const front = new URL("./index.ts", import.meta.url).href;
  const source = `import { defineConfig } from ${JSON.stringify(front)};\nconst port: number = 5;\nexport default defineConfig({ server: { port } });`;
  const path = await plant(t, "glovebox.config.ts", source);
  assert.equal((await loadSettings(path, {})).server.port, 5);
});

test("loadSettings refuses a TypeScript file without a configuration, with the reason", async (t) => {
  const cases: readonly (readonly [string, string | RegExp])[] = [
    ["export const config = {};", ": has no default export"],
    ["const config = {};", ": has no default export"],
    ["module.exports = {};", ": has no default export"],
    ["throw new Error('not today');", ": cannot be run: Error: not today"],
    ["throw null;", ": cannot be run: it threw a value that is not an Error"],
    ["export default {", /^: cannot be run: SyntaxError: /],
    ["enum A { B }\nexport default {};", /^: cannot be run: SyntaxError: /],
    ["import 'no-such-package';\nexport default {};", /^: cannot be run: Error: Cannot find package/],
    ["export default () => ({});", " (top level): expected a JSON value, found a function"],
    ["export default Promise.resolve({});", " (top level): expected a JSON value, found a Promise"],
    ["export default undefined;", " (top level): expected a JSON value, found nothing"],
    ["export default { server: { prt: 1 } };", ' server.prt: unknown key; did you mean "port"?'],
  ];
  for (const [source, expected] of cases) {
    const message = await refusal(await plant(t, "glovebox.config.ts", source));
    if (typeof expected === "string") assert.equal(message, expected);
    else assert.match(message, expected);
  }
});

test("loadSettings refuses files without an object", async (t) => {
  const cases: readonly (readonly [string | Uint8Array, string])[] = [
    ["", ":1:1 the file is empty"],
    ["[]", ":1:1 (top level): expected an object; found an empty array"],
    ['\n "text"', ':2:2 (top level): expected an object; found "text"'],
    ["null", ":1:1 (top level): expected an object; found null"],
    [new Uint8Array([0xff, 0xfe, 0x7b, 0]), ": is not valid UTF-8"],
    ['{ "a" 1 }', ":1:7 is not valid JSON: colon expected"],
  ];
  for (const [content, expected] of cases) assert.equal(await refusal(await plant(t, "c.json", content)), expected);
});

function padded(bytes: number): string {
  return "{}".padEnd(bytes, " ");
}

function tooLarge(bytes: number): string {
  return `: has ${bytes} bytes, more than the 1048576 that a configuration may have`;
}

test("loadSettings accepts a file of one mebibyte and refuses one more byte", async (t) => {
  for (const bytes of [MAX_BYTES - 1, MAX_BYTES]) {
    const settings = await loadSettings(await plant(t, "c.json", padded(bytes)), {});
    assert.equal(settings.server.port, 4747);
  }
  assert.equal(await refusal(await plant(t, "c.json", padded(MAX_BYTES + 1))), tooLarge(MAX_BYTES + 1));
  assert.equal(await refusal(await plant(t, "c.ts", padded(10_000_000))), tooLarge(10_000_000));
});

test("loadSettings refuses unreadable files with the reason", async (t) => {
  const folder = await folderFor(t);
  await mkdir(join(folder, "folder.json"));
  await symlink("loop.json", join(folder, "loop.json"));
  await symlink("/nonexistent", join(folder, "dangling.json"));
  assert.equal(await refusal(join(folder, "folder.json")), ": is a folder");
  assert.equal(await refusal(join(folder, "loop.json")), ": cannot be read (ELOOP)");
  assert.equal(await refusal(join(folder, "dangling.json")), ": cannot be read (ENOENT)");
  assert.equal(await refusal(join(folder, "c.yaml")), ': has the unsupported extension ".yaml"');
  assert.equal(await refusal(join(folder, "c")), ': has the unsupported extension ""');
  await symlink("/dev/null", join(folder, "device.json"));
  assert.equal(await refusal(join(folder, "device.json")), ": is not a regular file");
});

test("loadSettings refuses a file without read permission", { skip: process.getuid?.() === 0 }, async (t) => {
  const path = await plant(t, "c.json", "{}");
  await chmod(path, 0o000);
  assert.equal(await refusal(path), ": cannot be read (EACCES)");
});

test("loadSettings throws a TypeError for a relative path", async () => {
  await assert.rejects(loadSettings("c.json", {}), TypeError);
});

/** Which file is used: the given one, the nearest upward, the user's, or none. */

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { findConfig } from "../index.ts";

interface Tree {
  readonly root: string;
  readonly cwd: string;
  readonly userConfigFolder: string;
}

async function plant(t: TestContext, ...files: readonly string[]): Promise<Tree> {
  const root = await mkdtemp(join(tmpdir(), "glovebox-find-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, "a/b/c"), { recursive: true });
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), "{}");
  }
  return { root, cwd: join(root, "a/b/c"), userConfigFolder: join(root, "user") };
}

test("findConfig finds each of the three file names upward, nearest first", async (t) => {
  for (const name of ["glovebox.config.json", "glovebox.config.jsonc", "glovebox.config.ts"]) {
    const tree = await plant(t, `a/${name}`, `a/b/${name}`, `user/${name}`);
    assert.equal(await findConfig(tree), join(tree.root, "a/b", name));
  }
});

test("findConfig searches the working directory first", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.ts", "a/b/glovebox.config.json");
  assert.equal(await findConfig(tree), join(tree.cwd, "glovebox.config.ts"));
});

test("findConfig searches the user's folder last, and returns undefined without a file", async (t) => {
  const tree = await plant(t, "user/glovebox.config.jsonc");
  assert.equal(await findConfig(tree), join(tree.root, "user/glovebox.config.jsonc"));
  assert.equal(await findConfig({ ...tree, userConfigFolder: join(tree.root, "nowhere") }), undefined);
});

test("findConfig refuses two files in one folder, but not in two folders", async (t) => {
  const tree = await plant(t, "a/glovebox.config.json", "a/glovebox.config.ts");
  const [json, ts] = [join(tree.root, "a/glovebox.config.json"), join(tree.root, "a/glovebox.config.ts")];
  const message = `${json} and ${ts} both exist, but only one of them can be used`;
  await assert.rejects(findConfig(tree), { code: "CONFIG_INVALID", message });
  const apart = await plant(t, "a/glovebox.config.json", "a/b/glovebox.config.ts");
  assert.equal(await findConfig(apart), join(apart.root, "a/b/glovebox.config.ts"));
});

test("findConfig uses an explicit file, relative to the working directory", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.json", "a/other.json");
  assert.equal(await findConfig({ ...tree, explicit: "../../other.json" }), join(tree.root, "a/other.json"));
  assert.equal(
    await findConfig({ ...tree, explicit: join(tree.root, "a/other.json") }),
    join(tree.root, "a/other.json"),
  );
});

test("findConfig refuses an explicit file that does not exist", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.json");
  const message = `${join(tree.cwd, "typo.json")}: file not found`;
  await assert.rejects(findConfig({ ...tree, explicit: "typo.json" }), { code: "CONFIG_INVALID", message });
  const long = "x".repeat(5000);
  await assert.rejects(findConfig({ ...tree, explicit: long }), /cannot be accessed \(ENAMETOOLONG\)/);
});

test("findConfig finds a broken link, so that it is not ignored", async (t) => {
  const tree = await plant(t, "user/glovebox.config.json");
  await symlink("/nonexistent/file.json", join(tree.cwd, "glovebox.config.json"));
  assert.equal(await findConfig(tree), join(tree.cwd, "glovebox.config.json"));
});

test("findConfig throws a TypeError for relative folders", async () => {
  await assert.rejects(findConfig({ cwd: ".", userConfigFolder: "/" }), TypeError);
  await assert.rejects(findConfig({ cwd: "/", userConfigFolder: "x" }), TypeError);
});

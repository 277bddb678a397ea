/** Which file applies: named, nearest upward, the user's own, or none. */

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

test("each of the three names is found, upward and nearest first", async (t) => {
  for (const name of ["glovebox.config.json", "glovebox.config.jsonc", "glovebox.config.ts"]) {
    const tree = await plant(t, `a/${name}`, `a/b/${name}`, `user/${name}`);
    assert.equal(await findConfig(tree), join(tree.root, "a/b", name));
  }
});

test("the working directory itself comes first", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.ts", "a/b/glovebox.config.json");
  assert.equal(await findConfig(tree), join(tree.cwd, "glovebox.config.ts"));
});

test("the user's folder comes last, and without any file there is none", async (t) => {
  const tree = await plant(t, "user/glovebox.config.jsonc");
  assert.equal(await findConfig(tree), join(tree.root, "user/glovebox.config.jsonc"));
  assert.equal(await findConfig({ ...tree, userConfigFolder: join(tree.root, "nowhere") }), undefined);
});

test("two files in one folder are refused by name, in two folders they are not", async (t) => {
  const tree = await plant(t, "a/glovebox.config.json", "a/glovebox.config.ts");
  const [json, ts] = [join(tree.root, "a/glovebox.config.json"), join(tree.root, "a/glovebox.config.ts")];
  const message = `${json} and ${ts} are both there, and only one of them can apply`;
  await assert.rejects(findConfig(tree), { code: "CONFIG_INVALID", message });
  const apart = await plant(t, "a/glovebox.config.json", "a/b/glovebox.config.ts");
  assert.equal(await findConfig(apart), join(apart.root, "a/b/glovebox.config.ts"));
});

test("a named file is taken whatever else is there, relative to the working directory", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.json", "a/other.json");
  assert.equal(await findConfig({ ...tree, explicit: "../../other.json" }), join(tree.root, "a/other.json"));
  assert.equal(
    await findConfig({ ...tree, explicit: join(tree.root, "a/other.json") }),
    join(tree.root, "a/other.json"),
  );
});

test("a named file that is not there is an error, never passed over", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.json");
  const message = `${join(tree.cwd, "typo.json")}: there is no such file`;
  await assert.rejects(findConfig({ ...tree, explicit: "typo.json" }), { code: "CONFIG_INVALID", message });
  const long = "x".repeat(5000);
  await assert.rejects(findConfig({ ...tree, explicit: long }), /cannot be looked at \(ENAMETOOLONG\)/);
});

test("a link that leads nowhere is found, so that it is not passed over in silence", async (t) => {
  const tree = await plant(t, "user/glovebox.config.json");
  await symlink("/nonexistent/file.json", join(tree.cwd, "glovebox.config.json"));
  assert.equal(await findConfig(tree), join(tree.cwd, "glovebox.config.json"));
});

test("relative folders are a mistake of the program", async () => {
  await assert.rejects(findConfig({ cwd: ".", userConfigFolder: "/" }), TypeError);
  await assert.rejects(findConfig({ cwd: "/", userConfigFolder: "x" }), TypeError);
});

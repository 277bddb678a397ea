/** Which file is used: the given one, the nearest upward, the user's, or none; and which is refused. */

import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { findConfig, getConfigToTrust, listUpward } from "./find-config.ts";
import type { ConfigSearch } from "./find-config.ts";

interface Tree extends ConfigSearch {
  readonly root: string;
}

const UID = process.getuid?.();
const isRoot = UID === 0;
/** A user and a group that this process does not have. */
const STRANGER = 54_321;

/** The file that a search finds. */
async function find(search: ConfigSearch): Promise<string | undefined> {
  return (await findConfig(search))?.path;
}

async function plant(t: TestContext, ...files: readonly string[]): Promise<Tree> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "glovebox-find-")));
  t.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, "a/b/c"), { recursive: true });
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), "{}");
  }
  return { root, cwd: join(root, "a/b/c"), home: root, userConfigFolder: join(root, "user"), uid: UID };
}

test("findConfig finds each of the three file names upward, nearest first", async (t) => {
  for (const name of ["glovebox.config.json", "glovebox.config.jsonc", "glovebox.config.ts"]) {
    const tree = await plant(t, `a/${name}`, `a/b/${name}`, `user/${name}`);
    assert.equal(await find(tree), join(tree.root, "a/b", name));
  }
});

test("findConfig searches the working directory first", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.ts", "a/b/glovebox.config.json");
  assert.equal(await find(tree), join(tree.cwd, "glovebox.config.ts"));
});

test("findConfig searches the user's folder last, and returns undefined without a file", async (t) => {
  const tree = await plant(t, "user/glovebox.config.jsonc");
  assert.equal(await find(tree), join(tree.root, "user/glovebox.config.jsonc"));
  assert.equal(await find({ ...tree, userConfigFolder: join(tree.root, "nowhere") }), undefined);
});

test("findConfig refuses two files in one folder, but not in two folders", async (t) => {
  const tree = await plant(t, "a/glovebox.config.json", "a/glovebox.config.ts");
  const [json, ts] = [join(tree.root, "a/glovebox.config.json"), join(tree.root, "a/glovebox.config.ts")];
  const message = `${json} and ${ts} both exist, but only one of them can be used`;
  await assert.rejects(findConfig(tree), { code: "CONFIG_INVALID", message });
  const apart = await plant(t, "a/glovebox.config.json", "a/b/glovebox.config.ts");
  assert.equal(await find(apart), join(apart.root, "a/b/glovebox.config.ts"));
});

test("findConfig uses an explicit file, relative to the working directory", async (t) => {
  const tree = await plant(t, "a/b/c/glovebox.config.json", "a/other.json");
  assert.equal(await find({ ...tree, explicit: "../../other.json" }), join(tree.root, "a/other.json"));
  assert.equal(await find({ ...tree, explicit: join(tree.root, "a/other.json") }), join(tree.root, "a/other.json"));
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
  assert.equal(await find(tree), join(tree.cwd, "glovebox.config.json"));
});

test("findConfig throws a TypeError for relative folders", async () => {
  const search = { cwd: "/", home: "/", userConfigFolder: "/", uid: UID };
  await assert.rejects(findConfig({ ...search, cwd: "." }), TypeError);
  await assert.rejects(findConfig({ ...search, home: "" }), TypeError);
  await assert.rejects(findConfig({ ...search, userConfigFolder: "x" }), TypeError);
});

test("findConfig says whether a file was named, found in a project or is in the user's folder", async (t) => {
  const tree = await plant(t, "a/glovebox.config.json", "user/glovebox.config.json");
  assert.equal((await findConfig({ ...tree, explicit: "../../glovebox.config.json" }))?.from, "argument");
  assert.equal((await findConfig(tree))?.from, "project");
  assert.equal((await findConfig({ ...tree, cwd: tree.userConfigFolder }))?.from, "user");
  await rm(join(tree.root, "a/glovebox.config.json"));
  assert.equal((await findConfig(tree))?.from, "user");
});

test("findConfig searches the home folder and nothing above it", async (t) => {
  const tree = await plant(t, "a/glovebox.config.json");
  assert.equal(await find({ ...tree, home: join(tree.root, "a") }), join(tree.root, "a/glovebox.config.json"));
  assert.equal(await find({ ...tree, home: join(tree.root, "a/b") }), undefined);
  await symlink(join(tree.root, "a/b"), join(tree.root, "link"));
  assert.equal(await find({ ...tree, home: join(tree.root, "link") }), undefined);
});

test("the search ends where another file system begins", async () => {
  const upward = (border: string) =>
    listUpward("/m/a/b", "/home", async (folder) => (folder.startsWith(border) ? 2 : 1));
  assert.deepEqual(await upward("/none"), ["/m/a/b", "/m/a", "/m", "/"]);
  assert.deepEqual(await upward("/m"), ["/m/a/b", "/m/a", "/m"]);
  assert.deepEqual(await upward("/m/a/b"), ["/m/a/b"]);
});

test("findConfig refuses a file of another user, and uses it when it is named", async (t) => {
  const tree = await plant(t, "a/b/glovebox.config.json");
  const path = join(tree.root, "a/b/glovebox.config.json");
  if (isRoot) await chown(path, STRANGER, 0);
  const search = { ...tree, uid: isRoot ? UID : STRANGER };
  await assert.rejects(findConfig(search), {
    code: "CONFIG_UNTRUSTED",
    message: /config\.json belongs to another user/,
  });
  await assert.rejects(getConfigToTrust({ ...search, explicit: path }), { code: "CONFIG_UNTRUSTED" });
  assert.equal(await find({ ...search, explicit: path }), path);
  assert.equal(await find({ ...search, uid: isRoot ? STRANGER : UID }), path);
});

test("findConfig refuses a file in a folder of another user", { skip: !isRoot && "needs root" }, async (t) => {
  const tree = await plant(t, "a/b/glovebox.config.json");
  await chown(join(tree.root, "a/b"), STRANGER, 0);
  await assert.rejects(findConfig(tree), { code: "CONFIG_UNTRUSTED", message: /a\/b belongs to another user/ });
});

test("findConfig refuses a file that others can write, and one in a folder that others can write", async (t) => {
  const tree = await plant(t, "a/b/glovebox.config.json");
  const folder = join(tree.root, "a/b");
  const path = join(folder, "glovebox.config.json");
  for (const [target, mode, isAllowed] of [
    [path, 0o646, false],
    [path, 0o644, true],
    [folder, 0o757, false],
    [folder, 0o1777, true],
    [folder, 0o755, true],
  ] as const) {
    await chmod(target, mode);
    const message = `${target} can be written by other users (mode ${mode.toString(8).padStart(4, "0")})`;
    if (isAllowed) assert.equal(await find(tree), path);
    else await assert.rejects(findConfig(tree), { code: "CONFIG_UNTRUSTED", message });
  }
});

test("findConfig refuses a file that a shared group can write", { skip: !isRoot && "needs root" }, async (t) => {
  const tree = await plant(t, "a/b/glovebox.config.json");
  const path = join(tree.root, "a/b/glovebox.config.json");
  await chmod(path, 0o664);
  assert.equal(await find(tree), path); // a group with the number of its user
  await chown(path, 0, STRANGER);
  await assert.rejects(findConfig(tree), { code: "CONFIG_UNTRUSTED", message: /can be written by other users/ });
  await chmod(path, 0o644);
  assert.equal(await find(tree), path);
});

test("findConfig refuses a link to a file that others can write", async (t) => {
  const tree = await plant(t, "elsewhere/shared.json");
  const shared = join(tree.root, "elsewhere/shared.json");
  await symlink(shared, join(tree.cwd, "glovebox.config.json"));
  assert.equal(await find(tree), join(tree.cwd, "glovebox.config.json"));
  await chmod(shared, 0o666);
  await assert.rejects(findConfig(tree), { code: "CONFIG_UNTRUSTED", message: /shared\.json can be written/ });
});

test("getConfigToTrust accepts a file, a folder and nothing, and refuses a folder without a file", async (t) => {
  const tree = await plant(t, "a/b/glovebox.config.ts");
  const path = join(tree.root, "a/b/glovebox.config.ts");
  for (const explicit of [path, "..", undefined]) assert.equal(await getConfigToTrust({ ...tree, explicit }), path);
  const message = `${tree.root}: no configuration was found`;
  await assert.rejects(getConfigToTrust({ ...tree, explicit: tree.root }), { code: "CONFIG_INVALID", message });
});

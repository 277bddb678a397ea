/** The tarball, installed by npm in an empty folder as a user would, and run on the versions of Node that people have. */

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";

import { cleanEnvironment, untilEnded, waitForOutput } from "../../fixtures/product.ts";

/** The oldest Node that runs the gateway. Kept between runs of this test, because it is 50 MB. */
const OLDER = { name: `node-${process.platform}-${process.arch}`, version: "22.19.0" };
const CACHE = resolve("node_modules/.cache", `${OLDER.name}-${OLDER.version}`);
const OLDER_NODE = join(CACHE, "node_modules", OLDER.name, "bin/node");

/** As docs/reference/package.md says. */
const MOST_BYTES = 64_000_000;

const LIBRARY = `
import { createGlovebox } from "glovebox";
const glovebox = await createGlovebox({ store: { url: "sqlite::memory:" } });
const { value, engine } = await glovebox.execute({ code: "const six: number = 6; return six * 7" });
console.log(value, engine);
await glovebox.close();
`;

/** Returns what npm printed, or `undefined` if no registry answers. */
function npm(args: readonly string[], cwd: string): string | undefined {
  const { status, stdout, stderr } = spawnSync("npm", [...args, "--no-audit", "--no-fund"], { cwd, encoding: "utf8" });
  if (status !== 0 && /EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(stderr)) return undefined;
  assert.equal(status, 0, stderr);
  // Settings of this machine's user are none of the package.
  return `${stdout}${stderr}`.replace(/^npm warn Unknown (?:user|env|project) config .*\n/gm, "");
}

function installOlderNode(): void {
  if (existsSync(OLDER_NODE)) return;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, "package.json"), "{}");
  npm(["install", "--ignore-scripts", "--no-save", `${OLDER.name}@${OLDER.version}`], CACHE);
}

describe("the installed tarball", () => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-install-"));
  const launcher = join(folder, "node_modules/glovebox/bin/glovebox.js");
  let printed: string | undefined;
  before(() => {
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], { stdio: "pipe" });
    const [tarball = ""] = readdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{ "private": true }');
    printed = npm(["install", join(folder, tarball)], folder);
    writeFileSync(join(folder, "library.mjs"), LIBRARY);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (node: string, script: string, ...args: readonly string[]) =>
    spawnSync(node, [script, ...args], { cwd: folder, env: cleanEnvironment(folder), encoding: "utf8", input: "" });

  test("npm installs three packages without a script or a warning, and no node for the project", (context) => {
    if (printed === undefined) return context.skip("no registry answers");
    assert.match(printed, /^\s*added 3 packages in \S+\s*$/);
    const bins = readdirSync(join(folder, "node_modules/.bin")).filter((name) => /^(?:node|glovebox|npm)/.test(name));
    assert.deepEqual(bins, ["glovebox"]);
    const { packages }: { packages: Record<string, { hasInstallScript?: boolean }> } = JSON.parse(
      readFileSync(join(folder, "package-lock.json"), "utf8"),
    );
    const scripts = Object.entries(packages).filter(([, one]) => one.hasInstallScript);
    assert.deepEqual(scripts, []);
    const bytes = readdirSync(join(folder, "node_modules"), { recursive: true, encoding: "utf8" })
      .map((name) => lstatSync(join(folder, "node_modules", name)))
      .reduce((sum, status) => sum + (status.isFile() ? status.size : 0), 0);
    assert.ok(bytes < MOST_BYTES, `the installation has ${bytes} bytes; docs/reference/package.md says less`);
  });

  test("the installed package runs the demo, and the library runs in V8 where a program asks for it", (context) => {
    if (printed === undefined) return context.skip("no registry answers");
    const demo = run(process.execPath, launcher, "demo", "--json");
    assert.equal(demo.status, 0, demo.stderr);
    const library = run(process.execPath, "library.mjs");
    assert.deepEqual([library.stdout, library.stderr], ["42 quickjs\n", ""]);
    const isolate = run(
      process.execPath,
      launcher,
      "run",
      "--engine",
      "isolate",
      "node_modules/glovebox/examples/demo.ts",
    );
    assert.equal(isolate.status, 0, isolate.stderr);
  });

  test("on Node 22 the demo, the library, the checker and a server run in QuickJS, and V8 is refused with a remedy", async (context) => {
    if (process.platform !== "linux") return context.skip("this Node comes from npm for Linux only");
    if (printed !== undefined) installOlderNode();
    if (!existsSync(OLDER_NODE)) return context.skip("no registry answers");
    const demo = run(OLDER_NODE, launcher, "demo", "--json");
    assert.deepEqual([demo.status, demo.stderr], [0, ""]);
    const { state, engine }: { state: string; engine: string } = JSON.parse(demo.stdout);
    assert.deepEqual([state, engine], ["completed", "quickjs"]);
    const library = run(OLDER_NODE, "library.mjs");
    assert.deepEqual([library.stdout, library.stderr], ["42 quickjs\n", ""]);
    writeFileSync(join(folder, "wrong.ts"), "return await inventory.listProducts({ category: 5 })");
    const wrong = run(OLDER_NODE, launcher, "run", "wrong.ts");
    assert.deepEqual([wrong.status, /PROGRAM_TYPES/.test(wrong.stderr)], [1, true], wrong.stderr);
    const refused = run(OLDER_NODE, launcher, "run", "--engine", "isolate", "wrong.ts");
    assert.equal(refused.status, 1);
    assert.match(
      refused.stderr,
      /cannot run V8 isolates \[SANDBOX_UNAVAILABLE\]\nhint: .*docs\/reference\/package\.md/,
    );
    const options = { cwd: folder, env: cleanEnvironment(folder) };
    const served = spawn(OLDER_NODE, [launcher, "serve", "--json", "--port", "0"], options);
    context.after(() => served.kill("SIGKILL"));
    const { url, engine: served22 }: { url: string; engine: string } = JSON.parse(await waitForOutput(served, /\}\n$/));
    const health = await fetch(new URL("/health", url));
    assert.deepEqual([served22, health.status], ["quickjs", 200]);
    served.kill("SIGTERM");
    await untilEnded(served);
  });
});

/**
 * The claimed isolation level is the real one: it is refused if a layer is missing, and it is the same for an
 * unprivileged user.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { confineEngine } from "../../src/sandbox/index.ts";
import { ENGINES, createEngine } from "../../src/sandbox/fixtures/engines.ts";
import { findBubblewrap, findNative } from "../../src/processes/index.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import { UNCONFINED, known, openEscapeSandbox } from "./fixtures/escape-sandbox.ts";
import { buildProbe } from "./fixtures/probe.ts";

const run = promisify(execFile);
/** Inclusive. */
const MOST_THREADS = 64;
const CLAIM = fileURLToPath(new URL("fixtures/print-isolation.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const UNPRIVILEGED = ["--reuid=65534", "--regid=65534", "--clear-groups"];

describe("the isolation level that a sandbox reports", { skip: UNCONFINED }, () => {
  for (const [wanted, reached] of [
    ["auto", "strict"],
    ["strict", "strict"],
    ["process", "process"],
  ] as const) {
    test(`isolation "${wanted}" reaches "${reached}" on a machine with every tool`, async () => {
      const { isolation, layers } = await confineEngine(createEngine("isolate"), wanted);
      assert.deepEqual(
        [isolation, layers.map(({ present }) => present)],
        [reached, Array(5).fill(reached === "strict")],
      );
    });
  }

  for (const name of ENGINES) {
    test(`isolation "auto" runs a program on ${name} with every layer`, async () => {
      await using sandbox = await openEscapeSandbox(await confineEngine(createEngine(name), "auto"));
      const { engine, isolation, layers } = sandbox.sandbox;
      const missing = layers.filter(({ present }) => !present).map((layer) => layer.name);
      assert.deepEqual([engine, isolation, missing], [name, "strict", name === "workerd" ? ["sealed"] : []]);
      assert.equal(await sandbox.value("return 1 + 1"), 2);
    });
  }

  test('isolation "process" reports which layers are off and how to switch them on', async () => {
    await using sandbox = await openEscapeSandbox("process");
    const hints = sandbox.sandbox.layers.map(({ name, hint }) => [name, hint]);
    const names = ["namespaces", "landlock", "seccomp", "sealed", "rlimits"];
    assert.deepEqual(
      hints,
      names.map((name) => [name, 'Set it to "auto"']),
    );
  });

  test('isolation "strict" is reached without bubblewrap by the launcher alone', async () => {
    assert.deepEqual(await claimWithout("bwrap"), { strict: { code: "strict", hint: "" }, auto: "strict" });
  });

  test('isolation "strict" is refused with a remedy if the launcher cannot be executed, and "auto" reports "process"', async () => {
    const claims = await claimWithout("launcher");
    assert.equal(claims.strict.code, "SANDBOX_UNAVAILABLE");
    assert.match(claims.strict.hint, /where programs may be executed/);
    assert.equal(claims.auto, "process");
  });

  test('isolation "strict" is reached by a gateway that is the first process of a container', async () => {
    const first = ["--unshare-pid", "--as-pid-1", "--proc", "/proc"];
    assert.deepEqual(await claimWithout(undefined, first), { strict: { code: "strict", hint: "" }, auto: "strict" });
    assert.deepEqual(await claimWithout("bwrap", first), { strict: { code: "strict", hint: "" }, auto: "strict" });
  });

  test('isolation "strict" and "auto" report every layer when no tool is hidden', async () => {
    assert.deepEqual(await claimWithout(undefined), { strict: { code: "strict", hint: "" }, auto: "strict" });
  });

  for (const name of ENGINES) {
    // Without namespaces, workerd can still ask whether a file or a process exists.
    const level = name === "workerd" ? "confined" : "strict";
    test(`isolation "auto" runs a program on ${name} with the launcher alone, and reports "${level}"`, async () => {
      const engine = await confineEngine(createEngine(name), "auto", { bubblewrap: undefined });
      await using sandbox = await openEscapeSandbox(engine);
      const { isolation, layers } = sandbox.sandbox;
      assert.equal(isolation, level);
      assert.deepEqual(
        layers.filter(({ present }) => !present).map((layer) => layer.name),
        name === "workerd" ? ["namespaces", "sealed"] : ["namespaces"],
      );
      assert.equal(await sandbox.value("return 1 + 1"), 2);
    });
  }

  test('isolation "strict" is refused without bubblewrap and Landlock, and "auto" reports "confined"', async () => {
    const means = { bubblewrap: undefined, landlock: 0 };
    const engine = await confineEngine(createEngine("quickjs"), "auto", means);
    assert.equal(engine.isolation, "confined");
    await assert.rejects(confineEngine(createEngine("quickjs"), "strict", means), { code: "SANDBOX_UNAVAILABLE" });
    await using sandbox = await openEscapeSandbox(engine);
    assert.equal(await sandbox.value("return 1 + 1"), 2);
  });

  test('isolation "strict" is refused for workerd without bubblewrap, and names what a native program reaches', async () => {
    const means = { bubblewrap: undefined };
    await assert.rejects(confineEngine(createEngine("workerd"), "strict", means), { code: "SANDBOX_UNAVAILABLE" });
    const { layers } = await confineEngine(createEngine("workerd"), "auto", means);
    assert.match(
      layers.find(({ name }) => name === "seccomp")?.message ?? "",
      /reaches: refer-to-file, file-exists, process-exists$/,
    );
  });
});

interface Claims {
  readonly strict: { readonly code: string; readonly hint: string };
  readonly auto: string;
}

/** In a separate mount namespace, with the null device over the program, so that it cannot be executed. */
async function claimWithout(
  name: "bwrap" | "launcher" | undefined,
  namespaces: readonly string[] = [],
): Promise<Claims> {
  const bubblewrap = known(findBubblewrap());
  const hidden = name === undefined ? [] : ["--bind", "/dev/null", name === "bwrap" ? bubblewrap : launcher()];
  const args = ["--dev-bind", "/", "/", ...namespaces, ...hidden, "--", process.execPath, CLAIM];
  const { stdout } = await run(bubblewrap, args, { env: {} });
  return parseClaims(stdout);
}

function launcher(): string {
  return known(findNative()).launcher;
}

function parseClaims(text: string): Claims {
  return JSON.parse(text) as Claims;
}

const NOT_ROOT = process.getuid?.() === 0 ? false : "these tests already run as one";

describe("an unprivileged user", { skip: UNCONFINED === false ? NOT_ROOT : UNCONFINED }, () => {
  test("an unprivileged user gets the same confinement, and a limit on threads that root does not have", async (context) => {
    const built = buildProbe();
    if (built.kind === "missing") return context.skip(built.why);
    await using canaries = await plantCanaries();
    const folder = packFor(context, built.path);
    const args = [
      join(folder, "test/escape/fixtures/unprivileged-user.ts"),
      join(folder, "probe"),
      String(canaries.port),
      canaries.file,
    ];
    const { stdout } = await run("setpriv", [...UNPRIVILEGED, join(folder, "node"), ...args], { cwd: folder, env: {} });
    const { found, ...rest } = parseFound(stdout);
    assert.deepEqual(rest, { user: 65534, isolation: "strict", value: 2, ended: "LIMIT_TIME" });
    const facts = ["end", "read-passwd", "tcp", "fork", "unshare", "shell"].map((name) => found[name]);
    assert.deepEqual(facts, ["ok", "ENOENT", "EPERM", "EPERM", "EPERM", "ENOENT"]);
    context.diagnostic(`${found["threads"]} threads, ${found["memory"]} MB`);
    assert.equal(Number(found["threads"]) + 1, MOST_THREADS);
    assert.equal(canaries.visits(), 0);
  });
});

interface Found {
  readonly found: Readonly<Record<string, string>>;
  readonly [fact: string]: unknown;
}

function parseFound(text: string): Found {
  return JSON.parse(text) as Found;
}

/** Copies everything that the user needs into a folder that every user can read. */
function packFor(context: TestContext, probe: string): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-user-"));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  chmodSync(folder, 0o755);
  const manifest = createRequire(import.meta.url).resolve("isolated-vm/package.json");
  const gyp = createRequire(manifest).resolve("node-gyp-build/package.json");
  const pieces: readonly (readonly [string, string])[] = [
    ...["package.json", "src", "dist/sandbox", "dist/processes", "test/escape/fixtures"].map(
      (name) => [join(ROOT, name), name] as const,
    ),
    [dirname(manifest), "node_modules/isolated-vm"],
    [dirname(gyp), "node_modules/node-gyp-build"],
    [process.execPath, "node"],
    [probe, "probe"],
  ];
  for (const [from, to] of pieces) cpSync(from, join(folder, to), { recursive: true, dereference: true });
  return folder;
}

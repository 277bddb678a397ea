/** The engine as the pool sees it: its command, its files in a confined root, and its absence. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { test } from "node:test";

import { GloveboxError } from "../../../domain/index.ts";
import { confineEngine } from "../../confinement/confine-engine.ts";
import { openTestSandbox } from "../../fixtures/test-sandbox.ts";
import { WORKERD_VERSION, createWorkerdEngine } from "./workerd-engine.ts";

/** What could be the name of a module, in the engine's executable. */
const MODULE_NAME = /\b(?:node|cloudflare|workerd|pyodide|[a-z]{2,12}-internal|internal):[a-z0-9_/.-]{2,40}/g;

test("the command of workerd names its executable, the descriptor of its socket and the configuration", () => {
  const { file, args, acceptsWire } = createWorkerdEngine().command(1_000);
  assert.match(file, /\/workerd$/);
  assert.match(args.join(" "), /^serve --experimental --socket-fd wire=3 \S+\/workerd\/workerd\.capnp$/);
  assert.equal(acceptsWire, true);
});

test("a confined workerd child finds workerd, its configuration and one device, and no Node", () => {
  const { contained } = createWorkerdEngine();
  assert.ok(contained);
  assert.equal(contained.command(1_000).file, "/engine/workerd");
  const names = contained.files.map(({ at }) => at).filter((at) => !/\.so\b/.test(at));
  assert.deepEqual(names, ["/engine/workerd", "/engine/workerd.capnp", "/engine/child.js", "/dev/urandom"]);
});

test("the error for a missing workerd package names what to install", () => {
  const nowhere = createRequire("/nowhere/else.js");
  assert.throws(
    () => createWorkerdEngine(nowhere),
    (error) =>
      error instanceof GloveboxError &&
      error.code === "SANDBOX_UNAVAILABLE" &&
      error.details.hint?.includes(`npm install workerd@${WORKERD_VERSION}`) === true,
  );
});

test("the hint names the version of workerd that the tests use", () => {
  const { version } = createRequire(import.meta.url)("workerd/package.json");
  assert.equal(version, WORKERD_VERSION);
});

test("workerd runs programs in the confinement of this machine, each with all of its memory", async () => {
  const engine = await confineEngine(createWorkerdEngine(), "auto");
  const { sandbox, value } = await openTestSandbox({ engine, concurrency: 1 }, "workerd");
  try {
    for (let n = 0; n < 5; n += 1) {
      assert.equal(await value("return new Uint8Array(100 * 2 ** 20).fill(1).length"), 100 * 2 ** 20);
    }
  } finally {
    await sandbox.close();
  }
});

test("workerd passes a string of many megabytes in and out", async () => {
  const large = 12 * 1024 * 1024;
  const limits = { outputBytes: 2 * large, resultBytes: 2 * large, argumentBytes: 2 * large };
  const { sandbox, value } = await openTestSandbox({ concurrency: 1 }, "workerd");
  try {
    const host = { call: () => Promise.resolve({ ok: true as const, json: JSON.stringify("é".repeat(large / 2)) }) };
    const program = "const text = await files.read(); return [text.length, text === 'é'.repeat(text.length)]";
    assert.deepEqual(await value(program, { limits, host }), [large / 2, true]);
  } finally {
    await sandbox.close();
  }
});

test("a workerd program with a closing brace too many reaches nothing more", async () => {
  const { sandbox, value } = await openTestSandbox({ concurrency: 1 }, "workerd");
  try {
    const names = ["WebSocket", "caches", "performance", "navigator", "WebAssembly", "Cloudflare", "Request", "JSON"];
    const look = `globalThis.early = ${JSON.stringify(names)}.filter((name) => name in globalThis);`;
    assert.deepEqual(await value(`return early }; }\n${look}\nfunction unused() { return async () => {`), ["JSON"]);
  } finally {
    await sandbox.close();
  }
});

test("a workerd program can load no module by any name in the engine's executable", async () => {
  const executable = readFileSync(createWorkerdEngine().command(0).file, "latin1");
  const names = new Set([...(executable.match(MODULE_NAME) ?? []), ...builtinModules.map((name) => `node:${name}`)]);
  assert.ok(names.has("cloudflare:workers") && names.has("node:process") && names.size > 200);
  const input = [...names].flatMap((name) => [name, name.slice(name.indexOf(":") + 1)]);
  const { sandbox, value } = await openTestSandbox({ concurrency: 1 }, "workerd");
  try {
    const load = "await import(name).then(() => loaded.push(name), () => {})";
    assert.deepEqual(await value(`const loaded = []; for (const name of input) ${load}; return loaded`, { input }), []);
  } finally {
    await sandbox.close();
  }
});

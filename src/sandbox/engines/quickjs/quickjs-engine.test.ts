/** The engine as the pool sees it: its command, its files in a confined root, and programs in that root. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { confineEngine } from "../../confinement/confine-engine.ts";
import { openTestSandbox } from "../../fixtures/test-sandbox.ts";
import { createQuickjsEngine } from "./quickjs-engine.ts";

const engine = createQuickjsEngine(process.execPath);
const isLinux = process.platform === "linux";

test("the command of quickjs names Node, the bundled child, the engine and the memory", () => {
  const { file, args } = engine.command(1_000);
  assert.equal(file, process.execPath);
  assert.match(args.slice(-3).join(" "), /\/quickjs\/child\.js \S+\/emscripten-module\.wasm 1000$/);
});

test("a confined quickjs child finds the same files under other names", { skip: !isLinux }, () => {
  const { contained } = engine;
  assert.deepEqual(contained?.command(1_000).args.slice(-3), ["/engine/child.mjs", "/engine/quickjs.wasm", "1000"]);
  const names = contained.files.map(({ at }) => at).filter((at) => at.startsWith("/engine/"));
  assert.deepEqual(names, ["/engine/node", "/engine/child.mjs", "/engine/quickjs.wasm"]);
});

test("quickjs runs programs in the confinement of this machine, each with all of its memory", async () => {
  const { sandbox, value } = await openTestSandbox({ engine: await confineEngine(engine, "auto"), concurrency: 1 });
  try {
    // What one has used is given back before the next begins: the kernel would refuse two at once.
    for (let n = 0; n < 10; n += 1) {
      assert.equal(await value("return new Uint8Array(110 * 2 ** 20).fill(1).length"), 110 * 2 ** 20);
    }
  } finally {
    await sandbox.close();
  }
});

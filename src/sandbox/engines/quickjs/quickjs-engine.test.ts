/** The engine as the pool sees it: its command, its files in a confined root, and programs in that root. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { confineEngine } from "../../confinement/confine-engine.ts";
import { openTestSandbox } from "../../fixtures/test-sandbox.ts";
import { createQuickjsEngine } from "./quickjs-engine.ts";

const engine = createQuickjsEngine(process.execPath);
const isLinux = process.platform === "linux";

test("the command of quickjs names Node, the bundled child, the engine, its image and the memory", () => {
  const { file, args } = engine.command(1_000);
  assert.equal(file, process.execPath);
  assert.match(
    args.slice(-4).join(" "),
    /\/quickjs\/child\.mjs \S+\/quickjs\/quickjs\.wasm \S+\/quickjs\/quickjs\.image 1000$/,
  );
});

test("a confined quickjs child finds the same files under other names", { skip: !isLinux }, () => {
  const { contained } = engine;
  assert.deepEqual(contained?.command(1_000).args.slice(-4), [
    "/engine/child.mjs",
    "/engine/quickjs.wasm",
    "/engine/quickjs.image",
    "1000",
  ]);
  const names = contained.files.map(({ at }) => at).filter((at) => at.startsWith("/engine/"));
  assert.deepEqual(names, ["/engine/node", "/engine/child.mjs", "/engine/quickjs.wasm", "/engine/quickjs.image"]);
});

test("a quickjs child refuses an image that its build did not make", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-image-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const { file, args } = engine.command(1_000);
  const image = readFileSync(args.at(-2) ?? "");
  const start = async (bytes: Buffer) => {
    const other = join(folder, "quickjs.image");
    writeFileSync(other, bytes);
    const child = spawn(file, args.toSpliced(-2, 1, other), { stdio: ["ignore", "ignore", "pipe", "pipe"] });
    const [wire, errors] = [child.stdio[3], child.stderr];
    assert.ok(wire instanceof Duplex && errors);
    wire.end(); // a child that is ready then ends without an error
    const [[status], printed] = await Promise.all([once(child, "exit"), text(errors)]);
    return { status: Number(status), message: /TypeError: (.*)/.exec(printed)?.[1] };
  };
  assert.deepEqual(await start(image), { status: 0, message: undefined });
  image[image.length - 1] = 0;
  const message = "The memory image of QuickJS is not the one of this build";
  assert.deepEqual(await start(image), { status: 1, message });
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

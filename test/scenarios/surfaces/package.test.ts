/** The packed product in an empty folder, without development dependencies: demo, examples and printed hints. */

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { build } from "esbuild";

import { packProduct } from "../../fixtures/packed-product.ts";
import type { PackedProduct } from "../../fixtures/packed-product.ts";
import { untilEnded, waitForOutput } from "../../fixtures/product.ts";

/** Every file in `examples/`; each has a test below. */
const EXAMPLES = ["adapter/library-desk.ts", "demo.ts", "library/embed.ts"];

describe("the packed product", () => {
  let product: PackedProduct;
  before(() => void (product = packProduct()));
  after(() => product[Symbol.dispose]());

  test("the package is installed without development dependencies", () => {
    const { resolve } = createRequire(join(product.installed, "package.json"));
    assert.match(resolve("typescript/package.json"), /typescript/);
    for (const name of ["@modelcontextprotocol/server-everything/package.json", "esbuild", "workerd", "zod"]) {
      assert.throws(() => resolve(name), { code: "MODULE_NOT_FOUND" }, name);
    }
  });

  test("the package has the examples that are tested here", () => {
    const found = readdirSync(join(product.installed, "examples"), { recursive: true, withFileTypes: true });
    const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const names = files.map((file) => file.slice(join(product.installed, "examples/").length));
    assert.deepEqual(names.toSorted(), EXAMPLES);
  });

  for (const engine of ["isolate", "quickjs"]) {
    test(`the packed demo program runs on ${engine} in an empty folder`, () => {
      const { code, stdout, stderr } = product.run(["run", "--engine", engine, "examples/demo.ts"]);
      assert.equal(code, 0, stderr);
      assert.deepEqual(Object.keys(JSON.parse(stdout)), ["stockByCategory", "soldOut", "pendingOrders"]);
      assert.match(stderr, /30 products and 60 orders read/);
    });
  }

  test("a file of the user comes before an example of the package, and a missing file is reported", () => {
    const named = product.run(["run", "node_modules/glovebox/examples/demo.ts"]);
    assert.equal(named.code, 0, named.stderr);
    const folder = join(product.folder, "examples");
    mkdirSync(folder);
    writeFileSync(join(folder, "demo.ts"), "return 6 * 7");
    const own = product.run(["run", "examples/demo.ts"]);
    rmSync(folder, { recursive: true });
    assert.deepEqual([own.code, own.stdout], [0, "42\n"], own.stderr);
    const missing = product.run(["run", "examples/none.ts"]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /examples\/none\.ts cannot be read/);
  });

  test("the packed product's serve prints hints that work while it runs", async (context) => {
    const served = product.start(["serve", "--port", "0"]);
    context.after(() => served.kill("SIGKILL"));
    const printed = await waitForOutput(served, /Stop with Ctrl-C/);
    assert.match(printed, /upstream {4}inventory: ready, 5 tools/);
    const hints = [...printed.matchAll(/npx --no-install glovebox (.*)$/gm)].map(([, hint = ""]) => hint.split(" "));
    assert.deepEqual(hints, [["run", "examples/demo.ts"]]);
    for (const hint of hints) assert.equal(product.run(hint).code, 0, hint.join(" "));
    served.kill("SIGTERM");
    await untilEnded(served);
  });

  test("the demo needs nothing but the package, and uses no configuration of the folder", (context) => {
    writeFileSync(join(product.folder, "glovebox.config.json"), "this is not a configuration");
    context.after(() => rmSync(join(product.folder, "glovebox.config.json")));
    const { code, stdout, stderr } = product.run(["demo", "--json"]);
    assert.equal(code, 0, stderr);
    const { state, value, calls }: { state: string; value: object; calls: { tool: string }[] } = JSON.parse(stdout);
    assert.deepEqual([state, Object.keys(value)], ["completed", ["stockByCategory", "soldOut", "pendingOrders"]]);
    assert.deepEqual(
      calls.map(({ tool }) => tool),
      ["inventory.listProducts", "inventory.listOrders"],
    );
    const shown = product.run(["demo"]);
    assert.deepEqual([shown.code, Object.keys(JSON.parse(shown.stdout) as object)], [0, Object.keys(value)]);
    assert.match(shown.stderr, /inventory\.listProducts\(\{\}\)/);
  });

  test("the packed product's doctor finds no failure", () => {
    const { code, stdout } = product.run(["doctor"]);
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout, /FAILED/);
  });

  test("a program that esbuild bundles runs with the package external, and is refused with a remedy without that", async () => {
    const entry = join(product.folder, "app.ts");
    copyFileSync(join(product.installed, "examples/library/embed.ts"), entry);
    const options = { bundle: true, platform: "node", format: "esm", target: "node22", logLevel: "silent" } as const;
    const entryPoints = [entry];
    await build({ ...options, entryPoints, outfile: join(product.folder, "out/apart.mjs"), external: ["glovebox"] });
    const apart = product.run([], { script: join(product.folder, "out/apart.mjs") });
    assert.deepEqual([apart.code, apart.stdout], [0, "completed [ 'Ada likes tea' ]\n"], apart.stderr);
    const external = ["typescript", "workerd"];
    await build({ ...options, entryPoints, outfile: join(product.folder, "out/whole.mjs"), external });
    const bundled = product.run([], { script: join(product.folder, "out/whole.mjs") });
    assert.equal(bundled.code, 1);
    assert.match(bundled.stderr, /Glovebox was bundled into another file/);
    assert.match(bundled.stderr, /Mark the package glovebox as external/);
  });

  test("the packed library example runs beside the user's own code", () => {
    const script = join(product.folder, "embed.ts");
    copyFileSync(join(product.installed, "examples/library/embed.ts"), script);
    const { code, stdout, stderr } = product.run([], { script });
    assert.deepEqual([code, stdout], [0, "completed [ 'Ada likes tea' ]\n"], stderr);
  });

  test("the packed adapter example runs beside a configuration, and serve prints a hint that works", async (context) => {
    copyFileSync(join(product.installed, "examples/adapter/library-desk.ts"), join(product.folder, "library-desk.ts"));
    const config = join(product.folder, "desk.json");
    writeFileSync(config, '{ "mcpServers": {}, "adapters": ["./library-desk.ts"] }');
    const input = "return (await desk.listBooks({ free: true })).map(({ title }) => title)";
    const { code, stdout, stderr } = product.run(["run", "--config", config, "-"], { input });
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), ["Notes on the Analytical Engine"]);
    const served = product.start(["serve", "--config", config, "--port", "0"]);
    context.after(() => served.kill("SIGKILL"));
    const printed = await waitForOutput(served, /Stop with Ctrl-C/);
    const [, hint = ""] = /npx --no-install glovebox (.*)$/m.exec(printed) ?? [];
    const tools = product.run(hint.split(" "));
    assert.equal(tools.code, 0, tools.stderr);
    assert.match(tools.stdout, /desk\.listBooks/);
    served.kill("SIGTERM");
    await untilEnded(served);
  });
});

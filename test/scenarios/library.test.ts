/** The library from outside: the example of the documentation, errors, limits, cancelling and what closing leaves. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { createGlovebox } from "glovebox";
import type { Glovebox, GloveboxConfig } from "glovebox";

import { probe } from "./product.ts";
import { isAlive, listDescendants, untilGone } from "./processes.ts";

const CONFIG: GloveboxConfig = {
  mcpServers: { probe: { command: process.execPath, args: [...probe("--family").args] } },
  store: { url: "sqlite::memory:" },
};

async function openFor(context: TestContext, config: GloveboxConfig = CONFIG): Promise<Glovebox> {
  const glovebox = await createGlovebox(config);
  context.after(() => glovebox.close());
  return glovebox;
}

describe("the library", () => {
  test("the example runs and prints what its program made", () => {
    const example = ["examples/library/embed.ts"];
    const { status, stdout, stderr } = spawnSync(process.execPath, example, { encoding: "utf8" });
    assert.deepEqual([status, stdout], [0, "completed [ 'Ada likes tea' ]\n"], stderr);
  });

  test("searches, describes and executes", async (context) => {
    const glovebox = await openFor(context);
    const { tools } = await glovebox.search({ query: "echo", limit: 1 });
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["probe.echo"],
    );
    assert.match(await glovebox.describe({ names: ["probe.echo"] }), /echo\(args/);
    const { state, value } = await glovebox.execute({ code: "return input.a + 1", input: { a: 1 } });
    assert.deepEqual([state, value], ["completed", 2]);
  });

  test("a wrong configuration rejects with all that is wrong", async () => {
    const wrong = JSON.parse('{ "sandbx": {}, "server": { "port": "x" } }') as GloveboxConfig;
    await assert.rejects(createGlovebox(wrong), (error: { code: string; message: string }) => {
      assert.equal(error.code, "CONFIG_INVALID");
      assert.deepEqual(error.message.split("\n").toSorted(), [
        'configuration sandbx: unknown key; did you mean "sandbox"?',
        'configuration server.port: expected a whole number from 0 to 65535; found "x"',
      ]);
      return true;
    });
    await assert.rejects(createGlovebox("/nowhere/glovebox.config.json"), { code: "CONFIG_INVALID" });
  });

  test("limits of a request tighten and never widen", async (context) => {
    const glovebox = await openFor(context, { ...CONFIG, sandbox: { limits: { calls: 2, wallMs: 20_000 } } });
    const code = "for (let i = 0; i < input; i++) await probe.echo({}); return input";
    const attempts = [
      { input: 2, limits: {} },
      { input: 2, limits: { calls: 1 } },
      { input: 3, limits: { calls: 1000 } },
    ];
    const results = await Promise.all(attempts.map((attempt) => glovebox.execute({ code, ...attempt })));
    assert.deepEqual(
      results.map(({ value, error }) => error?.code ?? value),
      [2, "LIMIT_CALLS", "LIMIT_CALLS"],
    );
    await assert.rejects(glovebox.execute({ code, limits: { calls: 0 } }), { code: "REQUEST_INVALID" });
  });

  test("a signal cancels a program, a waiting one too", async (context) => {
    const glovebox = await openFor(context, { ...CONFIG, sandbox: { concurrency: 1 } });
    const abort = new AbortController();
    const { signal } = abort;
    const running = ["let n = 1; while (n > 0) n = (n % 7) + 1;", "await probe.hang({})"].map((code) =>
      glovebox.execute({ code, signal }),
    );
    setTimeout(() => abort.abort(), 300);
    const ended = await Promise.all(running);
    assert.deepEqual(
      ended.map(({ state, error }) => [state, error?.code]),
      ended.map(() => ["cancelled", "REQUEST_CANCELLED"]),
    );
    const next = await glovebox.execute({ code: "return 1" });
    assert.equal(next.value, 1);
    const late = await glovebox.execute({ code: "return 1", signal });
    assert.equal(late.state, "cancelled");
  });

  test("closing leaves no process behind, also while a program runs", async () => {
    const before = new Set(listDescendants(process.pid));
    await using glovebox = await createGlovebox(CONFIG);
    await glovebox.execute({ code: "return await probe.echo({})" });
    const running = glovebox.execute({ code: "await probe.hang({})" }).catch((error: unknown) => error);
    await glovebox.execute({ code: "return 1" });
    // Some that only help with a start are gone again at once.
    const family = listDescendants(process.pid).filter((pid) => !before.has(pid) && isAlive(pid));
    assert.ok(family.length >= 4, `${family.length} processes`);
    await glovebox.close();
    assert.deepEqual(await untilGone(family, 500), []);
    await running;
    await glovebox.close();
  });
});

/** The library from outside: the documented example, errors, limits, cancellation and what closing leaves. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { createGlovebox, defineAdapter } from "glovebox";
import type { AdapterContext, Glovebox, GloveboxConfig, GloveboxError } from "glovebox";

import { passingStore } from "../../fixtures/passing-store.ts";
import { probe } from "../../fixtures/product.ts";
import { isAlive, listDescendants, untilGone } from "../../fixtures/processes.ts";

const CONFIG: GloveboxConfig = {
  mcpServers: { probe: { command: process.execPath, args: [...probe("--family").args] } },
};

async function openFor(context: TestContext, config: GloveboxConfig = CONFIG): Promise<Glovebox> {
  const glovebox = await createGlovebox({ store: passingStore(), ...config });
  context.after(() => glovebox.close());
  return glovebox;
}

describe("the library", () => {
  test("the library example runs and prints the result of its program", () => {
    const example = ["examples/library/embed.ts"];
    const { status, stdout, stderr } = spawnSync(process.execPath, example, { encoding: "utf8" });
    assert.deepEqual([status, stdout], [0, "completed [ 'Ada likes tea' ]\n"], stderr);
  });

  test("the library searches, describes and executes", async (context) => {
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

  test("the library rejects a wrong configuration with all mistakes", async () => {
    const wrong = JSON.parse('{ "sandbx": {}, "server": { "port": "x" } }') as GloveboxConfig;
    await assert.rejects(createGlovebox(wrong), (error: { code: string; message: string }) => {
      assert.equal(error.code, "CONFIG_INVALID");
      assert.deepEqual(error.message.split("\n").toSorted(), [
        'configuration sandbx: unknown key; did you mean "sandbox"?',
        'configuration server.port: expected an integer from 0 to 65535; found "x"',
      ]);
      return true;
    });
    await assert.rejects(createGlovebox("/nowhere/glovebox.config.json"), { code: "CONFIG_INVALID" });
  });

  test("limits of a library request tighten and never widen", async (context) => {
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

  test("a signal cancels a program of the library, also a waiting one", async (context) => {
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

  test("the library refuses a malformed request with a remedy", async (context) => {
    const glovebox = await openFor(context);
    const circle: unknown[] = [];
    circle.push(circle);
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [{}, /code: expected string/],
      [undefined, /code: expected string/],
      ["return 1", /it takes one object/],
      [{ code: 5 }, /code: expected string/],
      [{ code: "1", input: () => 1 }, /`input` must be JSON: it is a function$/],
      [{ code: "1", input: 5n }, /`input` must be JSON: it is a bigint$/],
      [{ code: "1", input: { a: [Symbol("x")] } }, /`input` must be JSON: "0" is a symbol$/],
      [{ code: "1", input: { a: Number.NaN } }, /`input` must be JSON: "a" is NaN$/],
      [{ code: "1", input: new Map() }, /`input` must be JSON: it is a Map or a Set$/],
      [{ code: "1", input: circle }, /`input` must be JSON: it is circular/],
      [{ code: "1", limits: 5 }, /limits: expected record/],
      [{ code: "1", session: 5 }, /session: expected string/],
      [{ code: "1", dryRun: "yes" }, /dryRun: expected boolean/],
      [{ code: "1", signal: {} }, /signal: .*AbortSignal/],
    ];
    for (const [request, message] of wrong) {
      await assert.rejects(glovebox.execute(request as { code: string }), (error: GloveboxError) => {
        assert.deepEqual([error.code, message.test(error.message)], ["REQUEST_INVALID", true], error.message);
        assert.ok(error.details.hint);
        return true;
      });
    }
    await assert.rejects(glovebox.describe({} as { names: string[] }), { code: "REQUEST_INVALID" });
    await assert.rejects(glovebox.search({ query: 5 } as unknown as { query: string }), { code: "REQUEST_INVALID" });
    const { value } = await glovebox.execute({ code: "return input", input: { a: [1, null, "x"] } });
    assert.deepEqual(value, { a: [1, null, "x"] });
  });

  test("a missing secret of an adapter is a clear error and not an incident", async (context) => {
    const run = async (_: unknown, { secret }: AdapterContext): Promise<number> => (await secret("NO_SUCH")).length;
    const desk = defineAdapter({ name: "desk", tools: { look: { description: "Looks.", input: {}, run } } });
    const glovebox = await openFor(context, { adapters: [desk] });
    const { error } = await glovebox.execute({ code: "return await desk.look({})" });
    const { code, message, hint, incident } = error ?? {};
    assert.deepEqual(
      [code, message, hint, incident],
      [
        "UPSTREAM_AUTH_REQUIRED",
        "desk: The secret NO_SUCH is not set",
        "Set it with `glovebox secrets set NO_SUCH`",
        undefined,
      ],
    );
  });

  test("closing the library ends a running program as cancelled, and refuses new ones", async () => {
    const glovebox = await createGlovebox({ ...CONFIG, store: passingStore() });
    const called = Promise.withResolvers<void>();
    const onEvent = ({ kind }: { readonly kind: string }): void => void (kind === "called" && called.resolve());
    const hanging = glovebox.execute({ code: "await probe.hang({})", onEvent });
    await called.promise;
    const running = [hanging, glovebox.execute({ code: "let n = 1; while (n > 0) n = (n % 7) + 1;" })];
    await wait(200);
    await glovebox.close();
    assert.deepEqual(
      (await Promise.all(running)).map(({ state, error }) => [state, error?.code]),
      running.map(() => ["cancelled", "REQUEST_CANCELLED"]),
    );
    await assert.rejects(glovebox.execute({ code: "return 1" }), { code: "REQUEST_CANCELLED" });
  });

  test("data that one library session has read does not count for another", async (context) => {
    const policy: GloveboxConfig["policy"] = {
      labels: [
        { tools: ["probe.about"], add: ["private", "untrusted"] },
        { tools: ["probe.echo"], add: ["external"] },
      ],
    };
    const glovebox = await openFor(context, { ...CONFIG, policy, approvals: { graceMs: 0 } });
    const read = { code: "await probe.about({}); return 1" };
    const send = { code: "return await probe.echo({ n: input })", input: 1 };
    const states = [];
    for (const request of [{ ...read, session: "a" }, { ...send, session: "b" }, send, { ...send, session: "a" }])
      states.push((await glovebox.execute(request)).state);
    assert.deepEqual(states, ["completed", "completed", "completed", "paused"]);
    await glovebox.execute(read);
    assert.equal((await glovebox.execute(send)).state, "paused");
  });

  test("closing the library leaves no process, also while a program runs", async () => {
    const before = new Set(listDescendants(process.pid));
    await using glovebox = await createGlovebox({ ...CONFIG, store: passingStore() });
    await glovebox.execute({ code: "return await probe.echo({})" });
    const running = glovebox.execute({ code: "await probe.hang({})" }).catch((error: unknown) => error);
    await glovebox.execute({ code: "return 1" });
    // Some helpers of the start end again immediately.
    const family = listDescendants(process.pid).filter((pid) => !before.has(pid) && isAlive(pid));
    assert.ok(family.length >= 4, `${family.length} processes`);
    await glovebox.close();
    assert.deepEqual(await untilGone(family), []);
    await running;
    await glovebox.close();
  });
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import type { NearGateway, NearProgram } from "./near-gateway.ts";
import { reachNear } from "./reach-near.ts";
import { serveNear } from "./serve-near.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-near-"));
after(() => rmSync(folder, { recursive: true }));
const place = { path: join(folder, "gateway.sock"), key: "same" };

/** Answers with what it was asked, and counts programs that were cancelled. */
function createEcho() {
  const asked: unknown[] = [];
  const cancelled: string[] = [];
  const echo = {
    search: async (query: unknown) => (asked.push(query), { tools: [], servers: [] }),
    describe: async (names: readonly string[]) => {
      if (names[0] === "nothing") throw new GloveboxError("TOOL_NOT_FOUND", "No such tool", { hint: "Search" });
      return { declarations: names.join(), unknown: [] };
    },
    execute: (program: NearProgram, signal?: AbortSignal) =>
      new Promise((resolve) => {
        asked.push(program);
        const end = (): void =>
          resolve({ state: "cancelled", source: (cancelled.push(program.source), program.source) });
        if (program.source !== "wait") resolve({ state: "completed" });
        else signal?.addEventListener("abort", end);
      }),
    plan: () => Promise.reject(new Error("secret detail")),
  };
  return { near: echo as unknown as NearGateway, asked, cancelled };
}

describe("a gateway that commands reach", () => {
  it("answers a command with the same key, with errors and cancels as in one process", async () => {
    const { near, asked, cancelled } = createEcho();
    await using _served = await serveNear(place, { open: () => near, report: () => "in_1" });
    assert.equal(statSync(place.path).mode & 0o777, 0o600);
    using reached = await reachNear(place);
    assert.ok(reached);
    assert.deepEqual(await reached.search({ query: "stock", limit: 3 }), { tools: [], servers: [] });
    await reached.execute({ source: "1", network: false, limits: { calls: 2 } });
    assert.deepEqual(asked, [
      { query: "stock", limit: 3 },
      { source: "1", network: false, limits: { calls: 2 } },
    ]);
    await assert.rejects(reached.describe(["nothing"], "full"), { code: "TOOL_NOT_FOUND", message: "No such tool" });
    await assert.rejects(reached.plan({ source: "1" }), { code: "INTERNAL_BUG", message: "Internal error" });
    const abort = new AbortController();
    const waiting = reached.execute({ source: "wait" }, abort.signal);
    abort.abort();
    assert.equal((await waiting).state, "cancelled");
    assert.deepEqual(cancelled, ["wait"]);
  });

  it("cancels what a command started when its connection ends", async () => {
    const { near, asked, cancelled } = createEcho();
    await using _served = await serveNear(place, { open: () => near, report: () => "in_1" });
    const reached = await reachNear(place);
    assert.ok(reached);
    const lost = assert.rejects(reached.execute({ source: "wait" }), { code: "STORE_UNAVAILABLE" });
    while (asked.length === 0) await new Promise(setImmediate);
    reached[Symbol.dispose]();
    await lost;
    while (cancelled.length === 0) await new Promise(setImmediate);
  });

  it("does not answer another key, other JSON, or an unknown request", async () => {
    const { near, asked } = createEcho();
    await using _served = await serveNear(place, { open: () => near, report: () => "in_1" });
    assert.equal(await reachNear({ ...place, key: "other" }), undefined);
    for (const lines of [`"same"\n`, `{"key":"same"}\n{"id":1,"method":"close"}\n`, `{"key":"same"}\nnot JSON\n`]) {
      const socket = connect(place.path);
      socket.write(lines);
      socket.resume();
      await once(socket, "end");
      socket.destroy();
    }
    assert.deepEqual(asked, []);
  });

  it("is not found where none runs, where one was killed, and for a store in memory", async () => {
    assert.equal(await reachNear({ ...place, path: join(folder, "none.sock") }), undefined);
    {
      await using _served = await serveNear(place, { open: () => createEcho().near, report: () => "in_1" });
    }
    assert.equal(await reachNear(place), undefined);
    assert.equal(await reachNear(undefined), undefined);
  });

  it("the last one that starts gets the socket", async () => {
    const [first, second] = [createEcho(), createEcho()];
    await using _first = await serveNear(place, { open: () => first.near, report: () => "in_1" });
    await using _second = await serveNear(place, { open: () => second.near, report: () => "in_1" });
    using reached = await reachNear(place);
    await reached?.search({});
    assert.deepEqual([first.asked.length, second.asked.length], [0, 1]);
  });
});

/** A disk that gets full stops new executions early enough for the records of those that run. */

import assert from "node:assert/strict";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createGlovebox, defineAdapter } from "../../../src/main.ts";
import { mountMemory } from "../../fixtures/mount.ts";
import { makeUntypedFolder, parseJsonLines, runGlovebox } from "../../fixtures/product.ts";

const MIB = 1024 * 1024;
const CALLS = 50;

test("a full disk refuses new executions while the records of a running one still fit, and accepts them again once there is space", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {}, store: { url: "sqlite:./disk/glovebox.db" } });
  const disk = join(folder, "disk");
  mkdirSync(disk);
  using mounted = mountMemory(disk, "size=16m");
  if (!mounted) return context.skip("mounting is not possible here");
  const begun = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  const door = defineAdapter({
    name: "door",
    tools: {
      wait: {
        description: "Waits until the disk is full",
        input: { type: "object" },
        effect: "read",
        run: async () => {
          begun.resolve();
          await full.promise;
          return 1;
        },
      },
      pass: { description: "Passes", input: { type: "object" }, effect: "write", run: () => "passed ".repeat(500) },
    },
  });
  const url = `sqlite:${join(disk, "glovebox.db")}`;
  await using glovebox = await createGlovebox({ adapters: [door], store: { url, minFreeBytes: 8 * MIB } });
  const running = glovebox.execute({
    code: `await door.wait({}); for (let i = 0; i < ${CALLS}; i += 1) await door.pass({}); return "done"`,
  });
  await begun.promise;
  const { bavail, bsize } = statfsSync(disk);
  const filler = join(disk, "filler");
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 7 * MIB));
  const refused = await glovebox.execute({ code: "return 1" });
  assert.deepEqual([refused.state, refused.error?.code], ["failed", "STORE_UNAVAILABLE"]);
  full.resolve();
  const { state, value, calls } = await running;
  assert.deepEqual([state, value, calls.length], ["completed", "done", CALLS + 1]);
  rmSync(filler);
  assert.equal((await glovebox.execute({ code: "return 1" })).value, 1);
  await glovebox.close();
  const { stdout } = await runGlovebox(["audit", "export"], { folder });
  const ended = parseJsonLines(stdout).filter(({ action }) => action === "call.ended");
  assert.equal(ended.length, CALLS + 1);
  assert.equal((await runGlovebox(["audit", "verify"], { folder })).code, 0);
});

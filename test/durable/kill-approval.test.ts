/** `glovebox skills approve` is killed at each of its steps: the version waits as a whole, or is approved as a whole. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

import { OPERATOR } from "../../src/identity/index.ts";
import { LAUNCHER, cleanEnvironment } from "../fixtures/product.ts";
import { openSkillGateway } from "../fixtures/skill-gateway.ts";

const MOST_STEPS = 20;
const PRELOAD = resolve("test/durable/kills/die-at-commit.mjs");

test("a command that is killed while it approves leaves nothing half", { concurrency: false }, async (context) => {
  const { folder, submit, desk, run } = await openSkillGateway(context);
  writeFileSync(
    join(folder, "glovebox.config.json"),
    JSON.stringify({ store: { url: "sqlite:./glovebox.db" }, mcpServers: {} }),
  );
  /** Resolves with true if it was killed. */
  const approve = async (DIE_AT: string): Promise<boolean> => {
    const args = ["--import", PRELOAD, LAUNCHER, "skills", "approve", "one", "--config", "glovebox.config.json"];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: cleanEnvironment(folder, { DIE_AT }),
      stdio: "ignore",
    });
    const [code, signal] = await once(child, "close");
    assert.ok(signal === "SIGKILL" || code === 0, `${DIE_AT}: ${code}`);
    return signal === "SIGKILL";
  };
  let approved = 0;
  const ends = { waiting: 0, approved: 0 };
  let version = 0;
  for (const side of ["before", "after"])
    for (let step = 1; step < MOST_STEPS; step += 1) {
      version += 1;
      await submit("one", { run: `return ${version}` });
      const wasKilled = await approve(`${side} ${step}`);
      const [newest] = await desk.list();
      assert.equal(newest?.frozen, undefined, `${side} ${step}`);
      if (newest?.state === "approved") approved = version;
      ends[newest?.state === "approved" ? "approved" : "waiting"] += 1;
      const value = await run("return await skills.one({})");
      assert.equal(value, approved === 0 ? "failed SKILL_NOT_APPROVED" : approved, `${side} ${step}`);
      if (newest?.state === "pending_review") await desk.reject({ name: "one" }, "again", OPERATOR);
      if (!wasKilled) break;
    }
  assert.ok(ends.waiting > 1 && ends.approved > 1, JSON.stringify(ends));
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { measureFamily } from "./family.ts";

const MIB = 1024 * 1024;

test("measureFamily counts a process and what it started", { skip: process.platform !== "linux" }, async () => {
  const before = measureFamily(process.pid) ?? 0;
  assert.ok(before > 20 * MIB);
  const script =
    "globalThis.kept = Buffer.alloc(60 * 1024 * 1024, 1); process.stdout.write('up'); process.stdin.resume()";
  const child = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const during = measureFamily(process.pid) ?? 0;
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.ok(during - before > 60 * MIB, `${during - before}`);
});

test("measureFamily returns undefined for a process that is gone", () => {
  assert.equal(measureFamily(2 ** 22 + 1), undefined);
});

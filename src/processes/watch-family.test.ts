/** Real processes: children that left the group and session of their parent are found, and only they are ended. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterEach, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { watchFamily } from "./index.ts";

const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0).filter(isAlive)) process.kill(pid, "SIGKILL");
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 6_000 && isAlive(pid); tries += 1) await wait(10);
  return !isAlive(pid);
}

/** A process that starts another in its own session, prints its pid, and ends with its input. */
const PARENT = `
const { spawn } = require("node:child_process");
const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
child.unref();
process.stdout.write(child.pid + "\\n");
process.stdin.resume().on("end", () => process.exit());
`;

async function startParent() {
  const parent = spawn(process.execPath, ["-e", PARENT], { stdio: ["pipe", "pipe", "inherit"] });
  const [chunk] = (await once(parent.stdout, "data")) as [Buffer];
  const child = Number(chunk.toString());
  const pid = parent.pid ?? assert.fail();
  started.push(pid, child);
  const end = async (): Promise<void> => {
    const exited = once(parent, "exit");
    parent.stdin.end();
    await Promise.all([exited, text(parent.stdout)]);
  };
  return { pid, child, end };
}

test("a listed process is ended after its parent, in any session", async () => {
  const { pid, child, end } = await startParent();
  const family = watchFamily(pid);
  family.look();
  await end();
  assert.equal(isAlive(child), true);
  family.end();
  assert.equal(await untilGone(child), true);
});

test("a process that was never listed is left alone, and so are all others", async () => {
  const { pid, child, end } = await startParent();
  const other = await startParent();
  const family = watchFamily(pid);
  await end();
  family.look();
  family.end();
  await wait(50);
  assert.deepEqual([isAlive(child), isAlive(other.child)], [true, true]);
});

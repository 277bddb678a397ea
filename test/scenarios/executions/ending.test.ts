/**
 * How the product ends, seen from outside: Ctrl-C once and twice, SIGTERM, `kill -9`. Nothing that it started may
 * outlive it.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import {
  EVERYTHING,
  INVENTORY,
  makeUntypedFolder,
  probe,
  serveFor,
  startFor,
  untilEnded,
} from "../../fixtures/product.ts";
import { commandOf, isAlive, listDescendants, until, untilGone } from "../../fixtures/processes.ts";

const FAMILY = { mcpServers: { probe: probe("--family"), everything: EVERYTHING, inventory: INVENTORY } };
const STUBBORN = { mcpServers: { probe: probe("--family", "--stubborn") } };
/** Its condition looks as if it could end, so that analysis accepts it. */
const ENDLESS = "let n = 1; while (n > 0) n = (n % 7) + 1;";
const HANGING = "await probe.hang({})";

/** Upstreams, the child of one of them, the reaper and a sandbox process: everything that could be left behind. */
function findFamily(context: TestContext, pid: number): readonly number[] {
  const family = listDescendants(pid);
  // Everything that a test started ends with it, even if the product failed to end it.
  context.after(() => family.filter(isAlive).forEach((one) => process.kill(one, "SIGKILL")));
  const commands = family.map(commandOf);
  for (const part of [/^sleep 1000/, /probe-server/, /isolate\/child|engine\/child/, /^\/bin\/sh/]) {
    assert.ok(
      commands.some((command) => part.test(command)),
      `${part} is not among:\n${commands.join("\n")}`,
    );
  }
  assert.deepEqual(
    family.filter((one) => !isAlive(one)),
    [],
  );
  return family;
}

/** The CPU time of all these processes, in ticks. */
function ticksOf(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      return 0;
    }
  });
  return ticks.reduce((sum, used) => sum + used, 0);
}

/** A running program: `run` with everything it started, at the moment when the program acts. */
async function startRun(context: TestContext, config: unknown, code: string) {
  const child = startFor(
    context,
    ["run", "--json", "--cpu-ms", "60000", "--wall-ms", "60000", "-"],
    makeUntypedFolder(context, config),
  );
  child.stdin.end(code);
  const sandboxes = (): readonly number[] =>
    listDescendants(child.pid).filter((pid) => /child\.m?js/.test(commandOf(pid)));
  await until(
    () => sandboxes().length > 0 && listDescendants(child.pid).some((pid) => commandOf(pid) === "sleep 1000"),
  );
  // A program that computes has low priority, so this takes a while on a busy machine.
  if (code === ENDLESS) await until(() => ticksOf(sandboxes()) > 60, 200_000);
  else await wait(1_500);
  return child;
}

describe("kill -9 ends all processes", { concurrency: 2 }, () => {
  test("kill -9 of an idle gateway ends all its processes", async (context) => {
    const { child } = await serveFor(context, makeUntypedFolder(context, FAMILY));
    await until(() => listDescendants(child.pid).some((pid) => /child\.m?js/.test(commandOf(pid))));
    const family = findFamily(context, child.pid);
    child.kill("SIGKILL");
    assert.deepEqual(await untilGone(family), []);
  });

  for (const [name, code] of [
    ["a program loops without end", ENDLESS],
    ["a call hangs", HANGING],
  ] as const) {
    test(`kill -9 ends all processes while ${name}`, async (context) => {
      const child = await startRun(context, FAMILY, code);
      const family = findFamily(context, child.pid);
      child.kill("SIGKILL");
      assert.deepEqual(await untilGone(family), []);
    });
  }

  test("kill -9 ends a server that ignores requests to end", async (context) => {
    const { child } = await serveFor(context, makeUntypedFolder(context, STUBBORN));
    const family = findFamily(context, child.pid);
    child.kill("SIGKILL");
    assert.deepEqual(await untilGone(family), []);
  });
});

describe("shutdown requests", { concurrency: 2 }, () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`${signal} ends serve with exit code 0 and leaves no process`, async (context) => {
      const { child } = await serveFor(context, makeUntypedFolder(context, FAMILY));
      const family = findFamily(context, child.pid);
      const ended = untilEnded(child);
      child.kill(signal);
      assert.equal(await ended, 0);
      assert.deepEqual(await untilGone(family), []);
    });
  }

  test("shutdown kills a server that ignores SIGTERM", async (context) => {
    const { child } = await serveFor(context, makeUntypedFolder(context, STUBBORN));
    const family = findFamily(context, child.pid);
    const ended = untilEnded(child);
    child.kill("SIGINT");
    assert.equal(await ended, 0);
    assert.deepEqual(await untilGone(family), []);
  });

  test("a process that left the process group of its server ends with the gateway", async (context) => {
    const { child } = await serveFor(context, makeUntypedFolder(context, { mcpServers: { probe: probe("--stray") } }));
    const strays = listDescendants(child.pid).filter((pid) => commandOf(pid) === "sleep 2000");
    context.after(() => strays.filter(isAlive).forEach((one) => process.kill(one, "SIGKILL")));
    assert.equal(strays.length, 1);
    const ended = untilEnded(child);
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
    assert.deepEqual(await untilGone(strays), []);
  });

  test("a process that left the process group of its server also ends when the server crashes", async (context) => {
    const { child } = await serveFor(context, makeUntypedFolder(context, { mcpServers: { probe: probe("--stray") } }));
    const family = listDescendants(child.pid);
    const strays = family.filter((pid) => commandOf(pid) === "sleep 2000");
    context.after(() => strays.filter(isAlive).forEach((one) => process.kill(one, "SIGKILL")));
    for (const pid of family.filter((one) => /probe-server/.test(commandOf(one)))) process.kill(pid, "SIGKILL");
    assert.equal(strays.length, 1);
    assert.deepEqual(await untilGone(strays), []);
  });

  test("a second Ctrl-C ends serve at once", async (context) => {
    const { child } = await serveFor(context, makeUntypedFolder(context, STUBBORN));
    const family = findFamily(context, child.pid);
    const ended = untilEnded(child);
    child.kill("SIGINT");
    await wait(100);
    assert.equal(isAlive(child.pid), true);
    child.kill("SIGINT");
    assert.equal(await ended, 130);
    assert.deepEqual(await untilGone(family), []);
  });

  for (const [name, code] of [
    ["an endless loop", ENDLESS],
    ["a hanging call", HANGING],
  ] as const) {
    test(`run that is interrupted in ${name} ends with 130 and reports what happened to the program`, async (context) => {
      const child = await startRun(context, { mcpServers: { probe: probe("--family") } }, code);
      const family = listDescendants(child.pid);
      let printed = "";
      child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      const ended = untilEnded(child);
      child.kill("SIGINT");
      assert.equal(await ended, 130);
      const { state, error } = JSON.parse(printed) as { state: string; error: { code: string } };
      assert.deepEqual([state, error.code], ["cancelled", "REQUEST_CANCELLED"]);
      assert.deepEqual(await untilGone(family), []);
    });
  }

  for (const command of ["serve", "run"] as const) {
    test(`Ctrl-C ends ${command} soon while it waits for a server that does not answer`, async (context) => {
      const folder = makeUntypedFolder(context, { mcpServers: { probe: probe("--silent") }, server: { port: 0 } });
      const child = startFor(context, [command], folder);
      // A program that does not need the server would end without it.
      child.stdin.end(HANGING);
      // The same program without an interrupt waits ten seconds for the silent server.
      const witness = startFor(context, ["run", "-"], folder);
      witness.stdin.end(HANGING);
      await until(() => listDescendants(child.pid).some((pid) => /probe-server/.test(commandOf(pid))));
      await wait(200);
      const family = listDescendants(child.pid);
      const ended = untilEnded(child);
      child.kill("SIGINT");
      const first = await Promise.race([ended, untilEnded(witness).then(() => "the witness")]);
      assert.equal(first, command === "run" ? 130 : 0);
      assert.deepEqual(await untilGone(family), []);
    });
  }
});

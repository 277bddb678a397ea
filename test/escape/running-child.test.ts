/**
 * Inspects the real child from outside while it runs: descriptors, environment, signals, and whether it outlives its
 * gateway.
 */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { EngineName } from "../../src/domain/index.ts";
import { ENGINES } from "../../src/sandbox/fixtures/engines.ts";
import { LATE_MS, LEVELS, confineAt, known, openEscapeSandbox } from "./fixtures/escape-sandbox.ts";
import type { EscapeSandbox, Level, Run } from "./fixtures/escape-sandbox.ts";
import { listBelow, readStatus } from "./fixtures/memory-watch.ts";

/** Waits until its sandbox closes. */
const WAITING = "await new Promise((done) => setTimeout(done, 50_000));";
const LOOK_MS = 20;
/** The parent of the gateway leaves descriptor 40 open for its children. */
const INHERITED = 40;

/** The engine is the last of the processes that a sandbox starts for one child. */
async function findEngine(pids: ReadonlySet<number>): Promise<number> {
  const until = performance.now() + LATE_MS;
  while (performance.now() < until) {
    const engine = [...pids].flatMap(listBelow).findLast((pid) => readStatus(pid, "Name") !== "bwrap");
    if (engine !== undefined && isUp(engine)) return engine;
    await sleep(LOOK_MS);
  }
  throw new Error("The engine did not start");
}

/** Node's processes are recognized by their threads; until one is ready, it has a socket more and reads its own files. */
function isUp(pid: number): boolean {
  try {
    const name = readStatus(pid, "Name") === "workerd" ? "workerd" : "isolate";
    const isReading = listFiles(pid).some((file) => !OWN_FILES[name].includes(file));
    const hasThreads = name === "workerd" || readdirSync(`/proc/${pid}/task`).length > 2;
    return hasThreads && countSockets(pid) === OWN_SOCKETS[name] && !isReading;
  } catch {
    return false; // a starting process opens and closes files, and may be replaced
  }
}

/** Errors and the wire. workerd has a socket from which it takes the wire, and a pair with both ends in it. */
const OWN_SOCKETS: Readonly<Record<EngineName, number>> = { isolate: 2, quickjs: 2, workerd: 5, auto: 2 };
/** workerd keeps its root open; confined, that root has only its own files. */
const OWN_FILES: Readonly<Record<EngineName, readonly string[]>> = {
  isolate: ["/dev/null"],
  quickjs: ["/dev/null"],
  workerd: ["/", "/dev/null"],
  auto: ["/dev/null"],
};

/** Each socket once, even with several descriptors. */
function countSockets(pid: number): number {
  return new Set([...listDescriptors(pid).values()].filter((link) => link.startsWith("socket:"))).size;
}

/** Without those that the process closes while they are listed. */
function listDescriptors(pid: number): ReadonlyMap<number, string> {
  const links = new Map<number, string>();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    const link = readLink(`/proc/${pid}/fd/${name}`);
    if (link !== undefined) links.set(Number(name), link);
  }
  return links;
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** What the engines below a gateway have at the inherited descriptor. A process that has ended has nothing. */
function listInherited(gateway: number): readonly (string | undefined)[] {
  return listBelow(gateway)
    .slice(1)
    .flatMap((pid) => {
      try {
        const descriptors = listDescriptors(pid);
        return descriptors.has(3) ? [descriptors.get(INHERITED)] : [];
      } catch {
        return [];
      }
    });
}

function listFiles(pid: number): readonly string[] {
  return [...listDescriptors(pid).values()].filter((link) => !/^(socket|pipe|anon_inode):/.test(link));
}

function readEnvironment(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean).toSorted();
}

/** The listening sockets of a process. */
function listListeners(pid: number): readonly string[] {
  const owned = new Set(
    [...listDescriptors(pid).values()].flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []),
  );
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "latin1")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .flatMap((fields) => (fields[3] === "0A" && owned.has(fields[9] ?? "") ? [fields[1] ?? ""] : [])),
  );
}

const PLACES = ENGINES.flatMap((name) => LEVELS.map((level) => [name, level] as const));

for (const [name, level] of PLACES) {
  describe(`a running child of ${name} at level ${level}`, () => {
    let sandbox: EscapeSandbox;
    let run: Promise<Run>;
    let engine = 0;
    let gateway: ChildProcess | undefined;
    before(async () => {
      const pids = new Set<number>();
      sandbox = await openEscapeSandbox(await confineAt(name, level), pids);
      run = sandbox.run(WAITING);
      engine = await findEngine(pids);
    });
    after(async () => {
      gateway?.kill("SIGKILL");
      await sandbox[Symbol.asyncDispose]();
      await run;
    });

    test(`a child of ${name} at level ${level} has sockets for its errors and the wire, and no other resource of the host`, () => {
      const links = [...listDescriptors(engine)];
      assert.equal(countSockets(engine), OWN_SOCKETS[name]);
      // The pipes of its event loop, with both ends in the process.
      const pipes = links.map(([, link]) => link).filter((link) => link.startsWith("pipe:"));
      assert.deepEqual(
        pipes.filter((pipe) => pipes.filter((other) => other === pipe).length !== 2),
        [],
      );
      assert.deepEqual([...new Set(listFiles(engine))].toSorted(), OWN_FILES[name]);
    });

    test(`a child of ${name} at level ${level} has only the listed variables in its environment`, () => {
      const allowed = { strict: ["OPENSSL_CONF=/none", "TZ=UTC"], process: ["LC_ALL=en_US.UTF-8", "TZ=UTC"] };
      assert.deepEqual(readEnvironment(engine), allowed[level]);
    });

    test(`a child of ${name} at level ${level} opens no inspector on SIGUSR1, and is replaced if it dies`, async () => {
      process.kill(engine, "SIGUSR1");
      await sleep(200);
      if (readStatus(engine, "Pid") !== "") assert.deepEqual(listListeners(engine), []);
      assert.equal(await sandbox.value("return 2"), 2);
    });

    test(`a child of ${name} at level ${level} ends with its sandbox in the middle of a loop`, async () => {
      const pids = new Set<number>();
      const sandbox = await openEscapeSandbox(await confineAt(name, level), pids);
      const run = sandbox.run("for (;;);", { wallMs: 30_000, cpuMs: 30_000 });
      const engine = await findEngine(pids);
      process.kill(engine, "SIGTERM");
      await sandbox[Symbol.asyncDispose]();
      await run;
      await waitForEnd(engine);
      assert.equal(isAlive(engine), false);
    });

    test(`a child of ${name} at level ${level} has nothing of its host where its gateway inherited a descriptor`, async () => {
      gateway = await startGateway(level, name);
      // The gateway has it; otherwise its absence below would prove nothing.
      assert.match(listDescriptors(known(gateway.pid)).get(INHERITED) ?? "", /^socket:/);
      // A child that is still starting is looked at again.
      const until = performance.now() + LATE_MS;
      let engines = listInherited(known(gateway.pid));
      while (engines.some((link) => link?.startsWith("socket:")) && performance.now() < until) {
        await sleep(LOOK_MS);
        engines = listInherited(known(gateway.pid));
      }
      const links = engines.filter((link) => link !== undefined);
      assert.ok(engines.length > 0);
      // The launcher closes it; without one the null device takes its place. bubblewrap has the null device too.
      assert.deepEqual([...new Set(links)], links.length === 0 ? [] : ["/dev/null"]);
      if (level === "process") assert.ok(links.length > 0);
    });

    test(`a child of ${name} at level ${level} ends after its gateway was killed`, async () => {
      gateway ??= await startGateway(level, name);
      const below = listBelow(known(gateway.pid)).slice(1);
      assert.ok(below.length > 0);
      gateway.kill("SIGKILL");
      await once(gateway, "exit");
      for (const pid of below) await waitForEnd(pid);
      assert.deepEqual(below.filter(isAlive), []);
    });
  });
}

/** A process that opens a sandbox and runs an endless program in it. Starts again if the program did not get so far. */
async function startGateway(...place: readonly [Level, EngineName]): Promise<ChildProcess> {
  const stdio: ("ignore" | "ipc" | "pipe")[] = ["ignore", "ignore", "ignore", "ipc"];
  while (stdio.length < INHERITED) stdio.push("ignore");
  stdio.push("pipe");
  for (let tries = 0; tries < 3; tries += 1) {
    const gateway = fork(new URL("fixtures/gateway-process.ts", import.meta.url), place, { stdio });
    const isRunning = once(gateway, "message").then(() => true);
    if (await Promise.race([isRunning, once(gateway, "exit").then(() => false)])) return gateway;
  }
  throw new Error("The program did not start");
}

async function waitForEnd(pid: number): Promise<void> {
  const until = performance.now() + LATE_MS;
  while (performance.now() < until && isAlive(pid)) await sleep(LOOK_MS);
}

/** A zombie process has ended. */
function isAlive(pid: number): boolean {
  return !["", "Z (zombie)", "X (dead)"].includes(readStatus(pid, "State"));
}

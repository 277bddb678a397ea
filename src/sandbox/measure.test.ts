/** What the kernel's text says of a process, whatever the process calls itself. */

import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openTestSandbox } from "./fixtures/test-sandbox.ts";
import { measureProcess, parsePageBytes, parseStat } from "./measure.ts";
import { LOWEST_PRIORITY } from "./priority.ts";

const STOPPED_MS = 1_000;

function statOf(command: string): string {
  return `4242 (${command}) R 1 4242 4242 0 -1 4194304 100 0 3 0 137 25 7 9 20 0 7 0 12345 1000000 500 18446744073709551615\n`;
}

describe("parseStat", () => {
  for (const command of ["node", "my node", "a) R 1 2 3", "((", ") (", "x) R 9 9 9 9 9 9 9 9 9 9 999 999 (y", ""]) {
    it(`parseStat finds times and pages behind the command ${JSON.stringify(command)}`, () => {
      assert.deepEqual(parseStat(statOf(command), 4_096), { cpuMs: 1_620, residentBytes: 500 * 4_096 });
    });
  }
});

describe("parsePageBytes", () => {
  const vectorOf = (...words: readonly bigint[]): Buffer => Buffer.from(new BigUint64Array(words).buffer);
  it("parsePageBytes finds the page size among the other pairs", () => {
    assert.equal(parsePageBytes(vectorOf(16n, 6n, 6n, 16_384n, 17n, 100n)), 16_384);
  });
  it("parsePageBytes uses the usual page size by default", () => {
    assert.deepEqual([parsePageBytes(vectorOf(17n, 6n)), parsePageBytes(Buffer.alloc(3))], [4_096, 4_096]);
  });
});

describe("measureProcess", () => {
  it("measureProcess measures this process", { skip: process.platform !== "linux" }, () => {
    const measure = measureProcess(process.pid);
    assert.ok(measure && measure.cpuMs >= 0 && measure.residentBytes > 10 * 1024 * 1024);
  });
  it("measureProcess returns as much memory as the platform reports", { skip: process.platform !== "linux" }, () => {
    const before = process.memoryUsage.rss();
    const held = Buffer.alloc(64 * 1024 * 1024, 1);
    const seen = (measureProcess(process.pid)?.residentBytes ?? 0) - before;
    assert.ok(seen > held.length / 2 && seen < held.length * 2, `${seen}`);
  });
  it("measureProcess returns undefined for a process that is gone", () => {
    assert.deepEqual(
      [measureProcess(0x7fff_ffff), measureProcess(0), measureProcess(-1)],
      [undefined, undefined, undefined],
    );
  });
});

it("time in which the child of a program was stopped is not processor time", async () => {
  const { sandbox, run, pids } = await openTestSandbox({}, "isolate");
  await using _closing = sandbox;
  const limits = { wallMs: 600_000, cpuMs: 600_000 };
  const running = run("let x = 0; for (let n = 0; n < 3e8; n += 1) x += n; return 1", { limits });
  const findComputing = (): number | undefined => [...pids].find((pid) => getPriority(pid) === LOWEST_PRIORITY);
  let child = findComputing();
  for (; child === undefined; child = findComputing()) await sleep(5);
  process.kill(child, "SIGSTOP");
  await sleep(STOPPED_MS);
  process.kill(child, "SIGCONT");
  const { ending, usage } = await running;
  assert.deepEqual(ending, { kind: "returned", value: 1 });
  assert.ok(usage.cpuMs > 0 && usage.wallMs - usage.cpuMs > STOPPED_MS / 2, JSON.stringify(usage));
});

/**
 * Interprets the assembled filter as the kernel would, for processors that this machine may not have.
 * `test/escape/confinement.test.ts` shows it in the kernel.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { OWN_PID, SCHEDULING } from "./argument-rules.ts";
import { assembleFilter, assembleSeal } from "./assemble-filter.ts";
import { findNative } from "./native.ts";
import { ACCEPTING, ALLOWED, SEALED_CALLS, SEALING } from "./syscalls.ts";
import { UPSTREAM_CALLS, assembleUpstreamFilter } from "./upstream-filter.ts";

const CONVENTIONS = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
const PROCESSORS = ["x64", "arm64"] as const;
const HIGH = 2 ** 32;

interface Case {
  readonly name: string;
  readonly allowed: readonly (readonly number[])[];
  readonly refused: readonly (readonly number[])[];
}

/** Arguments of calls, by position. */
const CASES: readonly Case[] = [
  { name: "clone", allowed: [[0x3d_0f00]], refused: [[17], [0x7e02_0011]] },
  {
    name: "mmap",
    // Private, private and fixed, a shared file, a stack of a thread.
    allowed: [0x22, 0x32, 0x01, 0x2_0022].map((flags) => [0, 4096, 3, flags]),
    // Shared, shared and validated, shared and fixed, growing down, growing down and shared.
    refused: [0x21, 0x23, 0x31, 0x122, 0x121, 0x21 + HIGH].map((flags) => [0, 4096, 3, flags]),
  },
  {
    name: "openat",
    // O_RDONLY, O_CLOEXEC, O_CLOEXEC | O_NONBLOCK.
    allowed: [0, 0o200_0000, 0o200_4000].map((flags) => [-100, 0, flags]),
    // O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_ASYNC, O_TMPFILE without O_DIRECTORY.
    refused: [1, 2, 0o100, 0o1000, 0o2000, 0o2_0000, 0o2000_0000].map((flags) => [-100, 0, flags]),
  },
  { name: "tgkill", allowed: [[OWN_PID, 7, 6]], refused: [[0], [1, 1, 9], [2, 2, 9], [-1, 2, 9]] },
  // SECCOMP_SET_MODE_FILTER for all threads; not strict mode, one thread, a log, a listener.
  {
    name: "seccomp",
    allowed: [[1, 1, 4096]],
    refused: [
      [0, 0],
      [1, 0],
      [1, 3],
      [1, 8],
      [1, 9],
      [2, 0],
      [3, 0],
    ],
  },
  { name: "prlimit64", allowed: [[0, 7, 0, 4096]], refused: [[1], [2], [0, 3, 4096], [0, 3, 4 * HIGH]] },
  {
    name: "fcntl",
    // F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL with O_NONBLOCK, F_DUPFD_CLOEXEC.
    allowed: [[0], [1], [2], [3], [4, 0o4000], [1030]].map((rest) => [3, ...rest]),
    // F_SETFL with O_ASYNC, F_SETLK, F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETPIPE_SZ, F_ADD_SEALS.
    refused: [[4, 0o2_0000], [4, 0o2_4000], [6], [8], [10], [15], [1031], [1033]].map((rest) => [3, ...rest]),
  },
  {
    name: "ioctl",
    allowed: [0x5401, 0x541b, 0x5421, 0x5451].map((request) => [0, request]),
    // TCSETS, TIOCSTI, TIOCLINUX, FIOASYNC, FIOSETOWN, SIOCGIFCONF, and neighbors of the allowed ones.
    refused: [0x5402, 0x5412, 0x541c, 0x5452, 0x8901, 0x8912, 0x5400, 0x5420, 0x5422].map((request) => [0, request]),
  },
  {
    name: "prctl",
    allowed: [[15], [0x5356_4d41]],
    // PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_PTRACER, and neighbors of PR_SET_NAME.
    refused: [[1], [4], [22], [0x5961_6d61], [14], [16]],
  },
];

for (const processor of PROCESSORS) {
  describe(`the system call filter for ${processor}`, () => {
    const run = (name: string, args: readonly number[] = [], acceptsWire = false): string =>
      interpret(
        assembleFilter(processor, { acceptsWire, isSealed: true }),
        CONVENTIONS[processor],
        numberOf(processor, name),
        args,
      );

    for (const { name, allowed, refused } of CASES) {
      test(`the filter for ${processor} allows "${name}" with harmless arguments and refuses the others`, () => {
        for (const acceptsWire of [false, true]) {
          const outcomes = (calls: Case["allowed"]): readonly string[] =>
            calls.map((args) => run(name, args, acceptsWire));
          assert.deepEqual(outcomes(allowed), Array(allowed.length).fill("allow"));
          assert.deepEqual(outcomes(refused), Array(refused.length).fill("errno 1"));
        }
      });
    }

    test(`the filter for ${processor} allows O_PATH to workerd only`, () => {
      const paths = [-100, 0, 0o1000_0000];
      assert.deepEqual([run("openat", paths), run("openat", paths, true)], ["errno 1", "allow"]);
    });

    test(`the filter for ${processor} allows "sendto" to workerd only, without an address`, () => {
      const outcomes = [0, 4096, HIGH].map((address) => run("sendto", [3, 0, 0, 0, address], true));
      assert.deepEqual([run("sendto"), ...outcomes], ["errno 1", "allow", "errno 1", "errno 1"]);
    });

    test(`the filter for ${processor} allows every other listed call with any arguments`, () => {
      const ruled = new Set(["open", "sendto", ...SCHEDULING.map(([name]) => name), ...CASES.map(({ name }) => name)]);
      const names = [...ALLOWED, ACCEPTING, SEALING].flatMap((group) => Object.keys(group[processor]));
      const others = names.filter(
        (name) => !ruled.has(name) && run(name, Array(6).fill(2 ** 40 + 1), true) !== "allow",
      );
      assert.deepEqual(others, []);
    });

    test(`the filter for ${processor} refuses unlisted numbers, clone3 and other calling conventions`, () => {
      const filter = assembleFilter(processor);
      const outcomes = [434, 435, 0x4000_0000, -1].map((call) => interpret(filter, CONVENTIONS[processor], call, []));
      assert.deepEqual(outcomes, ["errno 1", "errno 38", "errno 1", "errno 1"]);
      const other = CONVENTIONS[processor === "x64" ? "arm64" : "x64"];
      assert.equal(interpret(filter, other, numberOf(processor, "read"), []), "kill");
    });

    test(`the filter for ${processor} has a different number for every call`, () => {
      const numbers = [...ALLOWED, ACCEPTING, SEALING].flatMap((group) => Object.values(group[processor]));
      assert.equal(new Set(numbers).size, numbers.length);
    });
  });
}

test('the filter for x64 applies the rule of "openat" to "open"', () => {
  const run = (flags: number): string =>
    interpret(assembleFilter("x64"), CONVENTIONS.x64, numberOf("x64", "open"), [0, flags]);
  assert.deepEqual([run(0), run(1), run(0o1000)], ["allow", "errno 1", "errno 1"]);
});

test("a processor without system call numbers has no native parts", () => {
  assert.equal(findNative("linux", "riscv64"), undefined);
  assert.equal(findNative("darwin", "arm64"), undefined);
  assert.equal(findNative("linux", "arm64")?.processor, "arm64");
});

for (const processor of PROCESSORS) {
  describe(`the filter of the second stage for ${processor}`, () => {
    const run = (name: string, args: readonly number[] = [], makesThreads = false): string =>
      interpret(assembleSeal(processor, makesThreads), CONVENTIONS[processor], numberOf(processor, name), args);

    test(`the second filter for ${processor} allows the listed calls, and no call that takes a path, a socket or a process`, () => {
      const names = [...ALLOWED, ACCEPTING, SEALING].flatMap((group) => Object.keys(group[processor]));
      const answered = new Map(
        SCHEDULING.map(([name]) => [name, name === "sched_getaffinity" ? "errno 38" : "errno 0"]),
      );
      for (const name of names) {
        const expected = SEALED_CALLS.includes(name) ? "allow" : (answered.get(name) ?? "errno 1");
        assert.equal(run(name), expected, name);
      }
    });

    test(`the second filter for ${processor} allows "clone" to engines that start threads only`, () => {
      assert.deepEqual([run("clone"), run("clone", [], true)], ["errno 1", "allow"]);
    });
  });
}

for (const processor of PROCESSORS) {
  const headers = { x64: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", arm64: "/usr/include/asm-generic/unistd.h" };
  const header = headers[processor];
  test(
    `the system call numbers for ${processor} are those of the kernel's headers`,
    { skip: !existsSync(header) },
    () => {
      const text = readFileSync(header, "utf8");
      const numbers = new Map(
        [...text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)].map(([, name, number]) => [name, Number(number)]),
      );
      // The names of the header of arm64 for calls with another name on 64-bit processors.
      const older: Readonly<Record<string, string>> = { newfstatat: "fstatat" };
      const index = processor === "x64" ? 0 : 1;
      const ofServers = Object.entries(UPSTREAM_CALLS).flatMap(([name, numbers]) =>
        numbers[index] === null ? [] : [[name, numbers[index]] as const],
      );
      const ofEngines = [...ALLOWED, ACCEPTING, SEALING].flatMap((group) => Object.entries(group[processor]));
      for (const [name, number] of [...ofEngines, ...ofServers]) {
        assert.equal(numbers.get(name) ?? numbers.get(older[name] ?? ""), number, name);
      }
    },
  );
}

const UNIX = [1, 1, 0];
const NAMESPACES = { kind: "namespaces", isRoot: false } as const;
const AS_ROOT = { kind: "namespaces", isRoot: true } as const;
const LANDLOCK = { kind: "landlock", version: 6 } as const;

/** What the filter of a server allows with one wall or both, and refuses with the rest. */
const UPSTREAM_CASES: readonly (readonly [
  name: string,
  args: readonly number[],
  namespaces: boolean,
  landlock: boolean,
])[] = [
  ["socket", [2, 1, 6], true, true],
  ["socket", [10, 0o2000001, 0], true, true],
  ["socket", [2, 2, 0], true, false], // UDP, in a network of its own or not
  ["socket", [2, 1, 262], true, false], // MPTCP
  ["socket", [16, 3, 0], true, false],
  ["socket", [16, 3, 9], false, false],
  ["socket", UNIX, false, false],
  ["socket", [40, 1, 0], false, false],
  ["socketpair", [1, 1], true, true],
  ["socketpair", [1, 0o2000005], true, true],
  ["socketpair", [1, 2], false, false], // datagrams, which can be sent to other sockets
  ["listen", [3, 1], true, false],
  ["shmat", [0], false, false],
  ["clone", [0x3d_0f00], true, true],
  ["clone", [17], true, true],
  ["clone", [0x1000_0011], false, false],
  ["sendto", [3, 0, 0, 0x2000_0000], true, false],
  ["fcntl", [3, 8], false, false],
  ["fcntl", [3, 4, 0o2000], true, true],
  ["fcntl", [3, 1024, 1], false, false], // a lease, which lets other processes wait
  ["ioctl", [0, 0x5412], false, false],
  ["ioctl", [0, 0x5401], true, true],
  ["ioctl", [3, 0x4008_6602], false, false], // flags of a file
  ["ioctl", [3, 0x8008_6601], true, true],
  ["ioctl", [3, 0x401c_5820], false, false], // its extended flags
  ["ioctl", [3, 0x5000_9417], false, false], // a snapshot of a volume of btrfs
  ["ioctl", [3, 0x4004_9409], true, true], // a copy that shares its blocks
  ["openat", [-100, 0, 0o101, 0o755], true, true],
  ["openat", [-100, 0, 0o101, 0o4755], false, false], // a file that runs with the rights of its owner
  ["openat", [-100, 0, 0, 0o4755], true, true], // the mode is not read
  ["openat2", [-100], false, false],
  ["mknodat", [-100, 0, 0o010600], true, true],
  ["mknodat", [-100, 0, 0o102755], false, false],
  ["fchmod", [3, 0o755], true, false],
  ["fchmod", [3, 0o4755], false, false],
  ["fsetxattr", [3], true, false],
  ["prlimit64", [0], true, true],
  ["prlimit64", [1], false, false],
  ["fchmodat", [-100], true, false],
  ["kill", [1, 9], true, true], // version 6 of Landlock confines signals
  ["ptrace", [16, 1], false, false],
  ["mount", [], false, false],
  ["bpf", [], false, false],
];

for (const processor of PROCESSORS) {
  const index = processor === "x64" ? 0 : 1;
  const decide = (filter: Buffer, name: string, args: readonly number[]): string =>
    interpret(filter, CONVENTIONS[processor], UPSTREAM_CALLS[name]?.[index] ?? Number.NaN, args);

  test(`the filter of a server for ${processor} refuses what reaches around its walls and nothing else`, () => {
    const filters = [NAMESPACES, LANDLOCK].map((wall) => assembleUpstreamFilter(processor, wall));
    for (const [name, args, ...allowed] of UPSTREAM_CASES) {
      const decided = filters.map((filter) => decide(filter, name, args) === "allow");
      assert.deepEqual(decided, allowed, `${name} ${args.join(" ")}`);
    }
  });

  test(`the filter of a server of root for ${processor} keeps the modes of devices`, () => {
    const filter = assembleUpstreamFilter(processor, AS_ROOT);
    const decided = ["fchmod", "fchmodat", "fchown", "fsetxattr", "utimensat", "listen"].map((name) =>
      decide(filter, name, [3, 0]),
    );
    assert.deepEqual(decided, ["errno 1", "errno 1", "errno 1", "errno 1", "allow", "allow"]);
  });

  test(`the filter of a server for ${processor} hides system calls that are newer than its list`, () => {
    for (const wall of [NAMESPACES, LANDLOCK]) {
      const filter = assembleUpstreamFilter(processor, wall);
      const decided = [451, 452, 463, 100_000].map((call) => interpret(filter, CONVENTIONS[processor], call, []));
      assert.deepEqual(decided, ["allow", "errno 38", "errno 38", "errno 38"]);
    }
  });

  test(`the filter of a server for ${processor} confines signals where Landlock does not`, () => {
    const older = assembleUpstreamFilter(processor, { kind: "landlock", version: 5 });
    assert.deepEqual([decide(older, "kill", [1, 9]), decide(older, "kill", [OWN_PID, 9])], ["errno 1", "allow"]);
  });
}

function numberOf(processor: "x64" | "arm64", name: string): number {
  const calls = [...ALLOWED, ACCEPTING, SEALING].flatMap((group) => Object.entries(group[processor]));
  const number = calls.find(([known]) => known === name)?.[1];
  assert.ok(number !== undefined, name);
  return number;
}

/** The kernel's interpreter for the opcodes that seccomp filters use here. */
function interpret(filter: Buffer | undefined, convention: number, call: number, args: readonly number[]): string {
  assert.ok(filter);
  const data = Buffer.alloc(64);
  data.writeInt32LE(call | 0, 0);
  data.writeUInt32LE(convention, 4);
  for (const [index, value] of args.entries()) data.writeBigInt64LE(BigInt(value), 16 + 8 * index);
  let held = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const value = filter.readUInt32LE(at + 4);
    const code = filter.readUInt16LE(at);
    if (code === 0x06) return describeAction(value);
    if (code === 0x20) held = data.readUInt32LE(value);
    else if (code === 0x54) held = (held & value) >>> 0;
    else at += 8 * filter.readUInt8(at + (holds(code, held, value) ? 2 : 3));
  }
  throw new Error("The filter ends without an action");
}

function holds(code: number, held: number, value: number): boolean {
  if (code === 0x15) return held === value;
  if (code === 0x35) return held >= value;
  assert.equal(code, 0x45);
  return (held & value) !== 0;
}

function describeAction(value: number): string {
  if (value === 0x8000_0000) return "kill";
  return value === 0x7fff_0000 ? "allow" : `errno ${value - 0x0005_0000}`;
}

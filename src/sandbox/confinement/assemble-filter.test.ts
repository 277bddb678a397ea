/**
 * Interprets the assembled filter as the kernel would, for processors that this machine may not have.
 * `test/escape/confinement.test.ts` shows it in the kernel.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { assembleFilter } from "./assemble-filter.ts";
import { ACCEPTING, ALLOWED } from "./syscalls.ts";

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
  { name: "tgkill", allowed: [[1, 7, 6]], refused: [[0], [2, 2, 9], [-1, 2, 9]] },
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
      interpret(assembleFilter(processor, acceptsWire), CONVENTIONS[processor], numberOf(processor, name), args);

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
      const ruled = new Set(["open", "sendto", ...CASES.map(({ name }) => name)]);
      const names = [...ALLOWED, ACCEPTING].flatMap((group) => Object.keys(group[processor]));
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
      const numbers = [...ALLOWED, ACCEPTING].flatMap((group) => Object.values(group[processor]));
      assert.equal(new Set(numbers).size, numbers.length);
    });
  });
}

test('the filter for x64 applies the rule of "openat" to "open"', () => {
  const run = (flags: number): string =>
    interpret(assembleFilter("x64"), CONVENTIONS.x64, numberOf("x64", "open"), [0, flags]);
  assert.deepEqual([run(0), run(1), run(0o1000)], ["allow", "errno 1", "errno 1"]);
});

test("a processor without system call numbers gets undefined instead of a filter", () => {
  assert.equal(assembleFilter("riscv64"), undefined);
});

function numberOf(processor: "x64" | "arm64", name: string): number {
  const calls = [...ALLOWED, ACCEPTING].flatMap((group) => Object.entries(group[processor]));
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

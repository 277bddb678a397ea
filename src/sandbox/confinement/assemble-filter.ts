/** Writes the seccomp filter as the kernel reads it: classic BPF, eight bytes an instruction. */

import { ACCEPTING, ALLOWED } from "./syscalls.ts";
import type { AllowedGroup } from "./syscalls.ts";

/** Opcodes of linux/bpf_common.h. */
const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_GREATER_EQUAL = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP_ALL_SET = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

/** Offsets in struct seccomp_data. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
/** Its two halves: the address that `sendto` names. */
const FIFTH_ARGUMENT_LOW = 48;
const FIFTH_ARGUMENT_HIGH = 52;

const AUDIT_ARCH_X86_64 = 0xc000_003e;
/** Calls of the x32 ABI carry this bit and would pass a filter that only knows the plain numbers. */
const X32_BIT = 0x4000_0000;
const CLONE_THREAD = 0x0001_0000;
/** The calls whose arguments the filter checks. */
const CLONE = 56;
const SENDTO = 44;
/** Its flags are in memory, which a filter cannot read: it fails with ENOSYS, and the C library uses `clone` instead. */
const CLONE3 = 435;

const KILL = 0x8000_0000;
const ALLOW = 0x7fff_0000;
const FAIL = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;

interface Instruction {
  readonly code: number;
  readonly value: number;
  /** Instructions to skip when the test holds, and when it does not. */
  readonly yes?: number;
  readonly no?: number;
}

/** The filter for this processor; `undefined` without system call numbers for it. */
export function assembleFilter(architecture: string, acceptsWire = false): Buffer | undefined {
  if (architecture !== "x64") return undefined;
  const wire = acceptsWire ? [...REFUSE_ADDRESSED, ...allowListed([ACCEPTING])] : [];
  return encode([
    ...REFUSE_FOREIGN,
    { code: JUMP_EQUAL, value: CLONE3, yes: 0, no: 1 },
    fail(ENOSYS),
    ...ALLOW_THREADS,
    ...allowListed(ALLOWED),
    ...wire,
    fail(EPERM),
  ]);
}

/** Another calling convention has other numbers, which the rest of the filter would misread. */
const REFUSE_FOREIGN: readonly Instruction[] = [
  { code: LOAD, value: ARCHITECTURE },
  { code: JUMP_EQUAL, value: AUDIT_ARCH_X86_64, yes: 1, no: 0 },
  { code: RETURN, value: KILL },
  { code: LOAD, value: NUMBER },
  { code: JUMP_GREATER_EQUAL, value: X32_BIT, yes: 0, no: 1 },
  fail(EPERM),
];

/** `clone` makes a process unless CLONE_THREAD is set; the flags are its first argument. */
const ALLOW_THREADS: readonly Instruction[] = [
  { code: JUMP_EQUAL, value: CLONE, yes: 0, no: 4 },
  { code: LOAD, value: FIRST_ARGUMENT },
  { code: JUMP_ALL_SET, value: CLONE_THREAD, yes: 0, no: 1 },
  { code: RETURN, value: ALLOW },
  fail(EPERM),
];

/** `sendto` without an address uses the connection; with one it could reach other sockets from a private pair. */
const REFUSE_ADDRESSED: readonly Instruction[] = [
  { code: JUMP_EQUAL, value: SENDTO, yes: 0, no: 6 },
  { code: LOAD, value: FIFTH_ARGUMENT_LOW },
  { code: JUMP_EQUAL, value: 0, yes: 0, no: 3 },
  { code: LOAD, value: FIFTH_ARGUMENT_HIGH },
  { code: JUMP_EQUAL, value: 0, yes: 0, no: 1 },
  { code: RETURN, value: ALLOW },
  fail(EPERM),
];

function allowListed(groups: readonly AllowedGroup[]): readonly Instruction[] {
  const numbers = groups.flatMap(({ x64 }) => Object.values(x64)).filter((number) => number !== CLONE);
  return numbers.flatMap((value) => [
    { code: JUMP_EQUAL, value, yes: 0, no: 1 },
    { code: RETURN, value: ALLOW },
  ]);
}

function fail(errno: number): Instruction {
  return { code: RETURN, value: FAIL | errno };
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, value, yes = 0, no = 0 }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}

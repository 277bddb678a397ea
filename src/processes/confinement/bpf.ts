/** Classic BPF as seccomp uses it: instructions, and their bytes as the kernel reads them. */

/** Opcodes of linux/bpf_common.h. */
const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const KEEP_BITS = 0x54; // BPF_ALU | BPF_AND | BPF_K
const JUMP_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_GREATER_EQUAL = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP_ANY_SET = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

/** Actions of linux/seccomp.h. */
const KILL_PROCESS = 0x8000_0000;
const FAIL = 0x0005_0000;

/** Offsets in struct seccomp_data. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

const BYTES = 8;

export interface Instruction {
  readonly code: number;
  readonly value: number;
  /** Instructions to skip when the test holds, and when it does not. */
  readonly yes?: number;
  readonly no?: number;
}

export const EPERM = 1;
export const ENOSYS = 38;

export const KILL: Instruction = { code: RETURN, value: KILL_PROCESS };
export const ALLOW: Instruction = { code: RETURN, value: 0x7fff_0000 };
export const REFUSE: Instruction = fail(EPERM);
export const LOAD_NUMBER: Instruction = { code: LOAD, value: NUMBER };
export const LOAD_ARCHITECTURE: Instruction = { code: LOAD, value: ARCHITECTURE };

/** The call is not made, and reports that it succeeded. */
export const PRETEND: Instruction = { code: RETURN, value: FAIL };

export function fail(errno: number): Instruction {
  return { code: RETURN, value: FAIL | errno };
}

/** The lower half of an argument, counted from 0: all that the kernel reads of an `int`. */
export function loadArgument(index: number): Instruction {
  return { code: LOAD, value: FIRST_ARGUMENT + 8 * index };
}

export function loadUpperHalf(index: number): Instruction {
  return { code: LOAD, value: FIRST_ARGUMENT + 8 * index + 4 };
}

export function keepBits(value: number): Instruction {
  return { code: KEEP_BITS, value };
}

export function ifEqual(value: number, yes: number, no: number): Instruction {
  return { code: JUMP_EQUAL, value, yes, no };
}

export function ifAtLeast(value: number, yes: number, no: number): Instruction {
  return { code: JUMP_GREATER_EQUAL, value, yes, no };
}

export function ifAnySet(value: number, yes: number, no: number): Instruction {
  return { code: JUMP_ANY_SET, value, yes, no };
}

export function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * BYTES);
  for (const [index, { code, value, yes = 0, no = 0 }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * BYTES);
    bytes.writeUInt8(yes, index * BYTES + 2);
    bytes.writeUInt8(no, index * BYTES + 3);
    bytes.writeUInt32LE(value >>> 0, index * BYTES + 4);
  }
  return bytes;
}

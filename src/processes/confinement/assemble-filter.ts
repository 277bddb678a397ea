/** Writes the seccomp filters: the listed system calls, some of them with listed arguments only. */

import {
  ALLOW,
  ENOSYS,
  KILL,
  LOAD_ARCHITECTURE,
  LOAD_NUMBER,
  PRETEND,
  REFUSE,
  encode,
  fail,
  ifAtLeast,
  ifEqual,
} from "./bpf.ts";
import type { Instruction } from "./bpf.ts";
import { argumentRules } from "./argument-rules.ts";
import { ACCEPTING, ALLOWED, SEALED_CALLS, SEALING } from "./syscalls.ts";

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h. */
const CONVENTIONS = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
/** Calls of the x32 ABI carry this bit and would pass a filter that only knows the plain numbers. */
const X32_BIT = 0x4000_0000;
/** Its flags are in memory, which a filter cannot read: it fails with ENOSYS, and the C library uses `clone` instead. */
const CLONE3 = 435;

export type Processor = keyof typeof CONVENTIONS;

export interface FilterOptions {
  /** The child accepts its wire from a listening socket. */
  readonly acceptsWire?: boolean;
  /** The child puts on the filter of the second stage. */
  readonly isSealed?: boolean;
}

/** In effect from the start of the engine. */
export function assembleFilter(
  processor: Processor,
  { acceptsWire = false, isSealed = false }: FilterOptions = {},
): Buffer {
  const groups = [...ALLOWED, ...(acceptsWire ? [ACCEPTING] : []), ...(isSealed ? [SEALING] : [])];
  const rules = argumentRules(acceptsWire);
  const calls = groups.flatMap((group) => Object.entries(group[processor]));
  return assembleAround(
    processor,
    calls.map(([name, number]) => ({ number, body: rules.get(name) ?? [ALLOW] })),
    REFUSE,
  );
}

/** The second stage, in effect once the engine is ready. What the first filter refuses stays refused. */
export function assembleSeal(processor: Processor, makesThreads: boolean): Buffer {
  const numbers = new Map(ALLOWED.flatMap((group) => Object.entries(group[processor])));
  const scheduling = { sched_getscheduler: [PRETEND], sched_getparam: [PRETEND], sched_getaffinity: [fail(ENOSYS)] };
  const bodies = new Map<string, readonly Instruction[]>(Object.entries(scheduling));
  const names = [...SEALED_CALLS, ...(makesThreads ? ["clone"] : []), ...bodies.keys()];
  return assembleAround(
    processor,
    names.map((name) => ({ number: numbers.get(name) ?? missing(name), body: bodies.get(name) ?? [ALLOW] })),
    REFUSE,
  );
}

function missing(name: string): never {
  throw new TypeError(`The system call ${name} has no number`);
}

/** A system call, and the instructions that decide about it. Every path through them returns. */
interface DecidedCall {
  readonly number: number;
  readonly body: readonly Instruction[];
}

/** `first` sees the number before any list. `otherwise` decides about every call that is not listed. */
export function assembleAround(
  processor: Processor,
  calls: readonly DecidedCall[],
  otherwise: Instruction,
  first: readonly Instruction[] = [],
): Buffer {
  return encode([
    ...refuseForeign(CONVENTIONS[processor]),
    ...first,
    ...when(CLONE3, [fail(ENOSYS)]),
    ...calls.flatMap(({ number, body }) => when(number, body)),
    otherwise,
  ]);
}

/** Another calling convention has other numbers, which the rest of the filter would misread. */
function refuseForeign(convention: number): readonly Instruction[] {
  return [LOAD_ARCHITECTURE, ifEqual(convention, 1, 0), KILL, LOAD_NUMBER, ifAtLeast(X32_BIT, 0, 1), REFUSE];
}

function when(number: number, body: readonly Instruction[]): readonly Instruction[] {
  return [ifEqual(number, 0, body.length), ...body];
}

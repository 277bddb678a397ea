/** Writes the seccomp filter: the listed system calls, some of them with listed arguments only. */

import { argumentRules } from "./argument-rules.ts";
import {
  ALLOW,
  ENOSYS,
  KILL,
  LOAD_ARCHITECTURE,
  LOAD_NUMBER,
  REFUSE,
  encode,
  fail,
  ifAtLeast,
  ifEqual,
} from "./bpf.ts";
import type { Instruction } from "./bpf.ts";
import { ACCEPTING, ALLOWED } from "./syscalls.ts";

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h. */
const CONVENTIONS = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
/** Calls of the x32 ABI carry this bit and would pass a filter that only knows the plain numbers. */
const X32_BIT = 0x4000_0000;
/** Its flags are in memory, which a filter cannot read: it fails with ENOSYS, and the C library uses `clone` instead. */
const CLONE3 = 435;

/** The filter for this processor; `undefined` without system call numbers for it. */
export function assembleFilter(architecture: string, acceptsWire = false): Buffer | undefined {
  if (architecture !== "x64" && architecture !== "arm64") return undefined;
  const groups = acceptsWire ? [...ALLOWED, ACCEPTING] : ALLOWED;
  const rules = argumentRules(acceptsWire);
  const calls = groups.flatMap((group) => Object.entries(group[architecture]));
  return encode([
    ...refuseForeign(CONVENTIONS[architecture]),
    ...when(CLONE3, [fail(ENOSYS)]),
    ...calls.flatMap(([name, number]) => when(number, rules.get(name) ?? [ALLOW])),
    REFUSE,
  ]);
}

/** Another calling convention has other numbers, which the rest of the filter would misread. */
function refuseForeign(convention: number): readonly Instruction[] {
  return [LOAD_ARCHITECTURE, ifEqual(convention, 1, 0), KILL, LOAD_NUMBER, ifAtLeast(X32_BIT, 0, 1), REFUSE];
}

function when(number: number, body: readonly Instruction[]): readonly Instruction[] {
  return [ifEqual(number, 0, body.length), ...body];
}

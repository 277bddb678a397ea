/**
 * The allowed system calls that are allowed with some arguments only. A rule starts after the number matched, and every
 * path through it returns, because it loads an argument over the number. All values are the same on x86-64 and arm64.
 */

import {
  ALLOW,
  ENOSYS,
  PRETEND,
  REFUSE,
  fail,
  ifAnySet,
  ifEqual,
  keepBits,
  loadArgument,
  loadUpperHalf,
} from "./bpf.ts";
import type { Instruction } from "./bpf.ts";

/** The launcher puts its own process id here, which the engine keeps. 0 means the caller. */
export const OWN_PID = 0x5049_4421;
const CALLER = 0;

/** SECCOMP_SET_MODE_FILTER, and SECCOMP_FILTER_FLAG_TSYNC. */
const SET_FILTER = 1;
const ALL_THREADS = 1;

const CLONE_THREAD = 0x1_0000;

const MAP_SHARED = 0x01; // also set in MAP_SHARED_VALIDATE
const MAP_ANONYMOUS = 0x20;
const MAP_GROWSDOWN = 0x100;

const O_ASYNC = 0o2_0000;
const O_PATH = 0o1000_0000;
/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_ASYNC, and the bit of its own of O_TMPFILE. */
const NOT_READ_ONLY = 0o3 | 0o100 | 0o1000 | 0o2000 | O_ASYNC | 0o2000_0000;

/** F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC. */
const DESCRIPTOR_COMMANDS = [0, 1, 2, 3, 1030];
const F_SETFL = 4;
/** TCGETS, FIONREAD, FIONBIO, FIOCLEX. */
const REQUESTS = [0x5401, 0x541b, 0x5421, 0x5451];
/** PR_SET_NAME, PR_SET_VMA: names of threads and of memory. */
const NAMES = [15, 0x5356_4d41];

/** By the name of the call. workerd, which accepts its wire, refers to its root by O_PATH. */
export function argumentRules(acceptsWire: boolean): ReadonlyMap<string, readonly Instruction[]> {
  const openFlags = acceptsWire ? NOT_READ_ONLY : NOT_READ_ONLY | O_PATH;
  return new Map<string, readonly Instruction[]>([
    // Without CLONE_THREAD it makes a process.
    ["clone", [loadArgument(0), ifAnySet(CLONE_THREAD, 0, 1), ALLOW, REFUSE]],
    ["mmap", COUNTED_MEMORY],
    ["open", noneSet(1, openFlags)],
    ["openat", noneSet(2, openFlags)],
    ["tgkill", oneOf(0, [OWN_PID])],
    ["prlimit64", READ_OWN_LIMITS],
    ["fcntl", DESCRIPTOR_FLAGS],
    ["ioctl", oneOf(1, REQUESTS)],
    ["prctl", oneOf(0, NAMES)],
    ["sendto", UNADDRESSED],
    [
      "seccomp",
      [loadArgument(0), ifEqual(SET_FILTER, 0, 3), loadArgument(1), ifEqual(ALL_THREADS, 0, 1), ALLOW, REFUSE],
    ],
    ...SCHEDULING,
  ]);
}

/** Their answers tell whether a process exists. Every thread here has the usual policy, and the rest is for the caller. */
export const SCHEDULING: readonly (readonly [string, readonly Instruction[]])[] = [
  ["sched_getscheduler", [PRETEND]],
  ["sched_getparam", [PRETEND]],
  ["sched_getaffinity", [loadArgument(0), ifEqual(CALLER, 0, 1), ALLOW, fail(ENOSYS)]],
];

/** RLIMIT_DATA counts neither shared memory nor memory that grows down like a stack. */
const COUNTED_MEMORY: readonly Instruction[] = [
  loadArgument(3),
  ifAnySet(MAP_GROWSDOWN, 2, 0),
  keepBits(MAP_ANONYMOUS | MAP_SHARED),
  ifEqual(MAP_ANONYMOUS | MAP_SHARED, 0, 1),
  REFUSE,
  ALLOW,
];

/** A limit may be read, of the caller only. It may not be set: the stack has a higher hard limit on most machines. */
const READ_OWN_LIMITS: readonly Instruction[] = [
  loadArgument(0),
  ifEqual(CALLER, 0, 5),
  loadArgument(2),
  ifEqual(0, 0, 3),
  loadUpperHalf(2),
  ifEqual(0, 0, 1),
  ALLOW,
  REFUSE,
];

/** No owner, signal or O_ASYNC: the kernel would send a signal for the child when its pipe has data. */
const DESCRIPTOR_FLAGS: readonly Instruction[] = [
  loadArgument(1),
  ...matchOne(DESCRIPTOR_COMMANDS, 3),
  ifEqual(F_SETFL, 0, 3),
  loadArgument(2),
  ifAnySet(O_ASYNC, 1, 0),
  ALLOW,
  REFUSE,
];

/** `sendto` without an address uses the connection; with one it could reach other sockets from a private pair. */
const UNADDRESSED: readonly Instruction[] = [
  loadArgument(4),
  ifEqual(0, 0, 3),
  loadUpperHalf(4),
  ifEqual(0, 0, 1),
  ALLOW,
  REFUSE,
];

function oneOf(argument: number, values: readonly number[]): readonly Instruction[] {
  return [loadArgument(argument), ...matchOne(values, 1), REFUSE, ALLOW];
}

function noneSet(argument: number, bits: number): readonly Instruction[] {
  return [loadArgument(argument), ifAnySet(bits, 0, 1), REFUSE, ALLOW];
}

/** Skips as many instructions after the last test when one of the values is equal. */
function matchOne(values: readonly number[], skipped: number): readonly Instruction[] {
  return values.map((value, index) => ifEqual(value, values.length - 1 - index + skipped, 0));
}

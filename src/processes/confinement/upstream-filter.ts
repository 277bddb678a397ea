/**
 * The seccomp filter of a program that is not known: an upstream server. It allows every system call but those that
 * reach around the other layers of its confinement.
 */

import type { Processor } from "./assemble-filter.ts";
import { assembleAround } from "./assemble-filter.ts";
import { OWN_PID } from "./argument-rules.ts";
import { ALLOW, ENOSYS, REFUSE, fail, ifAnySet, ifAtLeast, ifEqual, keepBits, loadArgument } from "./bpf.ts";
import type { Instruction } from "./bpf.ts";

/** What keeps a server from files and other processes, beside this filter. */
export type UpstreamWall =
  | { readonly kind: "namespaces"; /** The gateway runs as root. */ readonly isRoot: boolean }
  | { readonly kind: "landlock"; readonly version: number };

/** Names with their numbers on x86-64 and arm64; `null` where a call does not exist. */
type CallTable = Readonly<Record<string, readonly [x64: number, arm64: number | null]>>;

/** Other processes: their memory, descriptors, signals and schedule. */
const OTHER_PROCESSES: CallTable = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  pidfd_open: [434, 434],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  setpriority: [141, 140],
  sched_setaffinity: [203, 122],
  sched_setscheduler: [144, 119],
  sched_setparam: [142, 118],
  sched_setattr: [314, 274],
  ioprio_set: [251, 30],
  get_robust_list: [274, 100],
};

/** Parts of the kernel that no server needs and that had the most flaws, and the machine's own settings. */
const KERNEL: CallTable = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  iopl: [172, null],
  ioperm: [173, null],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  settimeofday: [164, 170],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  quotactl: [179, 60],
};

/** System V IPC and message queues, which other processes of the user share. Their ids are small numbers. */
const SHARED_MEMORY: CallTable = {
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
};

const MOUNTS: CallTable = {
  mount: [165, 40],
  umount2: [166, 39],
  unshare: [272, 97],
  setns: [308, 268],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
};

/** Modes, owners and attributes of files. A descriptor that only reads is enough for the owner of a file. */
const ATTRIBUTES: CallTable = {
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  chown: [92, null],
  fchown: [93, 55],
  lchown: [94, null],
  fchownat: [260, 54],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
};

/** Landlock does not guard them either: times, and a port that the kernel chooses. */
const UNGUARDED: CallTable = {
  utime: [132, null],
  utimes: [235, null],
  futimesat: [261, null],
  utimensat: [280, 88],
  listen: [50, 201],
};

/** A file that runs with the rights of its owner would act for the server when another user starts it. By argument. */
const MODES: Readonly<Record<string, number>> = { chmod: 1, fchmod: 1, fchmodat: 2, creat: 1, mknod: 1, mknodat: 2 };

const SIGNALS: CallTable = {
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
};

const BY_ARGUMENT: CallTable = {
  clone: [56, 220],
  socket: [41, 198],
  socketpair: [53, 199],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  fcntl: [72, 25],
  ioctl: [16, 29],
  prlimit64: [302, 261],
  open: [2, null],
  openat: [257, 56],
  openat2: [437, 437],
  creat: [85, null],
  mknod: [133, null],
  mknodat: [259, 33],
};

/** For the comparison with the kernel's headers. */
export const UPSTREAM_CALLS: CallTable = {
  ...OTHER_PROCESSES,
  ...KERNEL,
  ...SHARED_MEMORY,
  ...MOUNTS,
  ...ATTRIBUTES,
  ...UNGUARDED,
  ...SIGNALS,
  ...BY_ARGUMENT,
};

/**
 * Calls from this number on, of Linux 6.6 and later, do not exist for a server: some do what older ones do that are
 * refused, such as fchmodat2. Numbers from here on are the same on every processor, and programs use the older calls.
 */
const FIRST_NEWER_CALL = 452;

const EAFNOSUPPORT = 97;
const NO_SUCH_FAMILY = fail(EAFNOSUPPORT);
const [AF_INET, AF_INET6, AF_NETLINK] = [2, 10, 16];
/** Version 6 of Landlock confines signals to the processes that a server started. */
const SIGNALS_VERSION = 6;
const NEW_NAMESPACES = 0x7e02_0080;
const MSG_FASTOPEN = 0x2000_0000;
/**
 * F_SETOWN, F_SETSIG, F_SETOWN_EX: the kernel would send a signal for the server. F_SETLEASE: every process that opens the
 * file would wait, the gateway too.
 */
const COMMANDS = [8, 10, 15, 1024];
/** FIOSETOWN, SIOCSPGRP, FIOASYNC: the same; TIOCSTI, TIOCLINUX: input of a terminal. */
const REQUESTS = [0x8901, 0x8902, 0x5452, 0x5412, 0x541c];
/**
 * The kinds of requests to file systems: general, extended attributes and XFS, versions, btrfs, Ceph, F2FS, CIFS. Some
 * change a file that may be read only, and a snapshot of btrfs copies all files of a volume into a folder of the server.
 */
const FILE_SYSTEM_KINDS = [0x66, 0x58, 0x76, 0x94, 0x97, 0xf5, 0xcf].map((kind) => kind << 8);
/** FICLONE, FICLONERANGE, FS_IOC_GETFLAGS: a copy into a file that is open for writing, and flags that are read. */
const HARMLESS_REQUESTS = [0x4004_9409, 0x4020_940d, 0x8008_6601];
const ENOTTY = 25;
const SET_ID_BITS = 0o6000;
/** O_CREAT, and the bit of its own of O_TMPFILE: without them the mode is not read. */
const MAKES_FILE = 0o100 | 0o2000_0000;

/** In effect from the start of a server. */
export function assembleUpstreamFilter(processor: Processor, wall: UpstreamWall): Buffer {
  const hasNamespaces = wall.kind === "namespaces";
  // Root owns the devices that the server is given, and on most machines it can write to them only as devices.
  const attributes = !hasNamespaces || wall.isRoot ? ATTRIBUTES : {};
  const unguarded = hasNamespaces ? {} : UNGUARDED;
  const refused = { ...OTHER_PROCESSES, ...KERNEL, ...SHARED_MEMORY, ...MOUNTS, ...attributes, ...unguarded };
  const rules = new Map<string, readonly Instruction[]>([
    ["clone", noneSet(0, NEW_NAMESPACES)],
    ["socket", hasNamespaces ? OWN_NETWORK : TCP_ONLY],
    ["socketpair", CONNECTED_PAIR],
    ["fcntl", noneOf(1, COMMANDS)],
    ["ioctl", REQUESTED],
    ["prlimit64", OWN_LIMITS],
    ...Object.entries(MODES).map(([name, argument]) => [name, noneSet(argument, SET_ID_BITS)] as const),
    ["open", created(1)],
    ["openat", created(2)],
    ["openat2", [fail(ENOSYS)]], // its flags and mode are in memory, which a filter cannot read
    ...(hasNamespaces ? [] : toGuardedCalls(wall.version)),
    ...Object.keys(refused).map((name) => [name, [REFUSE]] as const),
  ]);
  const index = processor === "x64" ? 0 : 1;
  const calls = [...rules].flatMap(([name, body]) => {
    const number = UPSTREAM_CALLS[name]?.[index];
    return typeof number === "number" ? [{ number, body }] : [];
  });
  return assembleAround(processor, calls, ALLOW, [ifAtLeast(FIRST_NEWER_CALL, 0, 1), fail(ENOSYS)]);
}

/** What Landlock does not see: TCP Fast Open connects without a connect, and older versions know no signals. */
function toGuardedCalls(version: number): readonly (readonly [string, readonly Instruction[]])[] {
  const own: readonly Instruction[] = [loadArgument(0), ifEqual(OWN_PID, 0, 1), ALLOW, REFUSE];
  return [
    ["sendto", noneSet(3, MSG_FASTOPEN)],
    ["sendmsg", noneSet(2, MSG_FASTOPEN)],
    ["sendmmsg", noneSet(3, MSG_FASTOPEN)],
    ...(version >= SIGNALS_VERSION ? [] : Object.keys(SIGNALS).map((name) => [name, own] as const)),
  ];
}

/** In an empty network namespace: no UNIX socket, because a listed folder may contain one of another program. */
const OWN_NETWORK: readonly Instruction[] = [
  loadArgument(0),
  ifEqual(AF_INET, 4, 0),
  ifEqual(AF_INET6, 3, 0),
  ifEqual(AF_NETLINK, 0, 3),
  loadArgument(2),
  ifEqual(0, 0, 1), // NETLINK_ROUTE: the list of network interfaces
  ALLOW,
  NO_SUCH_FAMILY,
];

/** AF_INET or AF_INET6, SOCK_STREAM, protocol 0 or TCP. Landlock lets MPTCP, UDP, UNIX and vsock pass. */
const TCP_ONLY: readonly Instruction[] = [
  loadArgument(0),
  ifEqual(AF_INET, 1, 0),
  ifEqual(AF_INET6, 0, 6),
  loadArgument(1),
  keepBits(0xf),
  ifEqual(1, 0, 3),
  loadArgument(2),
  ifEqual(0, 2, 0),
  ifEqual(6, 1, 0),
  NO_SUCH_FAMILY,
  ALLOW,
];

/** SOCK_STREAM or SOCK_SEQPACKET: one for datagrams could send to other UNIX sockets. */
const CONNECTED_PAIR: readonly Instruction[] = [
  loadArgument(1),
  keepBits(0xf),
  ifEqual(1, 2, 0),
  ifEqual(5, 1, 0),
  NO_SUCH_FAMILY,
  ALLOW,
];

const REQUESTED: readonly Instruction[] = [
  loadArgument(1),
  ...HARMLESS_REQUESTS.map((value, index) =>
    ifEqual(value, HARMLESS_REQUESTS.length - index + REQUESTS.length + FILE_SYSTEM_KINDS.length, 0),
  ),
  ...REQUESTS.map((value, index) => ifEqual(value, REQUESTS.length - index + FILE_SYSTEM_KINDS.length + 2, 0)),
  keepBits(0xff00),
  ...FILE_SYSTEM_KINDS.map((value, index) => ifEqual(value, FILE_SYSTEM_KINDS.length - index, 0)),
  ALLOW,
  fail(ENOTTY),
  REFUSE,
];

const OWN_LIMITS: readonly Instruction[] = [loadArgument(0), ifEqual(0, 2, 0), ifEqual(OWN_PID, 1, 0), REFUSE, ALLOW];

function noneSet(argument: number, bits: number): readonly Instruction[] {
  return [loadArgument(argument), ifAnySet(bits, 0, 1), REFUSE, ALLOW];
}

/** Flags, and behind them the mode of a file that is made. */
function created(flags: number): readonly Instruction[] {
  return [
    loadArgument(flags),
    ifAnySet(MAKES_FILE, 0, 3),
    loadArgument(flags + 1),
    ifAnySet(SET_ID_BITS, 0, 1),
    REFUSE,
    ALLOW,
  ];
}

function noneOf(argument: number, values: readonly number[]): readonly Instruction[] {
  const tests = values.map((value, index) => ifEqual(value, values.length - index, 0));
  return [loadArgument(argument), ...tests, ALLOW, REFUSE];
}

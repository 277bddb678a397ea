/**
 * The system calls that a sandbox child may make, each group with its reason; everything else fails with EPERM.
 * The filter is in force before the engine starts, so what start-up needs stays: loading the engine's own files
 * from a root that holds nothing else, and the one `execve` that begins it.
 */

export interface AllowedGroup {
  readonly reason: string;
  readonly calls: readonly string[];
}

export const ALLOWED: readonly AllowedGroup[] = [
  {
    reason: "speak on the descriptors that were inherited, and close them",
    calls: ["read", "write", "readv", "writev", "pread64", "close", "fcntl", "lseek", "dup", "ioctl"],
  },
  {
    reason: "start-up: load the engine's own files; the root holds no others and is read-only",
    calls: ["openat", "open", "newfstatat", "fstat", "stat", "lstat", "statx", "access", "readlink", "getcwd"],
  },
  { reason: "start-up: become the engine; the root holds no other program", calls: ["execve", "arch_prctl", "uname"] },
  {
    reason: "memory of the heap and of compiled code",
    calls: ["mmap", "munmap", "mprotect", "madvise", "brk", "mremap"],
  },
  {
    reason: "threads of the collector and the compiler; `clone` only with CLONE_THREAD, so that no process can be made",
    calls: [
      "clone",
      "futex",
      "set_robust_list",
      "rseq",
      "set_tid_address",
      "exit",
      "exit_group",
      "gettid",
      "membarrier",
    ],
  },
  {
    reason: "signals inside the process; `tgkill` is how it aborts",
    calls: ["rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "tgkill", "restart_syscall"],
  },
  {
    reason: "the engine's own event loop, which has nothing to watch",
    calls: ["epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "pipe2", "poll"],
  },
  {
    reason: "time, waiting and randomness",
    calls: ["clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "getrandom"],
  },
  {
    reason: "facts about itself",
    calls: [
      "getpid",
      "getppid",
      "getuid",
      "geteuid",
      "getgid",
      "getegid",
      "capget",
      "prlimit64",
      "prctl",
      "getrusage",
      "sysinfo",
      "sched_getaffinity",
      "sched_getscheduler",
      "sched_getparam",
      "sched_yield",
    ],
  },
];

/**
 * For a child that takes its wire from a listening socket: to take the connection that waits, and to speak on it. There
 * is still no call that makes a socket with a name, names one or connects one; `sendto` may name no address.
 */
export const ACCEPTING: AllowedGroup = {
  reason:
    "take the one connection that waits on the inherited socket, and speak on it; start-up makes a pair of its own",
  calls: ["accept4", "recvfrom", "sendto", "getsockopt", "getsockname", "socketpair"],
};

/** Answered with ENOSYS instead, so that the C library falls back to a call whose flags the filter can see. */
export const UNKNOWN_TO_CHILD: readonly string[] = ["clone3"];

/** Numbers on x86-64. Another processor needs its own table; without one, the missing filter is reported. */
export const X64: Readonly<Record<string, number>> = {
  read: 0,
  write: 1,
  open: 2,
  close: 3,
  stat: 4,
  fstat: 5,
  lstat: 6,
  poll: 7,
  lseek: 8,
  mmap: 9,
  mprotect: 10,
  munmap: 11,
  brk: 12,
  rt_sigaction: 13,
  rt_sigprocmask: 14,
  rt_sigreturn: 15,
  ioctl: 16,
  pread64: 17,
  readv: 19,
  writev: 20,
  access: 21,
  sched_yield: 24,
  mremap: 25,
  madvise: 28,
  dup: 32,
  nanosleep: 35,
  getpid: 39,
  sendto: 44,
  recvfrom: 45,
  getsockname: 51,
  socketpair: 53,
  getsockopt: 55,
  clone: 56,
  execve: 59,
  exit: 60,
  uname: 63,
  fcntl: 72,
  getcwd: 79,
  readlink: 89,
  gettimeofday: 96,
  getrusage: 98,
  sysinfo: 99,
  getuid: 102,
  getgid: 104,
  geteuid: 107,
  getegid: 108,
  getppid: 110,
  capget: 125,
  sigaltstack: 131,
  sched_getparam: 143,
  sched_getscheduler: 145,
  prctl: 157,
  arch_prctl: 158,
  gettid: 186,
  futex: 202,
  sched_getaffinity: 204,
  set_tid_address: 218,
  restart_syscall: 219,
  clock_gettime: 228,
  clock_getres: 229,
  clock_nanosleep: 230,
  exit_group: 231,
  epoll_wait: 232,
  epoll_ctl: 233,
  tgkill: 234,
  openat: 257,
  newfstatat: 262,
  set_robust_list: 273,
  epoll_pwait: 281,
  accept4: 288,
  eventfd2: 290,
  epoll_create1: 291,
  pipe2: 293,
  prlimit64: 302,
  getrandom: 318,
  membarrier: 324,
  statx: 332,
  rseq: 334,
  clone3: 435,
};

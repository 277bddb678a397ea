/**
 * The system calls that a sandbox child may make, each group with its reason; everything else fails with EPERM.
 * The filter applies before the engine starts, so it allows what the start needs: loading the engine's own files from a
 * root without other files, and the one `execve` that starts it.
 */

export interface AllowedGroup {
  readonly reason: string;
  /** Names with their numbers on x86-64. Another processor needs its own numbers; without them the filter is missing. */
  readonly x64: Readonly<Record<string, number>>;
}

export const ALLOWED: readonly AllowedGroup[] = [
  {
    reason: "read and write inherited descriptors, and close them",
    x64: { read: 0, write: 1, readv: 19, writev: 20, pread64: 17, close: 3, fcntl: 72, lseek: 8, dup: 32, ioctl: 16 },
  },
  {
    reason: "start-up: load the engine's own files; the root holds no others and is read-only",
    x64: {
      openat: 257,
      open: 2,
      newfstatat: 262,
      fstat: 5,
      stat: 4,
      lstat: 6,
      statx: 332,
      access: 21,
      readlink: 89,
      getcwd: 79,
    },
  },
  {
    reason: "start-up: become the engine; the root holds no other program",
    x64: { execve: 59, arch_prctl: 158, uname: 63 },
  },
  {
    reason: "memory of the heap and of compiled code",
    x64: { mmap: 9, munmap: 11, mprotect: 10, madvise: 28, brk: 12, mremap: 25 },
  },
  {
    reason: "threads of the collector and the compiler; `clone` only with CLONE_THREAD, so that no process can be made",
    x64: {
      clone: 56,
      futex: 202,
      set_robust_list: 273,
      rseq: 334,
      set_tid_address: 218,
      exit: 60,
      exit_group: 231,
      gettid: 186,
      membarrier: 324,
    },
  },
  {
    reason: "signals inside the process; `tgkill` is how it aborts",
    x64: {
      rt_sigaction: 13,
      rt_sigprocmask: 14,
      rt_sigreturn: 15,
      sigaltstack: 131,
      tgkill: 234,
      restart_syscall: 219,
    },
  },
  {
    reason: "the engine's own event loop, which has nothing to watch",
    x64: { epoll_create1: 291, epoll_ctl: 233, epoll_pwait: 281, epoll_wait: 232, eventfd2: 290, pipe2: 293, poll: 7 },
  },
  {
    reason: "time, waiting and randomness",
    x64: {
      clock_gettime: 228,
      clock_getres: 229,
      clock_nanosleep: 230,
      nanosleep: 35,
      gettimeofday: 96,
      getrandom: 318,
    },
  },
  {
    reason: "facts about itself",
    x64: {
      getpid: 39,
      getppid: 110,
      getuid: 102,
      geteuid: 107,
      getgid: 104,
      getegid: 108,
      capget: 125,
      prlimit64: 302,
      prctl: 157,
      getrusage: 98,
      sysinfo: 99,
      sched_getaffinity: 204,
      sched_getscheduler: 145,
      sched_getparam: 143,
      sched_yield: 24,
    },
  },
];

/**
 * For a child that accepts its wire from a listening socket. There is still no call that creates a socket with a name,
 * names one or connects one; `sendto` may name no address.
 */
export const ACCEPTING: AllowedGroup = {
  reason: "accept the connection that waits on the inherited socket, and use it; the start creates a private pair",
  x64: { accept4: 288, recvfrom: 45, sendto: 44, getsockopt: 55, getsockname: 51, socketpair: 53 },
};

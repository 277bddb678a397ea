/**
 * The system calls that a sandbox child may make, each group with its reason; everything else fails with EPERM.
 * The filter applies before the engine starts, so it allows what the start needs: loading the engine's own files from a
 * root without other files, and the one `execve` that starts it.
 */

export type SystemCalls = Readonly<Record<string, number>>;

export interface AllowedGroup {
  readonly reason: string;
  /** Names with their numbers. A processor without numbers here has no filter. */
  readonly x64: SystemCalls;
  /** Has no calls with a path but those with a folder, and no older twins of `epoll_pwait` and `ppoll`. */
  readonly arm64: SystemCalls;
}

export const ALLOWED: readonly AllowedGroup[] = [
  {
    reason: "read and write inherited descriptors, and close them",
    x64: { read: 0, write: 1, readv: 19, writev: 20, pread64: 17, close: 3, fcntl: 72, lseek: 8, dup: 32, ioctl: 16 },
    arm64: {
      read: 63,
      write: 64,
      readv: 65,
      writev: 66,
      pread64: 67,
      close: 57,
      fcntl: 25,
      lseek: 62,
      dup: 23,
      ioctl: 29,
    },
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
    arm64: { openat: 56, newfstatat: 79, fstat: 80, statx: 291, faccessat: 48, readlinkat: 78, getcwd: 17 },
  },
  {
    reason: "start-up: become the engine; the root holds no other program",
    x64: { execve: 59, arch_prctl: 158, uname: 63 },
    arm64: { execve: 221, uname: 160 },
  },
  {
    reason: "memory of the heap and of compiled code",
    x64: { mmap: 9, munmap: 11, mprotect: 10, madvise: 28, brk: 12, mremap: 25 },
    arm64: { mmap: 222, munmap: 215, mprotect: 226, madvise: 233, brk: 214, mremap: 216 },
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
    arm64: {
      clone: 220,
      futex: 98,
      set_robust_list: 99,
      rseq: 293,
      set_tid_address: 96,
      exit: 93,
      exit_group: 94,
      gettid: 178,
      membarrier: 283,
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
    arm64: {
      rt_sigaction: 134,
      rt_sigprocmask: 135,
      rt_sigreturn: 139,
      sigaltstack: 132,
      tgkill: 131,
      restart_syscall: 128,
    },
  },
  {
    reason: "the engine's own event loop, which has nothing to watch",
    x64: { epoll_create1: 291, epoll_ctl: 233, epoll_pwait: 281, epoll_wait: 232, eventfd2: 290, pipe2: 293, poll: 7 },
    arm64: { epoll_create1: 20, epoll_ctl: 21, epoll_pwait: 22, eventfd2: 19, pipe2: 59, ppoll: 73 },
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
    arm64: {
      clock_gettime: 113,
      clock_getres: 114,
      clock_nanosleep: 115,
      nanosleep: 101,
      gettimeofday: 169,
      getrandom: 278,
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
    arm64: {
      getpid: 172,
      getppid: 173,
      getuid: 174,
      geteuid: 175,
      getgid: 176,
      getegid: 177,
      capget: 90,
      prlimit64: 261,
      prctl: 167,
      getrusage: 165,
      sysinfo: 179,
      sched_getaffinity: 123,
      sched_getscheduler: 120,
      sched_getparam: 121,
      sched_yield: 124,
    },
  },
];

/** For a child that puts on the filter of the second stage. It can only narrow further. */
export const SEALING: AllowedGroup = {
  reason: "put on the filter of the second stage, which no longer allows this call",
  x64: { seccomp: 317 },
  arm64: { seccomp: 277 },
};

/** What an engine needs once it is ready: no call takes a path, a socket or another process. */
export const SEALED_CALLS =
  "read write mmap munmap mprotect madvise mremap brk futex rt_sigprocmask rt_sigreturn rseq set_robust_list exit exit_group gettid getpid clock_nanosleep clock_gettime getrusage sched_yield epoll_pwait getrandom restart_syscall tgkill".split(
    " ",
  );

/**
 * For a child that accepts its wire from a listening socket. There is still no call that creates a socket with a name,
 * names one or connects one; `sendto` may name no address.
 */
export const ACCEPTING: AllowedGroup = {
  reason: "accept the connection that waits on the inherited socket, and use it; the start creates a private pair",
  x64: { accept4: 288, recvfrom: 45, sendto: 44, getsockopt: 55, getsockname: 51, socketpair: 53 },
  arm64: { accept4: 242, recvfrom: 207, sendto: 206, getsockopt: 209, getsockname: 204, socketpair: 199 },
};

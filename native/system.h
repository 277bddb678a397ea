/*
 * What the native parts share: system calls without a C library, for x86-64 and arm64, and the filter that a process
 * puts on itself. Everything here is static, because each part is compiled from one file.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
enum {
  N_read = 0, N_write = 1, N_close = 3, N_stat = 4, N_fstat = 5, N_mmap = 9, N_pipe2 = 293, N_getpid = 39,
  N_socket = 41, N_socketpair = 53, N_clone = 56, N_execve = 59, N_exit = 60, N_kill = 62, N_fcntl = 72, N_chdir = 80,
  N_ptrace = 101, N_setsid = 112, N_capset = 126, N_getpriority = 140, N_prctl = 157, N_exit_group = 231,
  N_tgkill = 234, N_openat = 257, N_prlimit64 = 302, N_process_vm_readv = 310, N_seccomp = 317, N_pidfd_open = 434,
  N_close_range = 436, N_landlock_create_ruleset = 444, N_landlock_add_rule = 445, N_landlock_restrict_self = 446,
  N_newfstatat = 262, N_memfd_create = 319, N_sendmsg = 46, N_bind = 49, N_listen = 50
};
static long call6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#define START(function) \
  __asm__(".globl _start\n_start:\n mov %rsp, %rdi\n and $-16, %rsp\n call " #function "\n")
enum { STAT_MODE = 24, FOLDER_ONLY = 0200000 }; /* the offset of st_mode in struct stat, and O_DIRECTORY */
#elif defined(__aarch64__)
enum {
  N_read = 63, N_write = 64, N_close = 57, N_fstat = 80, N_mmap = 222, N_pipe2 = 59, N_getpid = 172, N_socket = 198,
  N_socketpair = 199, N_clone = 220, N_execve = 221, N_exit = 93, N_kill = 129, N_fcntl = 25, N_chdir = 49,
  N_ptrace = 117, N_setsid = 157, N_capset = 91, N_getpriority = 141, N_prctl = 167, N_exit_group = 94,
  N_tgkill = 131, N_openat = 56, N_prlimit64 = 261, N_process_vm_readv = 270, N_seccomp = 277, N_pidfd_open = 434,
  N_close_range = 436, N_landlock_create_ruleset = 444, N_landlock_add_rule = 445, N_landlock_restrict_self = 446,
  N_newfstatat = 79, N_memfd_create = 279, N_sendmsg = 211, N_bind = 200, N_listen = 201
};
static long call6(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#define START(function) __asm__(".globl _start\n_start:\n mov x0, sp\n bl " #function "\n")
enum { STAT_MODE = 16, FOLDER_ONLY = 040000 };
#else
#error "There are no system call numbers for this processor."
#endif

#define ADDRESS(pointer) ((long)(pointer))
#define CALL1(n, a) call6(n, a, 0, 0, 0, 0, 0)
#define CALL2(n, a, b) call6(n, a, b, 0, 0, 0, 0)
#define CALL3(n, a, b, c) call6(n, a, b, c, 0, 0, 0)
#define CALL4(n, a, b, c, d) call6(n, a, b, c, d, 0, 0)

enum { AT_WORKING_FOLDER = -100, NOT_CONFINED = 125 };

/* Ends the process with the code of a program that could not be confined. */
__attribute__((noreturn)) static void give_up(void) {
  for (;;) CALL1(N_exit_group, NOT_CONFINED);
}

/* Reads at most `size` bytes; less only if the descriptor ends before. Negative on errors. */
static long read_bytes(int fd, void *into, size_t size) {
  size_t count = 0;
  while (count < size) {
    long got = CALL3(N_read, fd, ADDRESS((char *)into + count), (long)(size - count));
    if (got < 0) return got;
    if (got == 0) break;
    count += (size_t)got;
  }
  return (long)count;
}

/*
 * The filter of the second stage arrives on this descriptor after the first one, which the launcher has taken. It is the
 * rest of what the descriptor holds.
 */
enum { FILTER_DESCRIPTOR = 4 };

/* Puts the second filter on every thread of this process, or ends it. */
__attribute__((unused)) static void seal(void) {
  static struct sock_filter code[513];
  long size = read_bytes(FILTER_DESCRIPTOR, code, sizeof code);
  CALL1(N_close, FILTER_DESCRIPTOR);
  if (size <= 0 || size % (long)sizeof *code != 0 || size == (long)sizeof code) give_up();
  struct sock_fprog program = {(unsigned short)(size / (long)sizeof *code), code};
  if (CALL3(N_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, ADDRESS(&program)) != 0) give_up();
}

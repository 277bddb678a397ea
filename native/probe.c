/*
 * Takes the place of an engine behind the walls of an engine, and tries to reach something. It prints the name of every
 * attempt that succeeded, one on each line, then "end". It changes nothing: every attempt opens, asks or looks.
 *
 *   probe VICTIM FILE [sealed]
 *
 * VICTIM is the process id of another process of the same user, as seen from outside, and FILE a file that this user may
 * read. With "sealed" it puts on the filter of the second stage first.
 */
#include "system.h"

START(begin);

enum { SIGNAL_NONE = 0, NO_FILE_LIMIT = 7, MOST = 64 };
enum { UNNAMED_FILE = 020000000 | FOLDER_ONLY | 1, UNIX = 1, INET = 2, INET6 = 10, NETLINK = 16, VSOCK = 40 };
enum { STREAM = 1, DATAGRAM = 2, SEIZE = 0x4206, SET_OWNER = 8, READ_WRITE = 3, SHARED_ANONYMOUS = 0x21 };
enum { OPEN_PATH = 010000000, MULTIPATH_TCP = 262 };

static size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length]) length += 1;
  return length;
}

static void report(const char *name, long result) {
  if (result < 0) return;
  CALL3(N_write, 1, ADDRESS(name), (long)length_of(name));
  CALL3(N_write, 1, ADDRESS("\n"), 1);
}

/* Negative if the text is not a number. */
static long number_of(const char *text) {
  long value = *text ? 0 : -1;
  for (; *text; text += 1) {
    if (*text < '0' || *text > '9') return -1;
    value = value * 10 + (*text - '0');
  }
  return value;
}

static long open_file(const char *path, long flags) {
  return CALL4(N_openat, AT_WORKING_FOLDER, ADDRESS(path), flags, 0600);
}

static long stat_file(const char *path) {
  char facts[512];
  return CALL4(N_newfstatat, AT_WORKING_FOLDER, ADDRESS(path), ADDRESS(facts), 0);
}

/* "/proc/VICTIM" with a name below it. */
static const char *path_of(const char *victim, const char *name) {
  static char path[MOST];
  const char *parts[] = {"/proc/", victim, name};
  size_t count = 0;
  for (int part = 0; part < 3; part += 1)
    for (const char *at = parts[part]; *at && count < MOST - 1; at += 1) path[count++] = *at;
  path[count] = 0;
  return path;
}

static void try_files(const char *victim, const char *file) {
  report("read-file", open_file(file, 0));
  report("refer-to-file", open_file(file, OPEN_PATH));
  report("file-exists", stat_file(file));
  report("list-folder", open_file("/etc", FOLDER_ONLY));
  report("create-file", open_file("/tmp", UNNAMED_FILE));
  report("read-environment-of-process", open_file(path_of(victim, "/environ"), 0));
  report("process-exists", stat_file(path_of(victim, "")));
  report("memory-file", CALL2(N_memfd_create, ADDRESS("probe"), 0));
}

static void try_sockets(void) {
  report("tcp", CALL3(N_socket, INET, STREAM, 0));
  report("tcp6", CALL3(N_socket, INET6, STREAM, 0));
  report("multipath-tcp", CALL3(N_socket, INET, STREAM, MULTIPATH_TCP));
  report("udp", CALL3(N_socket, INET, DATAGRAM, 0));
  report("unix", CALL3(N_socket, UNIX, STREAM, 0));
  report("netlink", CALL3(N_socket, NETLINK, DATAGRAM, 0));
  report("vsock", CALL3(N_socket, VSOCK, STREAM, 0));
}

static void try_process(long pid) {
  char memory[16];
  uint64_t limit[2];
  struct { void *at; size_t size; } own = {memory, sizeof memory}, other = {(void *)4096, sizeof memory};
  int ends[2];
  report("signal", CALL2(N_kill, pid, SIGNAL_NONE));
  report("signal-thread", CALL3(N_tgkill, pid, pid, SIGNAL_NONE));
  report("limit-of-process", CALL4(N_prlimit64, pid, NO_FILE_LIMIT, 0, ADDRESS(limit)));
  report("handle-of-process", CALL2(N_pidfd_open, pid, 0));
  report("trace-process", CALL4(N_ptrace, SEIZE, pid, 0, 0));
  long copied = call6(N_process_vm_readv, pid, ADDRESS(&own), 1, ADDRESS(&other), 1, 0);
  report("read-process", copied == -14 ? 0 : copied); /* EFAULT: permitted, and nothing is mapped there */
  if (CALL2(N_pipe2, ADDRESS(ends), 0) == 0) report("signal-by-pipe", CALL3(N_fcntl, ends[0], SET_OWNER, pid));
}

static void try_resources(void) {
  report("shared-memory", call6(N_mmap, 0, 4096, READ_WRITE, SHARED_ANONYMOUS, -1, 0) > 0 ? 0 : -1);
  long child = CALL4(N_clone, 17, 0, 0, 0); /* SIGCHLD: as fork */
  if (child == 0) for (;;) CALL1(N_exit_group, 0);
  report("new-process", child);
}

__attribute__((used, noreturn)) void begin(long *stack) {
  char **arguments = (char **)(stack + 1);
  long victim = *stack < 3 ? -1 : number_of(arguments[1]);
  if (victim < 1) give_up();
  if (*stack > 3) seal();
  try_files(arguments[1], arguments[2]);
  try_sockets();
  /* A gateway that is process 1 has the same number as a probe that is process 1 of its own namespace. */
  if (CALL1(N_getpid, 0) != victim) try_process(victim);
  try_resources();
  report("end", 0);
  for (;;) CALL1(N_exit_group, 0);
}

/*
 * Replaces the engine inside the confinement and tries what a native payload would try.
 * Each attempt prints one line on descriptor 3: its name, then "ok", a number, or the name of the error.
 * Usage: probe all|harmless|foreign|sealed PORT CANARY_FILE FOLDER VICTIM; after its first line it waits for one byte on
 * descriptor 3. VICTIM is the process id of another process of the same user, which it tries to change. With "sealed" it
 * first puts on the filter that waits on descriptor 4.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void say(const char *format, ...) {
  char line[2048];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (write(3, line, (size_t)length) < 0) _exit(2);
}

/* A negative result is the error of the attempt; anything else is a success. */
static void tell(const char *name, long result) {
  const char *error = strerrorname_np(errno);
  say("%s %s\n", name, result >= 0 ? "ok" : error ? error : "unknown");
}

#define TRY(name, attempt) (errno = 0, tell(name, (long)(attempt)))

static long readable(const char *path) {
  char byte;
  int file = open(path, O_RDONLY);
  if (file < 0) return -1;
  long got = read(file, &byte, 1);
  close(file);
  return got;
}

static long writable(const char *folder) {
  char path[512];
  snprintf(path, sizeof path, "%s/glovebox-probe", folder);
  int file = open(path, O_CREAT | O_WRONLY, 0600);
  if (file < 0) return -1;
  long got = write(file, "x", 1);
  close(file);
  unlink(path);
  return got;
}

static long list(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) return -1;
  errno = 0;
  struct dirent *entry = readdir(folder);
  int error = errno;
  closedir(folder);
  errno = error;
  return entry ? 0 : -1;
}

static long reach(int type, int port) {
  int wire = socket(AF_INET, type, 0);
  if (wire < 0) return -1;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  long got = connect(wire, (struct sockaddr *)&to, sizeof to);
  if (got == 0 && type == SOCK_DGRAM) got = send(wire, "x", 1, 0);
  int error = errno;
  close(wire);
  errno = error;
  return got;
}

static long opened(int family, int type, int protocol) {
  int wire = socket(family, type, protocol);
  if (wire < 0) return -1;
  close(wire);
  return 0;
}

static long born(long pid) {
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid((pid_t)pid, NULL, 0);
  return pid;
}

static long shell(int safely) {
  char *arguments[] = {"sh", "-c", "exit 7", NULL};
  if (!safely) return execve("/bin/sh", arguments, environ);
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) execve("/bin/sh", arguments, environ);
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : -1;
}

static void *rest(void *unused) {
  for (;;) sleep(1);
  return unused;
}

static int start_threads(int most) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384);
  int count = 0;
  pthread_t thread;
  while (count < most && pthread_create(&thread, &small, rest, NULL) == 0) count += 1;
  return count;
}

static int open_many(int most) {
  int count = 0;
  while (count < most && dup(0) >= 0) count += 1;
  for (int file = 6; file < most + 6; file += 1) close(file);
  return count;
}

static int hold_megabytes(int most, int kind) {
  int count = 0;
  for (; count < most; count += 16) {
    char *piece = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) break;
    memset(piece, 1, 16 << 20);
  }
  return count;
}

static void tell_descriptors(void) {
  char text[256] = "";
  for (int file = 0; file < 256; file += 1) {
    if (fcntl(file, F_GETFD) < 0) continue;
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", *text ? "," : "", file);
  }
  say("descriptors %s\n", text);
}

static void tell_environment(void) {
  char text[1024] = "";
  for (char **entry = environ; *entry; entry += 1) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "", *entry);
  }
  say("environment %s\n", text);
}

static void tell_limits(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  say("limit-descriptors %llu\n", (unsigned long long)limit.rlim_max);
  getrlimit(RLIMIT_FSIZE, &limit);
  say("limit-file-size %llu\n", (unsigned long long)limit.rlim_max);
  getrlimit(RLIMIT_CORE, &limit);
  say("limit-core %llu\n", (unsigned long long)limit.rlim_max);
  struct rlimit more = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
  TRY("raise-limit", setrlimit(RLIMIT_NOFILE, &more));
}

static void try_files(const char *canary, const char *folder) {
  TRY("read-passwd", readable("/etc/passwd"));
  TRY("read-canary", readable(canary));
  TRY("read-own-environment", readable("/proc/self/environ"));
  TRY("list-root", list("/"));
  TRY("list-home", list("/root"));
  TRY("write-folder", writable(folder));
  TRY("write-tmp", writable("/tmp"));
  if (getpid() == 1) { /* only in a root of its own */
    TRY("write-root", writable("/"));
    TRY("write-engine", open("/engine/probe", O_WRONLY));
  }
  TRY("read-null", readable("/dev/null"));
  TRY("make-folder", mkdir("/tmp/glovebox-probe-folder", 0700));
  rmdir("/tmp/glovebox-probe-folder");
}

static void try_network(int port) {
  TRY("tcp", reach(SOCK_STREAM, port));
  TRY("udp", reach(SOCK_DGRAM, port));
  TRY("unix", opened(AF_UNIX, SOCK_STREAM, 0));
  TRY("netlink", opened(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
}

static long mapped(int kind) {
  void *piece = mmap(NULL, 4096, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
  return piece == MAP_FAILED ? -1 : munmap(piece, 4096);
}

static long mapped_file(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  void *piece = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  if (piece == MAP_FAILED) return -1;
  close(file);
  return munmap(piece, 4096);
}

static long opened_null(int flags) {
  int file = open("/dev/null", flags, 0600);
  if (file < 0) return -1;
  return close(file);
}

static long opened_by_old_call(int flags) {
  long file = syscall(SYS_open, "/dev/null", flags, 0600);
  if (file < 0) return -1;
  return close((int)file);
}

/* Calls that an engine makes, with arguments that it needs and with others. */
static void try_arguments(const char *self) {
  struct rlimit stack;
  int ends[2] = {-1, -1}, count = 0, pid = getpid();
  if (pipe2(ends, O_CLOEXEC) < 0) say("no-pipe %s\n", strerrorname_np(errno));
  TRY("map-private", mapped(MAP_PRIVATE));
  TRY("map-shared", mapped(MAP_SHARED));
  TRY("map-growing-down", mapped(MAP_PRIVATE | MAP_GROWSDOWN));
  TRY("map-shared-file", mapped_file(self));
  TRY("signal-self", syscall(SYS_tgkill, pid, gettid(), 0));
  TRY("signal-parent", syscall(SYS_tgkill, getppid(), getppid(), 0));
  TRY("read-own-limit", syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &stack));
  TRY("read-limit-by-pid", syscall(SYS_prlimit64, pid, RLIMIT_STACK, NULL, &stack));
  TRY("set-own-limit", syscall(SYS_prlimit64, 0, RLIMIT_STACK, &stack, NULL));
  TRY("fcntl-nonblocking", fcntl(ends[0], F_SETFL, O_NONBLOCK));
  TRY("fcntl-async", fcntl(ends[0], F_SETFL, O_ASYNC));
  TRY("fcntl-owner", fcntl(ends[0], F_SETOWN, pid));
  TRY("fcntl-owner-extended", fcntl(ends[0], F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_PID, pid}));
  TRY("fcntl-signal", fcntl(ends[0], F_SETSIG, SIGCONT));
  TRY("open-read", close(open(self, O_RDONLY | O_CLOEXEC)));
  TRY("open-write", opened_null(O_WRONLY));
  TRY("open-read-write", opened_null(O_RDWR));
  TRY("open-create", opened_null(O_RDONLY | O_CREAT));
  TRY("open-truncate", opened_null(O_RDONLY | O_TRUNC));
  TRY("open-append", opened_null(O_RDONLY | O_APPEND));
  TRY("open-async", opened_null(O_RDONLY | O_ASYNC));
  TRY("open-path", opened_null(O_PATH));
  TRY("open-write-by-old-call", opened_by_old_call(O_WRONLY));
  TRY("ioctl-readable", ioctl(ends[0], FIONREAD, &count));
  TRY("ioctl-async", ioctl(ends[0], FIOASYNC, &(int){0}));
  TRY("ioctl-owner", ioctl(3, FIOSETOWN, &pid));
  TRY("prctl-name", prctl(PR_SET_NAME, "probe"));
  TRY("prctl-death-signal", prctl(PR_SET_PDEATHSIG, 0));
  TRY("prctl-dumpable", prctl(PR_SET_DUMPABLE, 1));
  close(ends[0]);
  close(ends[1]);
  say("shared-megabytes %d\n", hold_megabytes(256, MAP_SHARED));
}

/* Only for a confined process: outside, these would change the machine or need root. */
static void try_privileges(int port) {
  struct timespec now;
  struct timeval day;
  clock_gettime(CLOCK_REALTIME, &now);
  gettimeofday(&day, NULL);
  char none[64] = {0};
  TRY("read-first-environment", readable("/proc/1/environ"));
  TRY("read-docker-socket", readable("/var/run/docker.sock"));
  TRY("read-memory", readable("/dev/mem"));
  TRY("raw", opened(AF_PACKET, SOCK_RAW, 0));
  TRY("vsock", opened(40, SOCK_STREAM, 0));
  TRY("unix-pair", socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0, 0}));
  TRY("send-on-wire", sendto(3, "", 0, 0, 0, 0));
  TRY("send-to-name", sendto(3, "x", 1, 0, (struct sockaddr *)&(struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "/x"}, 5));
  TRY("accept", syscall(SYS_accept4, 3, 0, 0, 0));
  TRY("send-message", sendmsg(3, &(struct msghdr){0}, 0));
  TRY("tcp-by-x32", syscall(0x40000000 | SYS_socket, AF_INET, SOCK_STREAM, 0));
  TRY("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0));
  TRY("read-process", syscall(SYS_process_vm_readv, getppid(), none, 1, none, 1, 0));
  TRY("mount", syscall(SYS_mount, "none", "/", "tmpfs", 0, 0));
  TRY("pivot", syscall(SYS_pivot_root, "/", "/"));
  TRY("chroot", chroot("/engine"));
  TRY("unshare", unshare(CLONE_NEWUSER));
  TRY("setns", setns(3, 0));
  TRY("setuid", setuid(12345));
  TRY("capset", syscall(SYS_capset, none, none));
  TRY("bpf", syscall(SYS_bpf, 0, none, sizeof none));
  TRY("io-uring", syscall(SYS_io_uring_setup, 4, calloc(1, 256)));
  TRY("userfaultfd", syscall(SYS_userfaultfd, 0));
  TRY("keyctl", syscall(SYS_keyctl, 0, -3, 0));
  TRY("add-key", syscall(SYS_add_key, "user", "x", "y", 1, -2));
  TRY("perf", syscall(SYS_perf_event_open, none, 0, -1, -1, 0));
  TRY("module", syscall(SYS_init_module, none, 0, ""));
  TRY("memfd", syscall(SYS_memfd_create, "x", 0));
  TRY("seccomp", syscall(SYS_seccomp, 0, 0, 0));
  TRY("open-handle", syscall(SYS_open_by_handle_at, 3, none, 0));
  TRY("pidfd", syscall(SYS_pidfd_open, 1, 0));
  TRY("clock", clock_settime(CLOCK_REALTIME, &now));
  TRY("day", settimeofday(&day, NULL));
  TRY("clone3", syscall(SYS_clone3, none, sizeof none));
  TRY("vfork", born(syscall(SYS_vfork)));
  TRY("kill-all", kill(-1, 0));
  TRY("inject-input", ioctl(0, 0x5412, "x"));
  TRY("shared-memory", syscall(SYS_shmget, 1, 4096, 01600));
  TRY("connect-wire", connect(3, (struct sockaddr *)&(struct sockaddr_in){.sin_port = (unsigned short)port}, 16));
  say("threads %d\n", start_threads(1000));
  say("memory %d\n", hold_megabytes(4096, MAP_PRIVATE));
}

static const char *of_process(int pid, const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return path;
}

/* Metadata and changes of files that Landlock does not control, or not in every version. */
static void try_metadata(const char *canary, const char *folder) {
  char target[64];
  struct stat facts;
  struct statfs system;
  TRY("stat-canary", stat(canary, &facts));
  TRY("access-canary", access(canary, R_OK));
  TRY("refer-to-canary", open(canary, O_PATH));
  TRY("append-canary", open(canary, O_WRONLY | O_APPEND));
  TRY("truncate-canary", truncate(canary, 1000000));
  TRY("chmod-canary", chmod(canary, 0644));
  TRY("touch-canary", utimensat(AT_FDCWD, canary, NULL, 0));
  TRY("attribute-of-canary", setxattr(canary, "user.probe", "x", 1, 0));
  TRY("link-in-proc", readlink("/proc/self", target, sizeof target));
  TRY("file-system", statfs("/", &system));
  TRY("enter-folder", chdir(folder));
  TRY("watch-folder", inotify_add_watch(inotify_init1(0), folder, IN_ALL_EVENTS));
  TRY("handle-of-file", syscall(SYS_name_to_handle_at, AT_FDCWD, canary, calloc(1, 512), target, 0));
  TRY("own-memory-file", open("/proc/self/mem", O_RDWR));
  TRY("own-maps", readable("/proc/self/maps"));
  TRY("terminal", open("/dev/tty", O_RDWR));
}

/* The kernel would send the signal on our behalf when the pipe has data. */
static long signal_by_pipe(int victim) {
  int ends[2];
  if (pipe2(ends, 0) < 0 || fcntl(ends[0], F_SETOWN, victim) < 0) return -1;
  if (fcntl(ends[0], F_SETSIG, SIGKILL) < 0 || fcntl(ends[0], F_SETFL, O_ASYNC) < 0) return -1;
  return write(ends[1], "x", 1);
}

/* EFAULT means that it may, and that nothing is mapped there. */
static long read_memory(int victim) {
  char room[8];
  struct iovec here = {room, sizeof room}, there = {(void *)0x400000, sizeof room};
  long got = process_vm_readv(victim, &here, 1, &there, 1, 0);
  return got < 0 && errno == EFAULT ? 0 : got;
}

/* What one process of a user may do to another. The last one may end the victim. */
static void try_victim(int victim) {
  char room[256];
  struct stat facts;
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  TRY("victim-environment", readable(of_process(victim, "environ")));
  TRY("victim-command", readable(of_process(victim, "cmdline")));
  TRY("victim-memory-file", open(of_process(victim, "mem"), O_RDWR));
  TRY("victim-root", readable(of_process(victim, "root/etc/passwd")));
  TRY("victim-exists", stat(of_process(victim, ""), &facts));
  TRY("victim-signal", kill(victim, 0));
  TRY("victim-signal-thread", syscall(SYS_tgkill, victim, victim, SIGCONT));
  TRY("victim-signal-old", syscall(SYS_tkill, victim, SIGCONT));
  TRY("victim-signal-queued", syscall(SYS_rt_sigqueueinfo, victim, SIGCONT, &(siginfo_t){.si_code = -1}));
  TRY("victim-handle", syscall(SYS_pidfd_open, victim, 0));
  TRY("victim-trace", ptrace(PTRACE_SEIZE, victim, 0, 0));
  TRY("victim-read-memory", read_memory(victim));
  TRY("victim-compare", syscall(SYS_kcmp, victim, getpid(), 0, 0, 0));
  TRY("victim-priority", setpriority(PRIO_PROCESS, (id_t)victim, 19));
  TRY("victim-processors", sched_setaffinity(victim, sizeof first, &first));
  TRY("victim-limit-read", prlimit(victim, RLIMIT_NOFILE, NULL, &(struct rlimit){0}));
  TRY("victim-limit-set", prlimit(victim, RLIMIT_NOFILE, &(struct rlimit){64, 64}, NULL));
  TRY("victim-capabilities", syscall(SYS_capget, (unsigned[2]){0x20080522, (unsigned)victim}, room));
  TRY("victim-group", getpgid(victim));
  TRY("victim-signal-by-pipe", signal_by_pipe(victim));
}

static void seal(void) {
  static struct sock_filter code[512];
  long size = read(4, code, sizeof code);
  struct sock_fprog program = {(unsigned short)(size / 8), code};
  if (size <= 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) _exit(3);
  close(4);
}

static long by_foreign_convention(void) {
  long result = 20; /* getpid of the 32-bit convention */
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
  return result;
}

int main(int count, char **arguments) {
  char byte;
  if (count < 6) return 2;
  say("begin ok\n");
  if (read(3, &byte, 1) != 1) return 2;
  const char *manner = arguments[1];
  int port = atoi(arguments[2]);
  if (strcmp(manner, "foreign") == 0) {
    say("foreign %s\n", by_foreign_convention() > 0 ? "ok" : "none");
    return 0;
  }
  if (strcmp(manner, "sealed") == 0) seal();
  int safely = strcmp(manner, "harmless") == 0;
  struct utsname machine = {0};
  uname(&machine);
  tell_descriptors();
  tell_environment();
  say("host %s\n", machine.nodename);
  say("pid %d\n", getpid());
  say("parent %d\n", getppid());
  int others = 0;
  for (int pid = 2; pid < 400; pid += 1) others += pid != getpid() && syscall(SYS_tgkill, pid, pid, 0) == 0;
  say("other-processes %d\n", others);
  tell_limits();
  try_files(arguments[3], arguments[4]);
  try_network(port);
  try_arguments(arguments[0]);
  TRY("fork", born(fork()));
  TRY("clone", born(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
  say("many-descriptors %d\n", open_many(10000));
  TRY("shell", shell(safely));
  try_metadata(arguments[3], arguments[4]);
  try_victim(atoi(arguments[5]));
  if (!safely) try_privileges(port);
  say("end ok\n");
  _exit(0);
}

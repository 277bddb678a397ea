/*
 * Confines itself and then becomes another program: no new privileges, no capabilities, Landlock, resource limits, few
 * descriptors, an environment of its own, and a seccomp filter as the last step before execve. It needs no namespace,
 * no root and no installed package, and the process id stays the same.
 *
 *   launcher [OPTION]... -- FILE [ARGUMENT]...   confines itself and becomes FILE
 *   launcher -q                                  prints the version of Landlock that this kernel offers, or 0
 *   launcher -p PID -l RESOURCE:VALUE            sets a limit of another process of the same user
 *
 *   -r PATH             may be read: a file, or a folder with everything below it
 *   -x PATH             may be read and executed
 *   -w PATH             may be read and written, never executed
 *   -t PORT             TCP connections to this port, which need version 4 of Landlock
 *   -n PORT             listen at this port of 127.0.0.1, pass the socket to the parent over descriptor 3 as Node expects
 *                       it, and close both. For a network namespace of its own: the parent accepts what is sent there
 *   -c PATH             the working folder, instead of /
 *   -m VERSION          refuse to start below this version of Landlock
 *   -a VERSION          use no more than this version of Landlock
 *   -s FD:BYTES         a seccomp filter of this length, as the kernel reads it. A comparison with 0x50494421 becomes one
 *                       with the process id. With -k FD, what follows it stays there for the second stage
 *   -l RESOURCE:VALUE   a resource limit by its number, soft and hard
 *   -k FD               a descriptor to keep beside 0, 1 and 2; after -s
 *   -e NAME=VALUE       a variable of the environment, which holds nothing else
 *   -E                  keep the environment of the launcher instead: arguments can be read by other users
 *   -d                  die with the parent
 *
 * Every option is required to take effect: a program that cannot be confined as told is not started. The launcher then
 * says why on descriptor 2 and exits with 125.
 */
#include <linux/prctl.h>

#include "system.h"

START(begin);

enum { MOST_PATHS = 512, MOST_LIMITS = 16, MOST_PORTS = 8, MOST_KEPT = 8, MOST_VARIABLES = 16, MOST_INSTRUCTIONS = 1024 };
enum { OWN_PID_MARK = 0x50494421, OPEN_PATH = 010000000 | 02000000, FORMAT = 0170000, FOLDER = 0040000 };

/* The numbers of linux/landlock.h, which is older on the machine that builds than the kernel that runs. */
struct ruleset { uint64_t files, network, scopes; };
struct beneath { uint64_t access; int32_t parent; } __attribute__((packed));
struct port_rule { uint64_t access, port; };
enum { EXECUTE = 1, WRITE = 2, READ = 4, READ_FOLDER = 8, REFER = 1 << 13, TRUNCATE = 1 << 14, DEVICE_IOCTL = 1 << 15 };
enum { OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | DEVICE_IOCTL, FIRST_VERSION = (1 << 13) - 1 };
enum { MAKE_CHARACTER = 1 << 6, MAKE_BLOCK = 1 << 11, CHANGE = FIRST_VERSION & ~(EXECUTE | MAKE_CHARACTER | MAKE_BLOCK) };
enum { BIND_AND_CONNECT = 3, CONNECT = 2, SOCKETS_AND_SIGNALS = 3, VERSION_FLAG = 1, RULE_BENEATH = 1, RULE_PORT = 2 };
enum { WIRE = 3, INTERNET = 2, STREAM = 1, SOCKET_LEVEL = 1, PASS_DESCRIPTORS = 1, BACKLOG = 128, NETWORK_VERSION = 4 };

static struct {
  const char *paths[MOST_PATHS]; uint64_t access[MOST_PATHS]; int path_count;
  uint64_t ports[MOST_PORTS]; int port_count; uint64_t listen_port;
  const char *folder; int keeps_environment;
  long resources[MOST_LIMITS]; uint64_t values[MOST_LIMITS]; int limit_count;
  int kept[MOST_KEPT]; int kept_count;
  char *environment[MOST_VARIABLES + 1]; int variable_count;
  int filter; size_t filter_bytes; int keeps_filter;
  int least_version, most_version, dies_with_parent, asks_version; long pid;
} options;
static struct sock_filter code[MOST_INSTRUCTIONS];

/* The compiler may call it where none is written. */
void *memset(void *at, int value, size_t size) {
  for (size_t i = 0; i < size; i += 1) ((volatile char *)at)[i] = (char)value;
  return at;
}

static void say(int fd, const char *text) {
  size_t length = 0;
  while (text[length]) length += 1;
  CALL3(N_write, fd, ADDRESS(text), (long)length);
}

static void say_number(int fd, long value) {
  char text[24] = {0}, *at = text + 23;
  unsigned long rest = value < 0 ? -(unsigned long)value : (unsigned long)value;
  do *--at = (char)('0' + rest % 10); while (rest /= 10);
  say(fd, at);
}

__attribute__((noreturn)) static void refuse(const char *what, const char *which, long error) {
  say(2, "launcher: "); say(2, what); say(2, " "); say(2, which);
  if (error < 0) { say(2, " (error "); say_number(2, error); say(2, ")"); }
  say(2, "\n");
  give_up();
}

static long must(long result, const char *what, const char *which) {
  if (result < 0) refuse(what, which, result);
  return result;
}

/* Decimal digits up to `end`, which is the end of the text or a colon. */
static uint64_t number_until(const char *text, char end, const char **after) {
  uint64_t value = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at += 1) value = value * 10 + (uint64_t)(*at - '0');
  if (at == text || at - text > 18 || *at != end) refuse("not a number:", text, 0);
  if (after) *after = at + 1;
  return value;
}

static int small_number(const char *text) {
  uint64_t value = number_until(text, 0, NULL);
  if (value > 1 << 30) refuse("number too large:", text, 0);
  return (int)value;
}

static uint64_t port_number(const char *text) {
  uint64_t value = number_until(text, 0, NULL);
  if (value < 1 || value > 65535) refuse("not a port:", text, 0);
  return value;
}

static void require_room(int count, int most, const char *value) {
  if (count >= most) refuse("too many options of a kind:", value, 0);
}

static void allow_path(const char *path, uint64_t access) {
  require_room(options.path_count, MOST_PATHS, path);
  options.paths[options.path_count] = path;
  options.access[options.path_count++] = access;
}

static void keep(int fd) {
  require_room(options.kept_count, MOST_KEPT, "-k");
  options.kept[options.kept_count++] = fd;
}

static void take_value(char name, char *value) {
  const char *rest = value;
  switch (name) {
    case 'r': allow_path(value, READ | READ_FOLDER); return;
    case 'x': allow_path(value, READ | READ_FOLDER | EXECUTE); return;
    case 'w': allow_path(value, CHANGE | REFER | TRUNCATE); return;
    case 't':
      require_room(options.port_count, MOST_PORTS, value);
      options.ports[options.port_count++] = port_number(value);
      return;
    case 'n': options.listen_port = port_number(value); return;
    case 'c': options.folder = value; return;
    case 'm': options.least_version = small_number(value); return;
    case 'a': options.most_version = small_number(value); return;
    case 'p': options.pid = small_number(value); return;
    case 'k':
      keep(small_number(value));
      if (options.kept[options.kept_count - 1] == options.filter) options.keeps_filter = 1;
      return;
    case 's':
      options.filter = (int)number_until(value, ':', &rest);
      options.filter_bytes = number_until(rest, 0, NULL);
      return;
    case 'l':
      require_room(options.limit_count, MOST_LIMITS, value);
      options.resources[options.limit_count] = (long)number_until(value, ':', &rest);
      options.values[options.limit_count++] = number_until(rest, 0, NULL);
      return;
    case 'e':
      require_room(options.variable_count, MOST_VARIABLES, value);
      options.environment[options.variable_count++] = value;
      return;
    default: refuse("unknown option before", value, 0);
  }
}

/* Returns the program with its arguments, or NULL if there is none. */
static char **parse(char **argument) {
  options.filter = -1;
  options.most_version = 1 << 30;
  for (argument += 1; *argument; argument += 1) {
    const char *option = *argument;
    if (option[0] != '-' || !option[1] || option[2]) refuse("unknown option", option, 0);
    if (option[1] == '-') return argument[1] ? argument + 1 : NULL;
    if (option[1] == 'd') options.dies_with_parent = 1;
    else if (option[1] == 'E') options.keeps_environment = 1;
    else if (option[1] == 'q') options.asks_version = 1;
    else {
      if (!argument[1]) refuse("no value for", option, 0);
      argument += 1;
      take_value(option[1], *argument);
    }
  }
  return NULL;
}

static int landlock_version(void) {
  long version = CALL3(N_landlock_create_ruleset, 0, 0, VERSION_FLAG);
  return version < 0 ? 0 : (int)version;
}

/* Closes every descriptor but 0, 1, 2 and those to keep; one by one where the kernel or a filter lacks the call. */
static void close_others(void) {
  unsigned from = 3;
  for (;;) {
    unsigned next = ~0u;
    for (int i = 0; i < options.kept_count; i += 1)
      if ((unsigned)options.kept[i] >= from && (unsigned)options.kept[i] < next) next = (unsigned)options.kept[i];
    unsigned last = next == ~0u ? next : next - 1;
    if (next > from && CALL3(N_close_range, (long)from, (long)last, 0) < 0)
      for (unsigned fd = from; fd <= last && fd < 65536; fd += 1) CALL1(N_close, (long)fd);
    if (next == ~0u) return;
    from = next + 1;
  }
}

static void read_filter(void) {
  size_t count = options.filter_bytes / sizeof *code;
  if (count == 0 || count > MOST_INSTRUCTIONS || options.filter_bytes % sizeof *code) refuse("damaged filter", "", 0);
  if (read_bytes(options.filter, code, options.filter_bytes) != (long)options.filter_bytes) refuse("short filter", "", 0);
  uint32_t own = (uint32_t)CALL1(N_getpid, 0);
  for (size_t i = 0; i < count; i += 1)
    if (code[i].code == (BPF_JMP | BPF_JEQ | BPF_K) && code[i].k == OWN_PID_MARK) code[i].k = own;
}

static void drop_privileges(void) {
  uint32_t header[2] = {0x20080522, 0}, none[6] = {0};
  for (long capability = 0; capability < 64; capability += 1) CALL2(N_prctl, PR_CAPBSET_DROP, capability);
  CALL2(N_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  must(CALL2(N_capset, ADDRESS(header), ADDRESS(none)), "cannot drop capabilities", "");
  must(CALL2(N_prctl, PR_SET_NO_NEW_PRIVS, 1), "cannot give up new privileges", "");
}

/* A newer version knows more kinds of access, and refuses each unless a rule allows it. */
static struct ruleset everything(int version) {
  struct ruleset all = {FIRST_VERSION, version >= 4 ? BIND_AND_CONNECT : 0, version >= 6 ? SOCKETS_AND_SIGNALS : 0};
  if (version >= 2) all.files |= REFER;
  if (version >= 3) all.files |= TRUNCATE;
  if (version >= 5) all.files |= DEVICE_IOCTL;
  return all;
}

static void allow_beneath(int rules, const char *path, uint64_t access) {
  char facts[256];
  int file = (int)must(CALL3(N_openat, AT_WORKING_FOLDER, ADDRESS(path), OPEN_PATH), "cannot open", path);
  must(CALL2(N_fstat, file, ADDRESS(facts)), "cannot read the kind of", path);
  int is_folder = (*(uint32_t *)(facts + STAT_MODE) & FORMAT) == FOLDER;
  struct beneath rule = {is_folder ? access : access & OF_FILES, file};
  must(CALL4(N_landlock_add_rule, rules, RULE_BENEATH, ADDRESS(&rule), 0), "cannot allow", path);
  CALL1(N_close, file);
}

/*
 * The line is what Node writes before a descriptor on its channel, so that the parent gets a socket that it can use. The
 * parent's answer is never read.
 */
static void pass_listener(void) {
  static const char line[] = "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Native\",\"msg\":\"listening\"}\n";
  struct { uint16_t family; uint8_t port[2], host[4], rest[8]; } address = {INTERNET, {0, 0}, {127, 0, 0, 1}, {0}};
  address.port[0] = (uint8_t)(options.listen_port >> 8);
  address.port[1] = (uint8_t)options.listen_port;
  int listener = (int)must(CALL3(N_socket, INTERNET, STREAM, 0), "cannot make a socket", "");
  must(CALL3(N_bind, listener, ADDRESS(&address), sizeof address), "cannot bind the port of the proxy", "");
  must(CALL2(N_listen, listener, BACKLOG), "cannot listen", "");
  struct { uint64_t size; int32_t level, kind, descriptor, rest; } passed = {20, SOCKET_LEVEL, PASS_DESCRIPTORS, listener, 0};
  struct { const void *at; uint64_t size; } text = {line, sizeof line - 1};
  struct { void *name; uint64_t name_size; void *parts; uint64_t part_count; void *control; uint64_t control_size, flags; }
    message = {NULL, 0, &text, 1, &passed, sizeof passed, 0};
  must(CALL3(N_sendmsg, WIRE, ADDRESS(&message), 0), "cannot pass the socket of the proxy", "");
  CALL1(N_close, listener);
}

static void restrict_files(void) {
  int offered = landlock_version();
  int version = offered < options.most_version ? offered : options.most_version;
  int least = options.port_count > 0 && options.least_version < NETWORK_VERSION ? NETWORK_VERSION : options.least_version;
  if (version < least) refuse("Landlock is missing or too old", "", 0);
  if (version == 0) return;
  struct ruleset all = everything(version);
  long size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  int rules = (int)must(CALL3(N_landlock_create_ruleset, ADDRESS(&all), size, 0), "cannot make a ruleset", "");
  for (int i = 0; i < options.path_count; i += 1) allow_beneath(rules, options.paths[i], options.access[i] & all.files);
  for (int i = 0; i < options.port_count; i += 1) {
    struct port_rule rule = {CONNECT, options.ports[i]};
    must(CALL4(N_landlock_add_rule, rules, RULE_PORT, ADDRESS(&rule), 0), "cannot allow a port", "");
  }
  must(CALL2(N_landlock_restrict_self, rules, 0), "cannot restrict files", "");
  CALL1(N_close, rules);
}

static void set_limits(long pid) {
  for (int i = 0; i < options.limit_count; i += 1) {
    uint64_t limit[2] = {options.values[i], options.values[i]};
    must(CALL4(N_prlimit64, pid, options.resources[i], ADDRESS(limit), 0), "cannot set a limit", "");
  }
}

__attribute__((used, noreturn)) void begin(long *stack) {
  char **program = parse((char **)(stack + 1)), **inherited = (char **)(stack + 1) + *stack + 1;
  if (options.asks_version) { say_number(1, landlock_version()); say(1, "\n"); }
  if (options.pid > 0) set_limits(options.pid);
  if (options.asks_version || options.pid > 0) for (;;) CALL1(N_exit_group, 0);
  if (!program) refuse("no program", "", 0);
  if (options.listen_port > 0) pass_listener();
  if (options.filter > 2 && !options.keeps_filter) keep(options.filter);
  close_others();
  CALL1(N_setsid, 0); /* fails if it already leads a session */
  const char *folder = options.folder ? options.folder : "/";
  must(CALL1(N_chdir, ADDRESS(folder)), "cannot enter", folder);
  drop_privileges();
  if (options.dies_with_parent) must(CALL2(N_prctl, PR_SET_PDEATHSIG, 9), "cannot die with the parent", "");
  restrict_files();
  set_limits(0);
  if (options.filter >= 0) {
    read_filter();
    if (!options.keeps_filter) CALL1(N_close, options.filter);
    struct sock_fprog filter = {(unsigned short)(options.filter_bytes / sizeof *code), code};
    must(CALL3(N_seccomp, SECCOMP_SET_MODE_FILTER, 0, ADDRESS(&filter)), "cannot filter system calls", "");
  }
  char **environment = options.keeps_environment ? inherited : options.environment;
  long error = CALL3(N_execve, ADDRESS(program[0]), ADDRESS(program), ADDRESS(environment));
  refuse("cannot start", program[0], error);
}

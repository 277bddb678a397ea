/** A native program in place of the engine can reach nothing; the same program outside succeeds. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { assembleFilter } from "../../src/processes/confinement/assemble-filter.ts";
import { ACCEPTING, ALLOWED } from "../../src/processes/confinement/syscalls.ts";
import { UNCONFINED } from "./fixtures/escape-sandbox.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import type { Canaries } from "./fixtures/canaries.ts";
import { readStatus } from "./fixtures/memory-watch.ts";
import { buildProbe, confinementOf, nativeParts, probeInside, probeOutside } from "./fixtures/probe.ts";
import type { ProbeResult, ProbeTask } from "./fixtures/probe.ts";

const MEGABYTE = 1024 * 1024;
const MEMORY_BYTES = 64 * MEGABYTE;
/** In addition to the program's own memory; the kernel refuses the allocation that would exceed it. */
const MARGIN_MB = 64;
const MOST_SYSTEM_CALLS = 75;

/** Every attempt, with the errors that are expected inside the confinement. */
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  "read-passwd": ["ENOENT"],
  "read-canary": ["ENOENT"],
  "read-own-environment": ["ENOENT"],
  "read-first-environment": ["ENOENT"],
  "read-docker-socket": ["ENOENT"],
  "read-memory": ["ENOENT"],
  "read-null": ["ENOENT"],
  "list-root": ["EACCES", "EPERM"], // without Landlock the folder opens, and nothing reads it
  "list-home": ["ENOENT"],
  "make-folder": ["EPERM"],
  "raise-limit": ["EPERM"],
  shell: ["ENOENT"],
  clone3: ["ENOSYS"],
};

const FILTER_ANSWER: readonly string[] = ["EPERM"];
/** System calls that the filter refuses with any arguments. */
const FILTERED =
  "tcp udp unix netlink raw vsock unix-pair send-on-wire send-to-name accept send-message tcp-by-x32 connect-wire fork clone vfork ptrace read-process mount pivot chroot unshare setns setuid capset bpf io-uring userfaultfd keyctl add-key perf module memfd seccomp open-handle pidfd clock day kill-all shared-memory".split(
    " ",
  );

/** Calls that the filter allows with other arguments. */
const NARROWED =
  "map-shared map-growing-down signal-parent read-limit-by-pid set-own-limit fcntl-async fcntl-owner fcntl-owner-extended fcntl-signal open-write open-read-write open-create open-truncate open-append open-async open-path open-write-by-old-call ioctl-async ioctl-owner prctl-death-signal prctl-dumpable".split(
    " ",
  );
/** The same calls with arguments that an engine needs. */
const NEEDED =
  "map-private map-shared-file signal-self read-own-limit fcntl-nonblocking open-read ioctl-readable prctl-name".split(
    " ",
  );
/** Refused by the filter first, and by the root without it. */
const WRITING = ["write-folder", "write-tmp", "write-root", "write-engine", "inject-input"];

/** The results of the same probe without confinement, which prove that each attempt is real. */
const CONTROLS =
  "read-passwd read-canary read-own-environment list-root write-folder write-tmp make-folder read-null tcp udp unix netlink fork clone shell".split(
    " ",
  );
const SHARED_MB = 256;

const built = process.platform === "linux" && process.arch === "x64" ? buildProbe() : undefined;
const why = built?.kind === "built" ? false : (built?.why ?? "the probe is for Linux on x86-64");
if (built?.kind === "missing" && process.env["CI"]) throw new Error(built.why);

describe("a native payload", { skip: why === false ? UNCONFINED : why }, () => {
  const probe = built?.kind === "built" ? built.path : "";
  const seen = new Map<string, string>();
  let canaries: Canaries;
  let inside: ProbeResult;
  let outside: ProbeResult;
  const taskOf = (manner: ProbeTask["manner"]): ProbeTask => ({
    manner,
    port: canaries.port,
    canary: canaries.file,
    folder: canaries.file.replace(/\/[^/]*$/, ""),
    memoryBytes: MEMORY_BYTES,
  });
  const look = (pid: number): void => {
    for (const field of ["CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp"])
      seen.set(field, readStatus(pid, field));
  };

  before(async () => {
    canaries = await plantCanaries();
    inside = await probeInside(confinementOf(probe), { ...taskOf("all"), look });
    assert.equal(canaries.visits(), 0);
    outside = await probeOutside(probe, taskOf("harmless"));
  });
  after(() => canaries[Symbol.asyncDispose]());

  test("the native probe runs all attempts to the end", () => {
    assert.deepEqual([inside.found.get("end"), inside.code, inside.stderr], ["ok", 0, ""]);
  });

  for (const name of [...CONTROLS, ...NARROWED, ...NEEDED]) {
    test(`the native probe succeeds with "${name}" outside the confinement`, () =>
      assert.equal(outside.found.get(name), "ok"));
  }
  test("the native probe reaches the canary server outside the confinement", () => assert.ok(canaries.visits() > 0));

  for (const [name, errors] of [
    ...Object.entries(REFUSALS),
    ...[...FILTERED, ...NARROWED, ...WRITING].map((call) => [call, FILTER_ANSWER] as const),
  ]) {
    test(`the native probe fails with "${name}" inside the confinement`, () => {
      assert.ok(errors.includes(inside.found.get(name) ?? ""), `${name}: ${inside.found.get(name)}`);
    });
  }

  for (const name of NEEDED) {
    test(`the native probe succeeds with "${name}" inside the confinement`, () =>
      assert.equal(inside.found.get(name), "ok"));
  }

  test("the native probe has only the descriptors of input, output, errors and the wire", () => {
    const own = (probed: ProbeResult): string => (probed.found.get("descriptors") ?? "").split(",").slice(0, 4).join();
    assert.equal(inside.found.get("descriptors"), "0,1,2,3");
    assert.equal(own(outside), "0,1,2,3");
  });

  test("the native probe has only the time zone and a file that does not exist in its environment", () => {
    assert.equal(inside.found.get("environment"), "TZ=UTC,OPENSSL_CONF=/none");
    assert.equal(outside.found.get("environment"), "TZ=UTC,LC_ALL=en_US.UTF-8");
  });

  test("the native probe sees no other process and another host name", () => {
    const facts = ["host", "pid", "parent", "other-processes"].map((name) => inside.found.get(name));
    assert.deepEqual(facts, ["sandbox", "1", "0", "0"]);
    assert.notEqual(outside.found.get("host"), "sandbox");
  });

  test("the native probe has no capability, cannot gain one, and is filtered, as the kernel reports", () => {
    const none = "0".repeat(16);
    assert.deepEqual(Object.fromEntries(seen), {
      CapEff: none,
      CapPrm: none,
      CapBnd: none,
      NoNewPrivs: "1",
      Seccomp: "2",
    });
  });

  test("the native probe can open few descriptors, cannot write files or dump core, and cannot raise these limits", () => {
    const limits = ["limit-descriptors", "limit-file-size", "limit-core"].map((name) => inside.found.get(name));
    assert.deepEqual(limits, ["64", "0", "0"]);
    assert.ok(Number(inside.found.get("many-descriptors")) <= 64);
    assert.equal(outside.found.get("many-descriptors"), "10000");
  });

  test("the native probe cannot use more memory than the kernel's limit", (context) => {
    context.diagnostic(`${inside.found.get("memory")} MB, ${inside.found.get("threads")} threads`);
    assert.ok(Number(inside.found.get("memory")) <= MEMORY_BYTES / MEGABYTE + MARGIN_MB);
    assert.ok(Number(inside.found.get("memory")) > 0);
  });

  test("the native probe holds no shared memory, which the kernel's limit does not count", async () => {
    const unfiltered = { ...confinementOf(probe), filters: [] };
    const { found } = await probeInside(unfiltered, { ...taskOf("harmless"), memoryBytes: MEGABYTE });
    assert.equal(found.get("shared-megabytes"), String(SHARED_MB));
    assert.equal(inside.found.get("shared-megabytes"), "0");
  });

  test("the native probe is killed when it uses another system call convention", async () => {
    const foreign = await probeInside(confinementOf(probe), taskOf("foreign"));
    assert.deepEqual([[...foreign.found.keys()], foreign.code], [["begin"], 128 + 31]); // SIGSYS
    assert.equal((await probeOutside(probe, taskOf("foreign"))).found.get("begin"), "ok");
  });

  test("the native probe gets a socket without the filter, and still reaches no host", async () => {
    const { found } = await probeInside({ ...confinementOf(probe), filters: [], landlock: 0 }, taskOf("harmless"));
    assert.deepEqual([found.get("unix"), found.get("fork")], ["ok", "ok"]);
    assert.ok(["ECONNREFUSED", "ENETUNREACH"].includes(found.get("tcp") ?? ""), found.get("tcp"));
  });

  test("the native probe finds no file to write and no other process, even without the filter", async () => {
    // Without Landlock too: the namespaces alone hold.
    const { found } = await probeInside({ ...confinementOf(probe), filters: [], landlock: 0 }, taskOf("harmless"));
    const facts = ["write-folder", "write-tmp", "write-root", "other-processes"].map((name) => found.get(name));
    assert.deepEqual(facts, ["ENOENT", "ENOENT", "EROFS", "0"]);
    assert.ok(["EROFS", "ETXTBSY"].includes(found.get("write-engine") ?? ""), found.get("write-engine"));
  });

  test("the native probe can use a socket pair and its wire behind the filter of workerd, and nothing else", async () => {
    const filters = [assembleFilter(nativeParts().processor, { acceptsWire: true })];
    const { found } = await probeInside({ ...confinementOf(probe), filters }, taskOf("all"));
    assert.deepEqual(
      ["unix-pair", "send-on-wire", "accept"].map((name) => found.get(name)),
      ["ok", "ok", "EINVAL"], // the wire of the probe is connected, so there is nothing to accept
    );
    assert.equal(found.get("open-path"), "ENOENT"); // workerd refers to its root by O_PATH
    const allowed = ["unix-pair", "send-on-wire", "accept", "open-path"];
    const others = [...FILTERED, ...NARROWED, ...WRITING].filter((name) => !allowed.includes(name));
    assert.deepEqual(
      others.filter((name) => found.get(name) !== "EPERM"),
      [],
    );
    assert.deepEqual(
      NEEDED.filter((name) => found.get(name) !== "ok"),
      [],
    );
  });

  test("the native probe reads the machine's files if it may read its root, but opens no socket and writes nothing", async () => {
    const files = [
      { from: "/", at: "/" },
      { from: probe, at: probe, isProgram: true },
    ];
    const { found } = await probeInside({ ...confinementOf(probe), bubblewrap: undefined, files }, taskOf("harmless"));
    assert.deepEqual([found.get("read-passwd"), found.get("read-canary")], ["ok", "ok"]);
    assert.deepEqual([found.get("tcp"), found.get("write-folder")], ["EPERM", "EPERM"]);
  });

  test("the native probe opens many descriptors without the resource limits", async () => {
    const unlimited = (args: readonly string[]): readonly string[] =>
      args.filter((arg, index) => arg !== "7:64" && args[index + 1] !== "7:64");
    const { found } = await probeInside(confinementOf(probe), taskOf("harmless"), unlimited);
    assert.ok(Number(found.get("many-descriptors")) > 64);
  });
});

test("the system call filter allows few calls, and none that gives access to other resources", (context) => {
  const calls = ALLOWED.flatMap((group) => Object.keys(group.x64));
  context.diagnostic(`${calls.length} system calls`);
  assert.ok(calls.length <= MOST_SYSTEM_CALLS);
  assert.equal(new Set(calls).size, calls.length);
  const doors =
    /^(socket|connect|bind|ptrace|fork|vfork|kill|mount|unshare|setns|bpf|io_uring|memfd|process_|keyctl|sendmsg|recvmsg)/;
  assert.deepEqual(
    [...calls, ...Object.keys(ACCEPTING.x64)].filter((call) => doors.test(call)),
    ["socketpair"],
  );
});

/** A native program in the engine's place finds an empty world; the same program outside it does what it likes. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { assembleFilter } from "../../src/sandbox/confinement/assemble-filter.ts";
import { ACCEPTING, ALLOWED } from "../../src/sandbox/confinement/syscalls.ts";
import { UNCONFINED } from "./fixtures/escape-sandbox.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import type { Canaries } from "./fixtures/canaries.ts";
import { readStatus } from "./fixtures/memory-watch.ts";
import { buildProbe, confinementOf, probeInside, probeOutside } from "./fixtures/probe.ts";
import type { ProbeResult, ProbeTask } from "./fixtures/probe.ts";

const MEGABYTE = 1024 * 1024;
const MEMORY_BYTES = 64 * MEGABYTE;
/** Beside the program's own memory; the kernel refuses the piece that would go over. */
const MARGIN_MB = 64;
const MOST_SYSTEM_CALLS = 75;

/** Every attempt with the errors that a held wall answers it with. */
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  "read-passwd": ["ENOENT"],
  "read-canary": ["ENOENT"],
  "read-own-environment": ["ENOENT"],
  "read-first-environment": ["ENOENT"],
  "read-docker-socket": ["ENOENT"],
  "read-memory": ["ENOENT"],
  "read-null": ["ENOENT"],
  "list-root": ["EPERM"],
  "list-home": ["ENOENT"],
  "write-folder": ["ENOENT"],
  "write-tmp": ["ENOENT"],
  "write-root": ["EROFS"],
  "write-engine": ["EROFS", "ETXTBSY"],
  "make-folder": ["EPERM"],
  "raise-limit": ["EPERM"],
  shell: ["ENOENT"],
  clone3: ["ENOSYS"],
  "inject-input": ["ENOTTY"],
};

const FILTER_ANSWER: readonly string[] = ["EPERM"];
/** System calls that the filter refuses whatever their arguments. */
const FILTERED =
  "tcp udp unix netlink raw vsock unix-pair send-on-wire send-to-name accept send-message tcp-by-x32 connect-wire fork clone vfork ptrace read-process mount pivot chroot unshare setns setuid capset bpf io-uring userfaultfd keyctl add-key perf module memfd seccomp open-handle pidfd clock day kill-all shared-memory".split(
    " ",
  );

/** What the same probe does where nothing holds it: proof that each attempt is a real one. */
const CONTROLS =
  "read-passwd read-canary read-own-environment list-root write-folder write-tmp make-folder read-null tcp udp unix netlink fork clone shell".split(
    " ",
  );

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

  test("tries everything to the end", () => {
    assert.deepEqual([inside.found.get("end"), inside.code, inside.stderr], ["ok", 0, ""]);
  });

  for (const name of CONTROLS) {
    test(`succeeds with "${name}" outside`, () => assert.equal(outside.found.get(name), "ok"));
  }
  test("reaches the canary server outside", () => assert.ok(canaries.visits() > 0));

  for (const [name, errors] of [
    ...Object.entries(REFUSALS),
    ...FILTERED.map((call) => [call, FILTER_ANSWER] as const),
  ]) {
    test(`fails with "${name}" inside`, () => {
      assert.ok(errors.includes(inside.found.get(name) ?? ""), `${name}: ${inside.found.get(name)}`);
    });
  }

  test("has no descriptors but input, output, errors and the wire", () => {
    const own = (probed: ProbeResult): string => (probed.found.get("descriptors") ?? "").split(",").slice(0, 4).join();
    assert.equal(own(inside), "0,1,2,3");
    // What this process itself inherited goes to a plainly started child; the running child is looked at elsewhere.
    assert.equal(inside.found.get("descriptors"), outside.found.get("descriptors"));
  });

  test("has the time zone and its folder in its environment, and nothing else", () => {
    assert.equal(inside.found.get("environment"), "TZ=UTC,PWD=/");
    assert.equal(outside.found.get("environment"), "TZ=UTC,LC_ALL=en_US.UTF-8");
  });

  test("is alone, on a machine with another name", () => {
    const facts = ["host", "pid", "parent", "other-processes"].map((name) => inside.found.get(name));
    assert.deepEqual(facts, ["sandbox", "1", "0", "0"]);
    assert.notEqual(outside.found.get("host"), "sandbox");
  });

  test("has no capability, can gain none, and is filtered, as the kernel says", () => {
    const none = "0".repeat(16);
    assert.deepEqual(Object.fromEntries(seen), {
      CapEff: none,
      CapPrm: none,
      CapBnd: none,
      NoNewPrivs: "1",
      Seccomp: "2",
    });
  });

  test("can open few descriptors, write no file, dump no core and raise none of it", () => {
    const limits = ["limit-descriptors", "limit-file-size", "limit-core"].map((name) => inside.found.get(name));
    assert.deepEqual(limits, ["64", "0", "0"]);
    assert.ok(Number(inside.found.get("many-descriptors")) <= 64);
    assert.equal(outside.found.get("many-descriptors"), "10000");
  });

  test("holds no more memory than the kernel's cap", (context) => {
    context.diagnostic(`${inside.found.get("memory")} MB, ${inside.found.get("threads")} threads`);
    assert.ok(Number(inside.found.get("memory")) <= MEMORY_BYTES / MEGABYTE + MARGIN_MB);
    assert.ok(Number(inside.found.get("memory")) > 0);
  });

  test("dies when it calls the kernel by another convention", async () => {
    const foreign = await probeInside(confinementOf(probe), taskOf("foreign"));
    assert.deepEqual([[...foreign.found.keys()], foreign.code], [["begin"], 128 + 31]); // SIGSYS
    assert.equal((await probeOutside(probe, taskOf("foreign"))).found.get("begin"), "ok");
  });

  test("gets a socket when the filter is left out, and still reaches nobody", async () => {
    const { found } = await probeInside({ ...confinementOf(probe), filter: undefined }, taskOf("harmless"));
    assert.deepEqual([found.get("unix"), found.get("fork")], ["ok", "ok"]);
    assert.ok(["ECONNREFUSED", "ENETUNREACH"].includes(found.get("tcp") ?? ""), found.get("tcp"));
  });

  test("makes a pair and speaks on its wire behind the filter of workerd, and is refused everything else", async () => {
    const filter = assembleFilter(process.arch, true);
    const { found } = await probeInside({ ...confinementOf(probe), filter }, taskOf("all"));
    assert.deepEqual(
      ["unix-pair", "send-on-wire", "accept"].map((name) => found.get(name)),
      ["ok", "ok", "EINVAL"], // the wire of the probe is connected, so that there is nothing to accept
    );
    const others = FILTERED.filter((name) => !["unix-pair", "send-on-wire", "accept"].includes(name));
    assert.deepEqual(
      others.filter((name) => found.get(name) !== "EPERM"),
      [],
    );
  });

  test("reads the machine's files when its root is the machine's, and still opens no socket and writes nothing", async () => {
    const confinement = { ...confinementOf(probe), files: [{ from: "/", at: "/" }] };
    const { found } = await probeInside(confinement, taskOf("harmless"), probe);
    assert.deepEqual([found.get("read-passwd"), found.get("read-canary")], ["ok", "ok"]);
    assert.deepEqual([found.get("tcp"), found.get("write-folder")], ["EPERM", "EROFS"]);
  });

  test("opens many descriptors when the limits are left out", async () => {
    const { tools, ...rest } = confinementOf(probe);
    const { found } = await probeInside({ ...rest, tools: { ...tools, prlimit: undefined } }, taskOf("harmless"));
    assert.ok(Number(found.get("many-descriptors")) > 64);
  });
});

test("the filter allows few system calls, and none that opens a door", (context) => {
  const calls = ALLOWED.flatMap((group) => group.calls);
  context.diagnostic(`${calls.length} system calls`);
  assert.ok(calls.length <= MOST_SYSTEM_CALLS);
  assert.equal(new Set(calls).size, calls.length);
  const doors =
    /^(socket|connect|bind|ptrace|fork|vfork|kill|mount|unshare|setns|bpf|io_uring|memfd|process_|keyctl|sendmsg|recvmsg)/;
  assert.deepEqual(
    [...calls, ...ACCEPTING.calls].filter((call) => doors.test(call)),
    ["socketpair"],
  );
});

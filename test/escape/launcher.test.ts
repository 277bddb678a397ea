/**
 * The launcher without namespaces: a native program in place of the engine reaches nothing once it is sealed, not even
 * another process of the same user. The same program outside succeeds.
 */

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { NATIVE_PARTS, NATIVE_TARGETS, compileNative, readDigests } from "../../scripts/build-launcher.ts";
import { assembleFilter, assembleSeal } from "../../src/processes/confinement/assemble-filter.ts";
import type { Confinement } from "../../src/sandbox/confinement/confine.ts";
import { digestOf } from "../../src/text/index.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import type { Canaries } from "./fixtures/canaries.ts";
import { UNCONFINED } from "./fixtures/escape-sandbox.ts";
import { readStatus } from "./fixtures/memory-watch.ts";
import { buildProbe, confinementOf, nativeParts, probeInside, probeOutside } from "./fixtures/probe.ts";
import type { ProbeResult, ProbeTask } from "./fixtures/probe.ts";

const MOST_BYTES = 32 * 1024;
const REFUSED = 125;

const isHere = process.platform === "linux" && process.arch === "x64";
const built = isHere ? buildProbe() : undefined;
const why = built?.kind === "built" ? false : (built?.why ?? "the probe is for Linux on x86-64");

/** Attempts that succeed in a sealed process, because an engine needs them or because they reach nothing. */
const HARMLESS = ["begin", "end", "map-private", "signal-self"];
/** What Landlock and the first filter leave open before the second stage: questions about files and processes. */
const LEAKS = ["stat-canary", "access-canary", "link-in-proc", "victim-exists", "victim-capabilities"];
const NEEDED =
  "map-private map-shared-file signal-self read-own-limit fcntl-nonblocking open-read ioctl-readable prctl-name".split(
    " ",
  );
/** Reports of numbers and texts, not of attempts. */
const FACTS =
  "descriptors environment host pid parent other-processes limit-descriptors limit-file-size limit-core many-descriptors shared-megabytes threads memory".split(
    " ",
  );

const succeeded = ({ found }: ProbeResult): readonly string[] =>
  [...found].filter(([name, result]) => result === "ok" && !FACTS.includes(name)).map(([name]) => name);

describe("a native payload behind the launcher alone", { skip: why === false ? UNCONFINED : why }, () => {
  const probe = built?.kind === "built" ? built.path : "";
  const victims: ChildProcess[] = [];
  let canaries: Canaries;
  let confinement: Confinement;
  const taskOf = (manner: ProbeTask["manner"]): ProbeTask & { readonly victim: number } => {
    const victim = spawn("sleep", ["600"], { stdio: "ignore" });
    victims.push(victim);
    return {
      manner,
      port: canaries.port,
      canary: canaries.file,
      folder: canaries.file.replace(/\/[^/]*$/, ""),
      victim: victim.pid ?? 0,
    };
  };
  const sealed = (): Confinement => {
    const { processor } = nativeParts();
    return { ...confinement, filters: [assembleFilter(processor, { isSealed: true }), assembleSeal(processor, false)] };
  };

  before(async () => {
    canaries = await plantCanaries();
    confinement = { ...confinementOf(probe), bubblewrap: undefined };
  });
  after(async () => {
    for (const victim of victims) victim.kill("SIGKILL");
    await canaries[Symbol.asyncDispose]();
  });

  for (const landlock of ["with", "without"] as const) {
    test(`the sealed probe reaches no file, socket or process ${landlock} Landlock`, async () => {
      const walls = landlock === "with" ? sealed() : { ...sealed(), landlock: 0 };
      const task = taskOf("sealed");
      const inside = await probeInside(walls, task);
      assert.deepEqual([inside.found.get("end"), inside.code, inside.stderr], ["ok", 0, ""]);
      assert.deepEqual(succeeded(inside).toSorted(), HARMLESS);
      assert.equal(canaries.visits(), 0);
      assert.notEqual(readStatus(task.victim, "State"), "");
      const facts = ["host", "other-processes", "shared-megabytes", "threads"].map((name) => inside.found.get(name));
      assert.deepEqual(facts, ["", "0", "0", "0"]);
      assert.equal(inside.found.get("descriptors"), ""); // it may not even ask which are open
    });
  }

  test("the probe without the second stage reaches nothing but answers about files and processes", async () => {
    const inside = await probeInside(confinement, taskOf("all"));
    const others = succeeded(inside).filter((name) => !NEEDED.includes(name) && !["begin", "end"].includes(name));
    assert.deepEqual(others.toSorted(), LEAKS.toSorted());
    assert.equal(inside.found.get("descriptors"), "0,1,2,3");
    assert.equal(inside.found.get("environment"), "TZ=UTC,OPENSSL_CONF=/none");
    assert.equal(canaries.visits(), 0);
  });

  test("the probe succeeds against another process of its user outside, so that the attempts are real", async () => {
    const { found } = await probeOutside(probe, taskOf("harmless"));
    const attempts = [...found].filter(([name]) => name.startsWith("victim-"));
    assert.deepEqual(
      attempts.filter(([, result]) => result !== "ok").map(([name]) => name),
      [],
    );
    assert.equal(found.get("read-canary"), "ok");
  });

  test("the probe has no capability and a filter, and dies with its parent, as the kernel reports", async () => {
    const seen = new Map<string, string>();
    const look = (pid: number): void => {
      for (const field of ["CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp"])
        seen.set(field, readStatus(pid, field));
    };
    await probeInside(confinement, { ...taskOf("harmless"), look });
    const none = "0".repeat(16);
    const expected = { CapEff: none, CapPrm: none, CapBnd: none, NoNewPrivs: "1", Seccomp: "2" };
    assert.deepEqual(Object.fromEntries(seen), expected);
  });

  test("the short probe finds every way outside, and none behind the launcher when it is sealed", async () => {
    const victim = String(taskOf("harmless").victim);
    const { probe: short } = nativeParts();
    const outside = execFileSync(short, [victim, canaries.file], { encoding: "latin1" }).trim().split("\n");
    assert.ok(outside.length > 20, outside.join());
    assert.equal(outside.at(-1), "end");
  });
});

describe("the launcher", { skip: isHere ? false : "the launcher of this test is for Linux on x86-64" }, () => {
  const start = (...args: readonly string[]) => {
    const { status, stderr } = spawnSync(nativeParts().launcher, args, { encoding: "latin1" });
    return [status, stderr.trim()];
  };

  test("the launcher starts nothing if it cannot confine as told, and says why", () => {
    const program = ["--", "/bin/true"];
    assert.deepEqual(start("-r", "/does/not/exist", ...program), [
      REFUSED,
      "launcher: cannot open /does/not/exist (error 2)",
    ]);
    assert.deepEqual(start("-m", "99", ...program), [REFUSED, "launcher: Landlock is missing or too old"]);
    assert.deepEqual(start("-z", "1", ...program), [REFUSED, "launcher: unknown option before 1"]);
    assert.deepEqual(start("-m", "x", ...program), [REFUSED, "launcher: not a number: x"]);
    assert.deepEqual(start("-m"), [REFUSED, "launcher: no value for -m"]);
    assert.deepEqual(start("-s", "0:7", ...program), [REFUSED, "launcher: damaged filter"]);
    assert.deepEqual(start("-s", "0:8", ...program), [REFUSED, "launcher: short filter"]);
    assert.deepEqual(start("-m", "0"), [REFUSED, "launcher: no program"]);
    assert.deepEqual(start("--", "/does/not/exist"), [REFUSED, "launcher: cannot start /does/not/exist (error 2)"]);
  });

  test("the launcher starts a program that it can confine as told", () => {
    assert.deepEqual(start("-x", "/", "-m", "1", "-l", "4:0", "--", "/bin/true"), [0, ""]);
  });
});

describe("the committed native parts", () => {
  const headers = { x86_64: "x86_64-linux-gnu/asm/unistd_64.h", aarch64: "asm-generic/unistd.h" };
  for (const [processor, name] of Object.entries(headers)) {
    const header = join("/usr/include", name);
    test(
      `the system call numbers of the launcher for ${processor} are those of the kernel's headers`,
      { skip: existsSync(header) ? false : `${header} is not installed here` },
      () => {
        const source = readFileSync(new URL("../../native/system.h", import.meta.url), "utf8");
        const own = new RegExp(`__${processor}__\\)\\nenum \\{([^}]*)\\}`).exec(source)?.[1] ?? "";
        const used = [...own.matchAll(/N_(\w+) = (\d+)/g)].map(([, call, number]) => [call, number]);
        const text = readFileSync(header, "utf8");
        const known = new Map(
          [...text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)].map(([, call, number]) => [call, number]),
        );
        const numberOf = (call = ""): string | undefined => known.get(call) ?? known.get(call.replace(/^new/, ""));
        assert.ok(used.length > 20);
        assert.deepEqual(
          used.filter(([call, number]) => numberOf(call) !== number),
          [],
        );
      },
    );
  }

  for (const target of NATIVE_TARGETS) {
    for (const part of NATIVE_PARTS) {
      const file = new URL(`../../native/prebuilt/${target}/${part}`, import.meta.url);

      test(`${part} for ${target} is small and has its digest`, () => {
        assert.ok(statSync(file).size <= MOST_BYTES);
        assert.equal(digestOf(readFileSync(file)), readDigests()[`${target}/${part}`]);
      });

      test(`${part} for ${target} is what its source compiles to`, (context) => {
        const folder = mkdtempSync(join(tmpdir(), "glovebox-native-"));
        context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
        const output = join(folder, part);
        const reason = missingCompiler(target);
        if (reason !== undefined) return context.skip(reason);
        compileNative(target, part, output);
        assert.equal(digestOf(readFileSync(output)), readDigests()[`${target}/${part}`]);
      });
    }
  }
});

/** The bytes are reproducible with one version of the compiler, that of Debian 12. */
function missingCompiler(target: (typeof NATIVE_TARGETS)[number]): string | undefined {
  const compiler = target === "linux-x64" ? "gcc" : "aarch64-linux-gnu-gcc";
  if (target === "linux-arm64" && !existsSync("/usr/aarch64-linux-gnu/include/asm/types.h")) {
    return "linux-libc-dev-arm64-cross is not installed here";
  }
  const { stdout } = spawnSync(compiler, ["--version"], { encoding: "utf8" });
  return /Debian 12\.2\.0/.test(stdout ?? "") ? undefined : `${compiler} of Debian 12 is not installed here`;
}

/**
 * Compiles the native parts of confinement for every processor, and writes them to `native/prebuilt/` with their digests.
 * Needs Debian's packages `gcc`, `gcc-aarch64-linux-gnu` and `linux-libc-dev-arm64-cross`. The bytes are the same on
 * every machine with gcc 12.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { digestOf } from "../src/text/index.ts";

const NATIVE = join(dirname(dirname(fileURLToPath(import.meta.url))), "native");
const PREBUILT = join(NATIVE, "prebuilt");
const DIGESTS = join(PREBUILT, "digests.json");

export const NATIVE_TARGETS = ["linux-x64", "linux-arm64"] as const;
export const NATIVE_PARTS = ["launcher", "seal.node", "probe"] as const;
type Target = (typeof NATIVE_TARGETS)[number];
type Part = (typeof NATIVE_PARTS)[number];

const COMPILERS: Readonly<Record<Target, readonly [string, ...string[]]>> = {
  "linux-x64": ["gcc", "-fcf-protection=none"],
  "linux-arm64": ["aarch64-linux-gnu-gcc"],
};
/** Small, without a C library, and without anything that differs between builds. */
const FLAGS =
  "-Os -ffreestanding -nostdlib -fno-stack-protector -fno-asynchronous-unwind-tables -Wall -Wextra -Werror -Wno-unused-function -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,--hash-style=gnu -s";
const SOURCES: Readonly<Record<Part, readonly [string, ...string[]]>> = {
  launcher: ["launcher.c", "-static"],
  "seal.node": ["seal.c", "-shared", "-fPIC"],
  probe: ["probe.c", "-static"],
};

/** Compiles one part. Throws if the compiler is missing. */
export function compileNative(target: Target, part: Part, output: string): void {
  const [compiler, ...options] = COMPILERS[target];
  const [source, ...kind] = SOURCES[part];
  const args = [...options, ...FLAGS.split(" "), ...kind, "-o", output, source];
  execFileSync(compiler, args, { cwd: NATIVE, stdio: "pipe" });
}

/** The digests of the committed files, by `TARGET/PART`. */
export function readDigests(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(DIGESTS, "utf8"));
}

function buildAll(): void {
  const digests: Record<string, string> = {};
  for (const target of NATIVE_TARGETS) {
    mkdirSync(join(PREBUILT, target), { recursive: true });
    for (const part of NATIVE_PARTS) {
      const file = join(PREBUILT, target, part);
      compileNative(target, part, file);
      digests[`${target}/${part}`] = digestOf(readFileSync(file));
    }
  }
  writeFileSync(DIGESTS, `${JSON.stringify(digests, undefined, 2)}\n`);
}

if (import.meta.main) buildAll();

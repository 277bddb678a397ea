/**
 * `npm run pack:v8`: packs the Node of this clone as the optional package `glovebox-v8`, which runs V8 isolates beside an
 * older Node. It has no command, so npm puts nothing on the path of the project that installs it.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { V8_PACKAGE } from "../src/sandbox/engines/isolate/find-node.ts";

const { platform, arch, versions, execPath } = process;

/** Returns the path of the tarball. */
export function packV8(destination: string): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-v8-"));
  try {
    const program = platform === "win32" ? "node.exe" : "node";
    copyFileSync(execPath, join(folder, program));
    copyFileSync(findLicense(), join(folder, "LICENSE"));
    const manifest = {
      name: V8_PACKAGE,
      version: versions.node,
      description: "The Node in which Glovebox runs V8 isolates when the project runs on an older one.",
      license: "MIT",
      os: [platform],
      cpu: [arch],
      files: [program, "LICENSE"],
      abi: versions.modules,
    };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
    const args = ["pack", "--silent", "--pack-destination", resolve(destination), folder];
    execFileSync("npm", args, { stdio: ["ignore", "ignore", "inherit"] });
    return join(resolve(destination), `${V8_PACKAGE}-${versions.node}.tgz`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function findLicense(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve(`node-${platform}-${arch}/package.json`)), "LICENSE");
}

if (import.meta.main) console.log(packV8(process.argv[2] ?? "."));

/** Finds the Node that runs V8 isolates, and the native module that fits it. */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { GloveboxError, isJsonObject, parseJson } from "../../../domain/index.ts";
import { findBuilt } from "../../find-built.ts";

export interface NodeForV8 {
  readonly node: string;
  readonly native: string;
}

/** An optional package that holds a Node, without a command that npm would put on the path. */
export const V8_PACKAGE = "glovebox-v8";

/** What tells which Node the gateway runs on, and where packages are. */
interface RunningNode {
  readonly abi?: string;
  readonly require?: Pick<NodeJS.Require, "resolve">;
}

/** `own` is the Node of the gateway. Returns `undefined` if neither it nor the optional package fits a native module. */
export function findNodeForV8(
  own: string,
  { abi = process.versions.modules, require = createRequire(import.meta.url) }: RunningNode = {},
): NodeForV8 | undefined {
  const native = findNative(abi);
  return native === undefined ? findOptional(require) : { node: own, native };
}

export function requireNodeForV8(own: string, running?: RunningNode): NodeForV8 {
  const found = findNodeForV8(own, running);
  if (found) return found;
  throw new GloveboxError(
    "SANDBOX_UNAVAILABLE",
    `Node ${process.versions.node} on ${process.platform}-${process.arch} cannot run V8 isolates`,
    {
      hint: 'Use Node 24, add the part for V8 isolates as docs/reference/package.md describes, or set sandbox.engine: "auto"',
    },
  );
}

function findOptional(require: NonNullable<RunningNode["require"]>): NodeForV8 | undefined {
  try {
    const manifest = require.resolve(`${V8_PACKAGE}/package.json`);
    const { abi } = parseManifest(readFileSync(manifest, "utf8"));
    const node = join(dirname(manifest), process.platform === "win32" ? "node.exe" : "node");
    const native = findNative(abi);
    return native !== undefined && existsSync(node) ? { node, native } : undefined;
  } catch {
    return undefined; // not installed
  }
}

function parseManifest(text: string): { readonly abi: string } {
  const manifest = parseJson(text);
  const abi = isJsonObject(manifest) ? manifest["abi"] : undefined;
  return { abi: typeof abi === "string" ? abi : "" };
}

/** The build copies the modules of isolated-vm for each platform and version of Node. */
function findNative(abi: string): string | undefined {
  const { platform, arch } = process;
  const library = platform === "linux" ? (existsSync("/etc/alpine-release") ? ".musl" : ".glibc") : "";
  try {
    return findBuilt("isolate", `${platform}-${arch}.abi${abi}${library}.node`);
  } catch {
    return undefined;
  }
}

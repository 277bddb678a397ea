/** What engines have in common: the bundled child, the shared libraries, and the commands of those that run in Node. */

import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { EngineName } from "../../domain/index.ts";
import type { Engine, EngineFile } from "../engine.ts";
import { findBuilt } from "../find-built.ts";

/** Where a confined child finds its Node and its code. */
const NODE_AT = "/engine/node";
const CHILD_AT = "/engine/child.mjs";
/** The kernel executes it to load a program. */
const LOADER = /\/ld-[^/]*\.so(\.\d+)?$/;

/**
 * An engine whose child is `node` with the files of `code` (native code, WebAssembly, data), MEMORY and the seal, if any,
 * as arguments.
 */
export function createNodeEngine(
  name: EngineName,
  node: string,
  flags: readonly string[],
  code: readonly EngineFile[],
): Engine {
  const child = findBuilt(name, "child.mjs");
  const command =
    (file: string, childAt: string, codeAt: readonly string[]): Engine["command"] =>
    (usualMemoryBytes, seal) => ({
      file,
      args: [...flags, childAt, ...codeAt, String(usualMemoryBytes), ...(seal === undefined ? [] : [seal])],
    });
  const files = (): readonly EngineFile[] => [
    { from: realpathSync(node), at: NODE_AT, isProgram: true },
    { from: child, at: CHILD_AT },
    ...(node === process.execPath ? listLibraries() : askLibraries(node)),
    ...code.map(({ from, at }) => ({ from: realpathSync(from), at })),
  ];
  const contained =
    process.platform === "linux"
      ? {
          files: files(),
          command: command(
            NODE_AT,
            CHILD_AT,
            code.map(({ at }) => at),
          ),
        }
      : undefined;
  return {
    name,
    command: command(
      node,
      child,
      code.map(({ from }) => from),
    ),
    contained,
  };
}

let libraries: readonly EngineFile[] | undefined;

/** The shared libraries of this process: the same executable needs the same ones, and the engines no others. */
export function listLibraries(): readonly EngineFile[] {
  return (libraries ??= findLibraries());
}

function findLibraries(): readonly EngineFile[] {
  // Resolving the names of network interfaces is slow and not needed.
  Object.assign(process.report, { excludeNetwork: true });
  return toFiles(process.report.getReport());
}

const ASK = "process.report.excludeNetwork = true; JSON.stringify(process.report.getReport())";
const ASK_MS = 10_000;

/** The libraries of another Node than that of the gateway. */
function askLibraries(node: string): readonly EngineFile[] {
  const report = parseJson(execFileSync(node, ["-p", ASK], { encoding: "utf8", env: {}, timeout: ASK_MS }));
  return toFiles(isJsonObject(report) ? report : {});
}

function toFiles(report: object): readonly EngineFile[] {
  return parseSharedObjects(report)
    .filter((library) => library.startsWith("/") && !library.endsWith(".node"))
    .map((library) => ({ from: realpathSync(library), at: library, isProgram: LOADER.test(library) }));
}

function parseSharedObjects(report: object): readonly string[] {
  const listed: unknown = "sharedObjects" in report ? report.sharedObjects : [];
  return Array.isArray(listed) ? listed.filter((library) => typeof library === "string") : [];
}

/** The built product as a user has it: the command line in a folder of its own. */

import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

import { noteStart } from "../replays/passing-store.ts";

/** What `npx glovebox` starts. */
export const LAUNCHER = resolve("bin/glovebox.js");

/** How one command ended. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder that is gone after the test, with a configuration in it if one is given. */
export function makeFolder(context: TestContext, config?: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  if (config !== undefined) writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  return folder;
}

/** What a command is started with; nothing of this process reaches it beside the search path. */
export function cleanEnvironment(folder: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  noteStart(folder, more);
  return { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_CACHE_HOME: resolve("node_modules/.cache"), ...more };
}

/** Starts the command line with a clean environment; the caller waits for it or ends it. */
export function startGlovebox(
  args: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [LAUNCHER, ...args], { cwd: folder, env: cleanEnvironment(folder, environment) });
}

/** As `startGlovebox`, for a command that does not end by itself: it is gone after the test, whatever happens. */
export function startFor(
  context: TestContext,
  args: readonly string[],
  folder: string,
): ChildProcessWithoutNullStreams & { readonly pid: number } {
  const child = startGlovebox(args, folder);
  context.after(() => child.kill("SIGKILL"));
  const { pid } = child;
  if (pid === undefined) throw new Error("The command could not be started");
  return Object.assign(child, { pid });
}

/** What `serve --json` prints once it is up. */
export interface Addresses {
  readonly url: string;
  readonly mcp: string;
  readonly admin: string;
  readonly engine: string;
  readonly isolation: string;
  readonly servers: readonly Record<string, unknown>[];
}

/** Serves on any free port until the test ends. */
export async function serveFor(
  context: TestContext,
  folder: string,
): Promise<Addresses & { readonly child: ReturnType<typeof startFor> }> {
  const child = startFor(context, ["serve", "--json", "--port", "0"], folder);
  const addresses = JSON.parse(await waitForOutput(child, /\}\n$/)) as Addresses;
  return { ...addresses, child };
}

/** Resolves with the exit code, or the signal that ended it. */
export function untilEnded(child: ChildProcessWithoutNullStreams): Promise<number | NodeJS.Signals | null> {
  return new Promise((ended) => child.once("close", (code, signal) => ended(code ?? signal)));
}

/** Runs one command to its end, with `input` on its standard input. */
export async function runGlovebox(
  args: readonly string[],
  { folder, input = "", environment = {} }: { folder: string; input?: string; environment?: Record<string, string> },
): Promise<Finished> {
  const child = startGlovebox(args, folder, environment);
  child.stdin.end(input);
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Resolves with what was printed once it matches; rejects when the process ends first. */
export function waitForOutput(child: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<string> {
  return new Promise((found, reject) => {
    let printed = "";
    const look = (chunk: Buffer): void => {
      printed += chunk.toString();
      if (pattern.test(printed)) found(printed);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("close", (code) => reject(new Error(`ended with ${code} before it printed ${pattern}:\n${printed}`)));
  });
}

/** The server of the registry that has a bit of everything, as an entry of `mcpServers`. */
export const EVERYTHING = {
  command: process.execPath,
  args: [resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
};

/** Our own small demo server, built. */
export const INVENTORY = { command: process.execPath, args: [resolve("dist/surfaces/demo/inventory.js")] };

/** The probe of these tests, started with its flags. */
export function probe(...flags: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [resolve("test/scenarios/fixtures/probe-server.mjs"), ...flags] };
}

/** One object per line, as `run --batch` prints them. */
export function parseJsonLines(output: string): Record<string, unknown>[] {
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

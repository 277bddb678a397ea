/** A copy of the fixture in `test/fixtures/old-store/`, and the built product on it with the clock of its day. */

import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { runGlovebox, startGlovebox, waitForOutput } from "../fixtures/product.ts";
import type { CommandResult } from "../fixtures/product.ts";

const FIXTURE = resolve("test/fixtures/old-store");
const PRELOAD = pathToFileURL(join(FIXTURE, "set-clock-and-host.mjs"));
const NOT_COPIED = new Set(["README.md", "expected.json", "set-clock-and-host.mjs", "write.mjs"]);
const ADDRESSES = /^\{.*\}$/m;

/** What the version that wrote the fixture answered at that time. */
export const EXPECTED: unknown = JSON.parse(readFileSync(join(FIXTURE, "expected.json"), "utf8"));

/** The value at a path of property names and indexes; `undefined` when there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (parent, key) => (typeof parent === "object" && parent !== null ? Reflect.get(parent, key) : undefined),
    value,
  );
}

/** As `at`, for what must be a string. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== "string") throw new TypeError(`${path.join(".")} is not a string: ${JSON.stringify(value)}`);
  return found;
}

/** As `at`, for what must be an array of strings. */
export function textsAt(value: unknown, ...path: readonly (string | number)[]): readonly string[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.map((_, index) => textAt(found, index)) : [];
}

/** As `at`, for what must be an object; a copy of it. */
export function objectAt(value: unknown, ...path: readonly (string | number)[]): Record<string, unknown> {
  const found = at(value, ...path);
  if (typeof found !== "object" || found === null) throw new TypeError(`${path.join(".")} is not an object`);
  return Object.fromEntries(Object.entries(found));
}

/** One copy. Disposing it ends every process and removes the folder. */
export interface StoreCopy extends AsyncDisposable {
  readonly folder: string;
  /** Runs one command to its end. */
  run(args: readonly string[], input?: string): Promise<CommandResult>;
  /** As `run`, for a command that succeeds and prints JSON. */
  read(...args: readonly string[]): Promise<unknown>;
  serve(): Promise<RunningGateway>;
  /** Starts the upstream that needs a login, which has the address that the login in the store belongs to. */
  startNotes(): Promise<void>;
  /** What the upstreams of the copy were called for, sorted. */
  calls(): readonly string[];
}

/** A running gateway. */
export interface RunningGateway {
  /** Of a client with a session. */
  readonly session: Client;
  /** Of a client of the revision without sessions. */
  readonly sessionless: Client;
  /** Resolves when the gateway has ended by itself after SIGTERM. */
  stop(): Promise<void>;
}

/** The clock of the copy starts `laterMs` after the fixture was written. */
export function openCopy({ laterMs = 0 }: { readonly laterMs?: number } = {}): StoreCopy {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-old-store-"));
  for (const name of readdirSync(FIXTURE))
    if (!NOT_COPIED.has(name)) cpSync(join(FIXTURE, name), join(folder, name), { recursive: true });
  // Git keeps no such mode, and a key that others can read is refused.
  for (const name of readdirSync(join(folder, "store"))) chmodSync(join(folder, "store", name), 0o600);

  const offsetMs = Number(at(EXPECTED, "writtenAt")) + laterMs - Date.now();
  const environment = { NODE_OPTIONS: `--import ${PRELOAD.href}?offsetMs=${offsetMs}` };
  const children: ChildProcessWithoutNullStreams[] = [];
  const run = (args: readonly string[], input = ""): Promise<CommandResult> =>
    runGlovebox(args, { folder, input, environment });

  return {
    folder,
    run,
    async read(...args) {
      const { code, stdout, stderr } = await run(args);
      if (code !== 0) throw new Error(`glovebox ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    async serve() {
      const child = startGlovebox(["serve", "--json", "--port", "0"], folder, environment);
      children.push(child);
      // Warnings on standard error may stand before and after the addresses.
      const [addresses = ""] = ADDRESSES.exec(await waitForOutput(child, ADDRESSES)) ?? [];
      return connect(child, textAt(JSON.parse(addresses), "mcp"));
    },
    async startNotes() {
      const child = spawn(process.execPath, ["notes-server.mjs"], { cwd: folder });
      children.push(child);
      await waitForOutput(child, /listening/);
    },
    calls() {
      const file = join(folder, "calls.txt");
      return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").toSorted() : [];
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map((child) => end(child, "SIGKILL")));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function connect(child: ChildProcessWithoutNullStreams, mcp: string): Promise<RunningGateway> {
  const open = async (mode: "legacy" | { readonly pin: string }): Promise<Client> => {
    const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
    return client;
  };
  const clients = [await open("legacy"), await open({ pin: "2026-07-28" })] as const;
  const [session, sessionless] = clients;
  return {
    session,
    sessionless,
    async stop() {
      await Promise.all(clients.map((client) => client.close().catch(() => undefined)));
      await end(child, "SIGTERM");
    },
  };
}

async function end(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "close");
}

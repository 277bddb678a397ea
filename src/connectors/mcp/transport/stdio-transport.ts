/**
 * The stdio transport: one child process in a group of its own, one JSON message per line.
 * The child is hostile until proven otherwise: what it sends is capped before it is joined and checked before it is used.
 */

import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { parseJSONRPCMessage } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, JSONRPCResultResponse } from "@modelcontextprotocol/client";

import { settlesWithin } from "../../../timing/index.ts";
import { isJsonObject } from "../../../domain/index.ts";
import type { ChildKeeper, FamilyWatch, Instant } from "../../../domain/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";
import type { UpstreamFailure } from "../../upstream-error.ts";
import { endChild, signalGroup, untilEvent } from "./end-child.ts";
import { createLineSplitter } from "./line-splitter.ts";
import { createNoticeBudget } from "./notice-budget.ts";
import { createStderrTail } from "./stderr-tail.ts";
import { OUTPUT_CLOSED, describeExit, describeOversize, describeSpawnError } from "./child-failures.ts";
import type { Garbage, ServerTransport } from "./server-transport.ts";

const EVIDENCE_BYTES = 200;
/** How often the family of a server that speaks is looked at. */
const LOOK_MS = 5000;
/** After the child has exited: for output that is still in the pipe, or a pipe that a stranger inherited. */
const DRAIN_MS = 200;
/** After a broken pipe: for the exit that most likely caused it, on a machine that is busy. */
const EXIT_MS = 2_000;

export interface StdioTransportOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly messageBytes: number;
  readonly keeper: ChildKeeper;
  /** Without it, what left the child's process group outlives the child. */
  readonly watchFamily?: (pid: number) => FamilyWatch;
  readonly clean: TextCleaner;
  readonly now: () => Instant;
}

type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** Nothing is started before `start()`; after `close()`, or the child's own end, it cannot be started again. */
export class StdioTransport implements ServerTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;

  readonly #options: StdioTransportOptions;
  readonly #tail;
  readonly #admit;
  #child: PipedChild | undefined;
  #failure: UpstreamFailure | undefined;
  #garbage: Garbage | undefined;
  #family: FamilyWatch | undefined;
  #nextLookAt: Instant = 0;
  #ended = Promise.resolve();

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#tail = createStderrTail(options.clean);
    this.#admit = createNoticeBudget(options.now);
  }

  /** Beside `stderr` the mark by which the SDK knows a pipe, where silence means an old server and not an outage. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  failure(): UpstreamFailure | undefined {
    return this.#failure;
  }

  stderr(): readonly string[] {
    return this.#tail.lines();
  }

  garbage(): Garbage | undefined {
    return this.#garbage;
  }

  /** No shell: command and arguments reach the system exactly as configured. */
  async start(): Promise<void> {
    if (this.#child) throw new TypeError("This transport was started before");
    const { command, args, env, cwd } = this.#options;
    const child = spawn(command, args, {
      detached: true,
      shell: false,
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
      env,
      ...(cwd !== undefined && { cwd }),
    });
    this.#child = child;
    this.#ended = this.#watch(child);
    try {
      await once(child, "spawn");
    } catch (cause) {
      this.#failure = describeSpawnError(cause, this.#options);
      throw new Error(this.#failure.cause, { cause });
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new Error("The server's input is closed");
    if (stdin.writableLength > this.#options.messageBytes) throw new Error("The server does not read its input");
    holdForTurn(stdin);
    const written = new Promise<void>((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
    await written.catch(async (error: unknown) => {
      // A broken pipe is how a dying child looks from here; its exit code says more and comes a moment later.
      await settlesWithin(this.#ended, EXIT_MS);
      throw error;
    });
  }

  async close(): Promise<void> {
    if (!this.#child) return;
    await endChild(this.#child, () => this.#family?.look());
    await this.#ended;
  }

  /** Wires up the streams; resolves when the child, its group and its pipes are gone and `onclose` was told. */
  async #watch(child: PipedChild): Promise<void> {
    child.on("error", (error) => this.onerror?.(error));
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stderr.on("data", (chunk: Buffer) => this.#tail.push(chunk));
    child.stdout.once("end", () => void this.#endMute(child));
    this.#read(child);
    const { pid } = child;
    if (pid === undefined) return;
    this.#options.keeper.keep(pid);
    this.#family = this.#options.watchFamily?.(pid);
    const closed = untilEvent(child, "close");
    await untilEvent(child, "exit");
    signalGroup(child, "SIGKILL");
    this.#family?.end();
    this.#options.keeper.release(pid);
    await settlesWithin(closed, DRAIN_MS);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.#failure ??= describeExit(child);
    this.onclose?.();
  }

  /** A child that lives on without an output can never answer; one that is just exiting is left to do so. */
  async #endMute(child: PipedChild): Promise<void> {
    if (await settlesWithin(this.#ended, DRAIN_MS)) return;
    this.#failure ??= OUTPUT_CLOSED;
    this.#family?.look();
    signalGroup(child, "SIGKILL");
  }

  #read(child: PipedChild): void {
    const splitter = createLineSplitter(this.#options.messageBytes);
    child.stdout.on("data", (chunk: Buffer) => {
      for (const line of splitter.push(chunk)) this.#receive(line);
      if (splitter.isOverflown()) this.#refuse(child);
    });
  }

  #receive(line: string): void {
    if (!this.#admit(line)) return;
    this.#lookAround();
    const message = parseMessage(line);
    if (message) this.onmessage?.(message);
    else if (line.trim() !== "") this.#note(line);
  }

  /** Once the server has crashed it is too late to see what it started, so that is looked at while it speaks. */
  #lookAround(): void {
    const now = this.#options.now();
    if (!this.#family || now < this.#nextLookAt) return;
    this.#nextLookAt = now + LOOK_MS;
    this.#family.look();
  }

  /** A stray line is a nuisance, not an attack: it is counted, the first is kept as evidence, the connection lives. */
  #note(line: string): void {
    const first = this.#garbage?.first ?? toShownText(line.trim(), this.#options.clean, EVIDENCE_BYTES);
    this.#garbage = { count: (this.#garbage?.count ?? 0) + 1, first };
  }

  /** Whose answer the oversized line was is not known without reading it, so the whole connection ends. */
  #refuse(child: ChildProcess): void {
    this.#failure ??= describeOversize(this.#options.messageBytes);
    child.stdout?.removeAllListeners("data").resume();
    this.#family?.look();
    signalGroup(child, "SIGKILL");
  }
}

/** What is written in one turn of the event loop leaves in one piece: a hundred calls at once wake the server once. */
function holdForTurn(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPlainResponse(value) ? value : parseJSONRPCMessage(value);
  } catch {
    return undefined;
  }
}

/** What nearly every line is: seen at a glance, because the whole parser tries everything else first. */
function isPlainResponse(value: unknown): value is JSONRPCResultResponse {
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0" || Object.keys(value).length !== 3) return false;
  const { id, result } = value;
  const hasId = typeof id === "string" || Number.isSafeInteger(id);
  return hasId && isJsonObject(result) && !("_meta" in result);
}

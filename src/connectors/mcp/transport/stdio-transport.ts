/**
 * The stdio transport: one child process in its own process group, one JSON message per line. The child is untrusted:
 * what it sends is limited in size before it is joined, and checked before it is used.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { parseJSONRPCMessage } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { runInSlices, settlesWithin } from "../../../timing/index.ts";
import { isJsonObject } from "../../../domain/index.ts";
import type { ChildKeeper, Instant, Json, JsonObject } from "../../../domain/index.ts";

import { readJson } from "../../../text/index.ts";

import { startLaunch } from "../../start-launch.ts";
import type { PipedChild } from "../../start-launch.ts";
import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";
import type { ConfinementReport, ServerLaunch, StdioSettings } from "../../settings.ts";
import type { UpstreamFailure } from "../../upstream-error.ts";
import { createLineSplitter, createNoticeBudget, createStderrTail } from "./child-output.ts";
import { endChild, signalGroup, untilEvent } from "./child-process.ts";
import { OUTPUT_CLOSED, describeExit, describeOversize, describeSpawnError } from "./child-process.ts";

const EVIDENCE_BYTES = 200;
/** How often the processes that a server started are listed. */
const LOOK_MS = 5000;
/** After the child has exited: for output that is still in the pipe, or for a pipe that another process inherited. */
const DRAIN_MS = 1_000;
/** After a broken pipe: for the exit that most likely caused it, also on a busy machine. */
const EXIT_MS = 2_000;

/** Tracks the descendants of one child, including those that left its process group. */
interface FamilyWatch {
  /** Records the current descendants. Useless once the child has ended, because its children are reparented then. */
  look(): void;
  end(): void;
}

export interface StdioTransportOptions extends Pick<StdioSettings, "command" | "args" | "cwd"> {
  readonly env: Record<string, string | undefined>;
  /** Confines the server: started in its place. Without it the server has the rights of the gateway's user. */
  readonly launch?: () => Promise<ServerLaunch>;
  readonly messageBytes: number;
  readonly keeper: ChildKeeper;
  /** Without it, processes that left the child's group outlive the child. */
  readonly watchFamily?: (pid: number) => FamilyWatch;
  /** Applied to every text of the server that is shown to anyone. */
  readonly clean: TextCleaner;
  readonly now: () => Instant;
}

/** Lines to and from a child server, for messages that do not pass through the client. */
export interface LineChannel {
  /**
   * Sends one message, without its newline, together with all others of this turn of the event loop. Calls `onWritten`
   * once, with the error if it was not written. Throws if the server accepts nothing.
   */
  readonly sendLine: (line: string, onWritten: (error?: unknown) => void) => void;
  /** Called with every message before the client is. Returns true for one that the client must not see. */
  onparsed?: ((message: JsonObject) => boolean) | undefined;
}

/** Starts nothing before `start()`. After `close()` or the child's exit it cannot be started again. */
export class StdioTransport implements Transport, LineChannel {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  onparsed?: ((message: JsonObject) => boolean) | undefined;

  readonly #options: StdioTransportOptions;
  readonly #tail;
  readonly #admit;
  #child: PipedChild | undefined;
  #launch: ServerLaunch | undefined;
  #isClosed = false;
  #failure: UpstreamFailure | undefined;
  #garbage = { count: 0, first: "" };
  #family: FamilyWatch | undefined;
  #nextLookAt: Instant = 0;
  #ended = Promise.resolve();
  /** The lines of this turn. */
  #held = "";
  #onWritten: ((error?: unknown) => void)[] = [];
  /** The large line that is being read, and those after it. */
  #reading: Promise<void> | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#tail = createStderrTail(options.clean);
    this.#admit = createNoticeBudget(options.now);
  }

  /** The SDK recognizes a pipe by this and `stderr`. On a pipe, no answer means an old server, not an outage. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  failure(): UpstreamFailure | undefined {
    return this.#failure;
  }

  stderr(): readonly string[] {
    return this.#tail.lines();
  }

  garbage(): string | undefined {
    const { count, first } = this.#garbage;
    return count === 0 ? undefined : `${count} lines on its standard output are not messages, the first: ${first}`;
  }

  /** No shell: command and arguments are passed to the system exactly as configured. */
  async start(): Promise<void> {
    if (this.#child) throw new TypeError("This transport was already started");
    const { command, args, env, cwd } = this.#options;
    this.#launch = await this.#options.launch?.();
    if (this.#isClosed) {
      await this.#launch?.[Symbol.asyncDispose]();
      throw new Error("The transport was closed while it was started");
    }
    const plain = { detached: true, shell: false, windowsHide: true } as const;
    const child = this.#launch
      ? startLaunch(this.#launch)
      : spawn(command, args, { ...plain, stdio: ["pipe", "pipe", "pipe"], env, cwd });
    this.#child = child;
    this.#ended = this.#watch(child);
    try {
      await once(child, "spawn");
    } catch (cause) {
      this.#failure = describeSpawnError(cause, this.#options);
      throw new Error(this.#failure.cause, { cause });
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.sendLine(JSON.stringify(message), (error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  /** A hundred concurrent calls wake the server once. */
  sendLine(line: string, onWritten: (error?: unknown) => void): void {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new Error("The server's input is closed");
    if (stdin.writableLength + this.#held.length > this.#options.messageBytes) {
      throw new Error("The server does not read its input");
    }
    if (this.#held === "") process.nextTick(() => this.#flush(stdin));
    this.#held += `${line}\n`;
    this.#onWritten.push(onWritten);
  }

  #flush(stdin: Writable): void {
    const [text, listeners] = [this.#held, this.#onWritten];
    this.#held = "";
    this.#onWritten = [];
    stdin.write(text, (error) => {
      const notify = (): void => listeners.forEach((onWritten) => onWritten(error ?? undefined));
      // A dying child first shows as a broken pipe. Its exit code explains more and comes a moment later.
      if (error) void settlesWithin(this.#ended, EXIT_MS).then(notify);
      else notify();
    });
  }

  confinement(): ConfinementReport | undefined {
    return this.#launch?.status();
  }

  noteError(text: string): void {
    this.#launch?.noteError(text);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (!this.#child) return;
    await endChild(this.#child, () => this.#family?.look());
    await this.#ended;
  }

  /** Connects the streams. Resolves when the child, its group and its pipes are gone and `onclose` was called. */
  async #watch(child: PipedChild): Promise<void> {
    child.on("error", (error) => this.onerror?.(error));
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stderr.on("data", (chunk: Buffer) => this.#tail.push(chunk));
    child.stdout.once("end", () => void this.#endMute(child));
    this.#read(child);
    const { pid } = child;
    if (pid === undefined) return this.#launch?.[Symbol.asyncDispose]();
    this.#options.keeper.keep(pid);
    this.#family = this.#options.watchFamily?.(pid);
    const closed = untilEvent(child, "close");
    await untilEvent(child, "exit");
    signalGroup(child, "SIGKILL");
    this.#family?.end();
    this.#options.keeper.release(pid);
    await settlesWithin(closed, DRAIN_MS);
    await this.#reading;
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    await this.#launch?.[Symbol.asyncDispose]();
    this.#failure ??= this.#describeEnd(child);
    this.onclose?.();
  }

  #describeEnd(child: PipedChild): UpstreamFailure {
    const plain = describeExit(child);
    const confined = this.#launch?.explainEnd(this.#tail.lines());
    if (!confined) return plain;
    return confined.kind === "crash" ? { ...plain, hint: confined.hint } : confined;
  }

  /** A child without an output can never answer; one that is exiting is given time to do so. */
  async #endMute(child: PipedChild): Promise<void> {
    if (!(await settlesWithin(this.#ended, EXIT_MS))) this.#kill(child, OUTPUT_CLOSED);
  }

  #kill(child: PipedChild, failure: UpstreamFailure): void {
    this.#failure ??= failure;
    this.#family?.look();
    signalGroup(child, "SIGKILL");
  }

  #read(child: PipedChild): void {
    const { messageBytes } = this.#options;
    const splitter = createLineSplitter(messageBytes);
    child.stdout.on("data", (chunk: Buffer) => {
      for (const line of splitter.push(chunk)) this.#receive(line, child.stdout);
      if (!splitter.isOverflown()) return;
      // Without parsing it, nothing tells whose answer the oversized line is, so the whole connection ends.
      child.stdout.removeAllListeners("data").resume();
      this.#kill(child, describeOversize(messageBytes));
    });
  }

  /** A large line is read in slices; later ones wait for it, so that they stay in order. */
  #receive(line: string, output: Readable): void {
    if (!this.#admit(line)) return;
    this.#lookAround();
    const work = readJson(line);
    const first = this.#reading ? undefined : work.next();
    if (first?.done === true) return this.#take(line, first.value);
    output.pause();
    const before = this.#reading ?? Promise.resolve();
    const reading = before.then(async () => {
      this.#take(line, await runInSlices(work));
      if (this.#reading !== reading) return;
      this.#reading = undefined;
      output.resume();
    });
    this.#reading = reading;
  }

  /**
   * A line that is not a message does not end the connection: it is counted, and the first one is kept as evidence.
   */
  #take(line: string, value: Json | undefined): void {
    if (isJsonObject(value) && this.onparsed?.(value)) return;
    const message = parseMessage(value);
    if (message) return this.onmessage?.(message);
    if (line.trim() === "") return;
    const { count, first } = this.#garbage;
    const evidence = count === 0 ? toShownText(line.trim(), this.#options.clean, EVIDENCE_BYTES) : first;
    this.#garbage = { count: count + 1, first: evidence };
  }

  /** After a crash it is too late to find what the server started, so its processes are listed while it runs. */
  #lookAround(): void {
    const now = this.#options.now();
    if (!this.#family || now < this.#nextLookAt) return;
    this.#nextLookAt = now + LOOK_MS;
    this.#family.look();
  }
}

function parseMessage(value: Json | undefined): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return undefined;
  }
}

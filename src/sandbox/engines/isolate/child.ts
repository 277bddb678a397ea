/**
 * The process that runs programs, one after the other, each in an isolate of its own that was made ahead of need.
 * It has no event loop to speak of: it blocks on its one descriptor, because everything a program waits for
 * comes from the host. It holds no authority: no network, no files, no secrets, nothing in its environment.
 */

import { readSync, writeSync } from "node:fs";

import { createFrameReader, encodeFrame, readBlocking } from "../../frames.ts";
import type { Frame } from "../../frames.ts";
import { TO_GUEST, TO_HOST } from "../../wire.ts";
import type { StartMessage } from "../../wire.ts";
import { prepareIsolate } from "./prepare-isolate.ts";
import { measureUsage, runProgram } from "./run-program.ts";
import type { ProgramWire } from "./run-program.ts";

const DESCRIPTOR = 3;
/** Replies may be as large as the largest configurable result; the host is trusted to keep to it. */
const MAX_FRAME_BYTES = 80 * 1024 * 1024;

// An error that arises in here may cross into a program, which must not read where this process keeps its files.
Error.stackTraceLimit = 0;

const reader = createFrameReader(MAX_FRAME_BYTES);
const usualMemoryBytes = Number(process.argv[3]);
let prepared = prepareIsolate(usualMemoryBytes, send);
let outgoing: Buffer[] = [];
let finished = false;
let waiting = 0;

/**
 * Collects the calls of one turn, so that a hundred parallel ones cost one write. Lines and the ending go at once:
 * a program that goes on spinning after it has returned has still returned.
 */
function send(kind: number, id: number, text: string): void {
  if (finished) return;
  finished = kind === TO_HOST.DONE || kind === TO_HOST.THREW || kind === TO_HOST.OVERRUN;
  if (finished) outgoing.push(encodeFrame(TO_HOST.USAGE, 0, 0, measureUsage(prepared)));
  outgoing.push(encodeFrame(kind, id, 0, text));
  if (kind === TO_HOST.CALL || kind === TO_HOST.TIMER) waiting += 1;
  if (finished || kind === TO_HOST.LOG) flush();
}

function flush(): void {
  if (outgoing.length === 0) return;
  let bytes = Buffer.concat(outgoing);
  outgoing = [];
  while (bytes.length > 0) bytes = bytes.subarray(writeSync(DESCRIPTOR, bytes));
}

/** The next frame, after everything was sent; without one the host is gone, and so is the reason to live. */
function receive(): Frame {
  flush();
  const frame = readBlocking(reader, (into) => readSync(DESCRIPTOR, into));
  if (!frame) process.exit(0);
  waiting -= 1;
  return frame;
}

const wire: ProgramWire = { send, receive, isFinished: () => finished, waiting: () => waiting };

function parseStart(text: string): StartMessage {
  return JSON.parse(text) as StartMessage; // from the host, which is trusted
}

function serve(): never {
  for (;;) {
    finished = false;
    send(TO_HOST.READY, 0, "");
    let frame = receive();
    // Late answers to the execution before this one.
    while (frame.kind !== TO_GUEST.START) frame = receive();
    const message = parseStart(frame.text);
    waiting = 0;
    fitMemory(message.limits.memoryBytes);
    runProgram(prepared, { message, startText: frame.text, atMs: frame.atMs }, wire);
    flush();
    if (!prepared.isolate.isDisposed) prepared.isolate.dispose();
    prepared = prepareIsolate(usualMemoryBytes, send);
  }
}

/** The isolate at hand was made for the usual memory limit; an execution with another one needs another. */
function fitMemory(memoryBytes: number): void {
  if (prepared.memoryBytes === memoryBytes) return;
  prepared.isolate.dispose();
  prepared = prepareIsolate(memoryBytes, send);
}

serve();

/** One program in one prepared isolate: compile, start, feed it what it waits for, and tell how it ended. */

import type { Frame } from "../../frames.ts";
import { PROGRAM_FILE, PROGRAM_HEAD, PROGRAM_TAIL, TO_HOST } from "../../wire.ts";
import type { Overrun, StartMessage, ThrownMessage } from "../../wire.ts";
import type { Prepared, Send } from "./prepare-isolate.ts";

/** As much of an error as the host keeps. */
const TEXT_CHARS = 8_192;
const BOUNDARY = "\n    at (<isolated-vm boundary>)";

export interface ProgramWire {
  readonly send: Send;
  /** Sends what is waiting and blocks for the next frame. */
  receive(): Frame;
  isFinished(): boolean;
  /** Calls and timers that the host has not answered yet. */
  waiting(): number;
}

interface Start {
  readonly message: StartMessage;
  readonly startText: string;
  readonly atMs: number;
}

/** Returns when the program has ended in any way; the last frame says how. The isolate is not usable afterwards. */
export function runProgram(prepared: Prepared, start: Start, wire: ProgramWire): void {
  const deadline = performance.now() + start.message.limits.wallMs;
  try {
    feed(prepared, start, wire, () => Math.max(1, Math.ceil(deadline - performance.now())));
  } catch (thrown) {
    sendFailure(thrown, prepared, wire);
  }
}

function feed(prepared: Prepared, { message, startText, atMs }: Start, wire: ProgramWire, timeout: () => number): void {
  const { isolate, context, deliver } = prepared;
  const text = `${PROGRAM_HEAD}${message.javascript}${PROGRAM_TAIL}`;
  const script = isolate.compileScriptSync(text, { filename: PROGRAM_FILE, lineOffset: -1 });
  const program = script.runSync(context, { reference: true, timeout: timeout() });
  prepared.start.applySync(undefined, [program.derefInto(), startText, atMs], { timeout: timeout() });
  while (!wire.isFinished()) {
    if (wire.waiting() === 0) return sendStuck(wire.send);
    const frame = wire.receive();
    deliver.applySync(undefined, [frame.kind, frame.id, frame.text, frame.atMs], { timeout: timeout() });
  }
}

/** All input comes from the host, so a program that waits for none of it can never go on. */
function sendStuck(send: Send): void {
  const message: ThrownMessage = {
    kind: "stuck",
    name: "Error",
    message: "The program waits for a promise that nothing can settle",
    stack: "",
  };
  send(TO_HOST.THREW, 0, JSON.stringify(message));
}

/** Processor microseconds and heap bytes so far, as the USAGE frame has them. */
export function measureUsage({ isolate }: Prepared): string {
  if (isolate.isDisposed) return "0 0";
  const heap = isolate.getHeapStatisticsSync();
  return `${isolate.cpuTime / 1000n} ${heap.used_heap_size + heap.externally_allocated_size}`;
}

function sendFailure(thrown: unknown, { isolate }: Prepared, { send }: ProgramWire): void {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const overrun: Overrun | undefined = isolate.isDisposed ? "memory" : text.includes("timed out") ? "wall" : undefined;
  if (overrun) return send(TO_HOST.OVERRUN, 0, overrun);
  const message: ThrownMessage = {
    kind: thrown instanceof SyntaxError ? "syntax" : "thrown",
    name: thrown instanceof Error ? thrown.name : "",
    message: text.slice(0, TEXT_CHARS),
    stack: thrown instanceof Error ? cutStack(thrown.stack ?? "") : "",
  };
  send(TO_HOST.THREW, 0, JSON.stringify(message));
}

/** Without the frames of this process, which the engine writes below its boundary: they name files of the machine. */
function cutStack(stack: string): string {
  const end = stack.indexOf(BOUNDARY);
  return stack.slice(0, Math.min(end < 0 ? stack.length : end, TEXT_CHARS));
}

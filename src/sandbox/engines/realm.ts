/** What an engine offers inside a child: one fresh realm for one program, driven from outside. */

import type { Frame } from "../frames.ts";
import { PROGRAM_FILE } from "../wire.ts";
import type { Overrun, StartMessage, ThrownMessage } from "../wire.ts";

/** The only host function that a guest holds; only strings and numbers cross. */
export type Send = (kind: number, id: number, text: string) => void;

/** Asks the host for another engine and waits for its answer. */
export type RequestEngine = (reason: string) => EngineAnswer;

export type Switching = StartMessage["switching"];

/** What the host decided: the program ends here, or it may ask again after so much more processor time. */
export type EngineAnswer = { readonly kind: "end" } | { readonly kind: "continue"; readonly againMs: number };

export interface Realm {
  readonly memoryBytes: number;
  /** Compiles the program and begins it. Throws for what ends it at once. */
  start(javascript: string, startText: string, atMs: number, timeoutMs: number, switching?: Switching): void;
  /** Gives one frame of the host to the program, and lets it run until it waits again, or ended for another engine. */
  deliver(frame: Frame, timeoutMs: number): void;
  /** Converts an exception of `start` or `deliver`. */
  explain(thrown: unknown): ProgramFailure;
  /** Processor microseconds and heap bytes so far, as the USAGE frame has them. */
  usage(): string;
  dispose(): void;
}

export type ProgramFailure =
  | { readonly kind: "overrun"; readonly overrun: Overrun }
  | { readonly kind: "thrown"; readonly thrown: ThrownMessage };

/** Creates a realm in which nothing has run yet. */
export type CreateRealm = (memoryBytes: number, send: Send, request?: RequestEngine) => Realm | Promise<Realm>;

/** Ends a program that waits for nothing that the host could send: no call is open and no timer is set. */
export const STUCK: ThrownMessage = {
  kind: "stuck",
  name: "Error",
  message: "The program waits for a promise that nothing can settle",
  stack: "",
};

/** The payload of START. A child trusts the host that started it. */
export function trustStart(text: string): StartMessage {
  return JSON.parse(text) as StartMessage;
}

/** A payload of THREW on its way through the child. The host checks it as untrusted data. */
export function trustThrown(text: string): ThrownMessage {
  return JSON.parse(text) as ThrownMessage;
}

const FIRST_LINE = new RegExp(`\\b${PROGRAM_FILE.replace(".", "\\.")}:1:(\\d+)`, "g");

/**
 * Corrects the columns of the program's first line where an engine has the wrapper's head on it; a position inside the
 * head becomes the beginning. `first` is the number that the engine gives to the first column of that line.
 */
export function mapFirstLine(stack: string, head: string, first = 1): string {
  const toAuthor = (column: string): number => Math.max(1, Number(column) - first - head.length + 1);
  return stack.replaceAll(FIRST_LINE, (_, column: string) => `${PROGRAM_FILE}:1:${toAuthor(column)}`);
}

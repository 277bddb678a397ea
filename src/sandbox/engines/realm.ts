/** What an engine has to offer inside a child: one fresh world for one program, driven from outside. */

import type { Frame } from "../frames.ts";
import type { Overrun, StartMessage, ThrownMessage } from "../wire.ts";

/** The only host function that a guest holds; it takes and returns nothing but text and numbers. */
export type Send = (kind: number, id: number, text: string) => void;

export interface Realm {
  readonly memoryBytes: number;
  /** Compiles the program and begins it. Throws for what ends it at once. */
  start(javascript: string, startText: string, atMs: number, timeoutMs: number): void;
  /** Hands one frame of the host to the program, and lets it run until it waits again. */
  deliver(frame: Frame, timeoutMs: number): void;
  /** What an exception out of `start` or `deliver` says about the program. */
  explain(thrown: unknown): ProgramFailure;
  /** Processor microseconds and heap bytes so far, as the USAGE frame has them. */
  usage(): string;
  dispose(): void;
}

export type ProgramFailure =
  | { readonly kind: "overrun"; readonly overrun: Overrun }
  | { readonly kind: "thrown"; readonly thrown: ThrownMessage };

/** Makes a realm in which nothing has run yet. */
export type CreateRealm = (memoryBytes: number, send: Send) => Realm | Promise<Realm>;

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

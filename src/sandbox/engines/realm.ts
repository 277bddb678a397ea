/** What an engine has to offer inside a child: one fresh world for one program, driven from outside. */

import type { Overrun, ThrownMessage } from "../wire.ts";

/** The only host function that a guest holds; it takes and returns nothing but text and numbers. */
export type Send = (kind: number, id: number, text: string) => void;

export interface Realm {
  readonly memoryBytes: number;
  /** Compiles the program and begins it. Throws for what ends it at once. */
  start(javascript: string, startText: string, atMs: number, timeoutMs: number): void;
  /** Hands one frame of the host to the program, and lets it run until it waits again. */
  deliver(frame: Delivery, timeoutMs: number): void;
  /** What an exception out of `start` or `deliver` says about the program. */
  explain(thrown: unknown): Failure;
  /** Processor microseconds and heap bytes so far, as the USAGE frame has them. */
  usage(): string;
  dispose(): void;
}

export interface Delivery {
  readonly kind: number;
  readonly id: number;
  readonly text: string;
  readonly atMs: number;
}

export type Failure =
  | { readonly kind: "overrun"; readonly overrun: Overrun }
  | { readonly kind: "thrown"; readonly thrown: ThrownMessage };

/** Makes a realm in which nothing has run yet. */
export type CreateRealm = (memoryBytes: number, send: Send) => Realm | Promise<Realm>;

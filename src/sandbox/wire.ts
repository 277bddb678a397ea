/**
 * The words of the protocol between the host and a sandbox child: kinds of frame and fixed texts.
 * Pure data without Node, because the guest side is built from it too. `docs/reference/guest-protocol.md` describes it.
 */

/** What the host sends. */
export const TO_GUEST = {
  /** Begin an execution; the payload is a `StartMessage`. */
  START: 1,
  /** The call `id` succeeded; the payload is the JSON text of its value. */
  REPLY: 2,
  /** The call `id` failed; the payload is the JSON text of a `PublicError`. */
  FAILURE: 3,
  /** The timer `id` is due. */
  TICK: 4,
  /** Say PONG: asked of a child that rests, before it gets a program, and of a program that may wait for something. */
  PING: 5,
} as const;

/** What a child sends. */
export const TO_HOST = {
  /** The child has a fresh isolate and can begin an execution. */
  READY: 16,
  /** Call number `id`; the payload is the tool's address, a newline and the JSON text of the arguments. */
  CALL: 17,
  /** Send a TICK for `id` after the milliseconds in the payload. */
  TIMER: 18,
  /** One console line; `id` is the index of its level in `LOG_LEVELS`. */
  LOG: 19,
  /** Processor microseconds and heap bytes of the program, as "cpu heap"; sent before the last frame. */
  USAGE: 20,
  /** The program returned; the payload is the JSON text of its value, empty for no value. */
  DONE: 21,
  /** The program threw; the payload is a `ThrownMessage`. */
  THREW: 22,
  /** The isolate's own limit ended the program; the payload is a word of `OVERRUNS`. */
  OVERRUN: 23,
  /** The answer to PING: the child rests, or its program has done all that it can with what it was given before. */
  PONG: 24,
} as const;

export const LOG_LEVELS = ["log", "info", "warn", "error", "debug"] as const;

/** Which limit the child or the guest saw overrun. */
export const OVERRUNS = ["wall", "memory", "output", "result", "depth"] as const;
export type Overrun = (typeof OVERRUNS)[number];

/** The payload of START. */
export interface StartMessage {
  /** The body of a strict async function. */
  readonly javascript: string;
  /** Each namespace with its tool names joined by commas. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** JSON text of the program's `input`; `null` when none was given. */
  readonly input: string | null;
  /** Whether the program gets a `fetch` that asks the host. What it may reach is decided there, at each request. */
  readonly network?: boolean;
  /** What the program has as `secrets`: tokens by name, never values. Left out, it has none. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Four 32-bit numbers that seed every random value of the program. */
  readonly seed: readonly number[];
  readonly limits: {
    readonly wallMs: number;
    readonly memoryBytes: number;
    /** For the console. */
    readonly outputBytes: number;
    /** For the value that the program returns. */
    readonly valueBytes: number;
    readonly argumentBytes: number;
    readonly depth: number;
  };
}

/** The payload of THREW. Everything in it is the program's own word and is not trusted. */
export interface ThrownMessage {
  readonly kind: "thrown" | "unserializable" | "stuck" | "syntax";
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The call whose failure was thrown on, if it was one. */
  readonly seq?: number | undefined;
  /** What a `ToolError` that never reached the host says of itself. */
  readonly code?: string | undefined;
}

/** The name under which a program appears in its own stack traces. */
export const PROGRAM_FILE = "program.ts";
/** The program starts on the line after the wrapper's head; the compiler is told to count from there. */
export const PROGRAM_HEAD = '(async () => {"use strict";\n';
export const PROGRAM_TAIL = "\n})";

/** The parts of a URL, as the host sends them to the guest's `URL`; named as the properties of `URL`. */
export const URL_PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;
export type UrlParts = Readonly<Record<(typeof URL_PARTS)[number], string>>;

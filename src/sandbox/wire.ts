/**
 * The protocol between the host and a sandbox child: kinds of frames and fixed strings. Without Node, because the guest
 * is built from it too. `docs/reference/guest-protocol.md` describes it.
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
  /** Asks for PONG: sent to an idle child before it gets a program, and to a program that may wait for something. */
  PING: 5,
  /** The program has the milliseconds in the payload left: the time that it waited for its place does not count. */
  LEFT: 6,
  /** Another engine has the program, or it is suspended: it ends here without a report. */
  END: 7,
  /** The answer to SWITCH: the program continues here. It may ask again after the milliseconds in the payload, or never. */
  CONTINUE: 8,
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
  /** The answer to PING: the child is idle, or its program has processed everything that was sent before. */
  PONG: 24,
  /** Asks for the other engine, for the reason in the payload. The child waits for END or CONTINUE. */
  SWITCH: 25,
} as const;

/** The reason of a SWITCH that a program could do without; any other one names what only the other engine has. */
export const SWITCH_TO_COMPUTE = "compute";

export const LOG_LEVELS = ["log", "info", "warn", "error", "debug"] as const;

/** The limits that a child or a guest reports as exceeded. */
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
  /** Whether the program gets a `fetch` that calls the host, which decides about each request. */
  readonly network?: boolean | undefined;
  /** Tokens by name for `secrets` of the program, never values. By default it has none. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  /** Present if the program may ask for another engine. */
  readonly switching?:
    | {
        /** Its processor time after which it asks. */
        readonly afterMs: number;
        /** For tests: it asks at this step, of those in which it sends a frame or is interrupted. */
        readonly atStep?: number | undefined;
      }
    | undefined;
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

/** Of a program that is run once before any other, so that the engine has done its one-time work. */
export const REHEARSAL: StartMessage = {
  javascript: "",
  namespaces: {},
  input: null,
  seed: [1, 2, 3, 4],
  limits: {
    wallMs: 1_000,
    memoryBytes: 1_000_000,
    outputBytes: 10_000,
    valueBytes: 10_000,
    argumentBytes: 10_000,
    depth: 64,
  },
};

/** The payload of THREW. The program can forge all of it. */
export interface ThrownMessage {
  readonly kind: "thrown" | "unserializable" | "stuck" | "syntax";
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The call whose failure the program threw, if it was one. */
  readonly seq?: number | undefined;
  /** The code of a `ToolError` that never reached the host. */
  readonly code?: string | undefined;
}

/**
 * The classes of the errors that engines make: another engine may word one differently, or not throw it. An `Error` or
 * `EvalError` itself is always made by a program or by us.
 */
export const ENGINE_ERRORS = [
  "TypeError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "URIError",
  "AggregateError",
  "InternalError",
] as const;

/** As much of the name, the message or the stack of an error as the host keeps. */
export const ERROR_CHARS = 8_192;

/** The name under which a program appears in its own stack traces. */
export const PROGRAM_FILE = "program.ts";
/** The program starts on the line after this head, from which the compiler counts. */
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

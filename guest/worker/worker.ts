/**
 * The module of a Dynamic Worker beside the program: the guest, and the functions by which the Worker that owns the wire
 * drives it. It only answers; it holds nothing by which it could start an exchange.
 */

import { parseUrlParts, setUrlPart } from "../../src/sandbox/engines/url-parts.ts";
import { TO_HOST } from "../../src/sandbox/wire.ts";
import type { ThrownMessage } from "../../src/sandbox/wire.ts";
import { describeThrown } from "../errors.ts";
import {
  RealPromise,
  apply,
  freeze,
  getPrototypeOf,
  ownKeys,
  promiseThen,
  slice,
  stringifyJson,
} from "../intrinsics.ts";
import { enterWorld, prepareWorld } from "../world.ts";

declare const addEventListener: (type: "unhandledrejection", listener: (event: RejectionEvent) => void) => void;
declare const Event: { readonly prototype: { preventDefault(): void } };
interface RejectionEvent {
  readonly reason: unknown;
}

/** The program is the other module. It is loaded after its globals are finished. */
const PROGRAM: string = "program.ts";
/** Longer strings cross in pieces, because one message between Workers has a limit. */
const PIECE_CHARS = 4 * 1024 * 1024;

/** The globals of the language. A list of what stays, so that what a later engine adds is removed too. */
const KEPT: readonly PropertyKey[] = [
  "AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date",
  "DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array",
  "Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set",
  "String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray",
  "WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN",
  "parseFloat parseInt undefined unescape",
].flatMap((line) => line.split(" "));

/** Messages of the program that are not fetched yet, each as "kind id length", a newline and the text. */
let outgoing = "";
let incoming = "";
let isTaken = false;

function send(kind: number, id: number, text: string): void {
  outgoing += kind + " " + id + " " + text.length + "\n" + text;
}

function fail(kind: ThrownMessage["kind"], thrown: unknown): void {
  send(TO_HOST.THREW, 0, stringifyJson({ __proto__: null, kind, ...describeThrown(thrown) }));
}

// `reason` is a property of each event itself; the method is taken now, before a program could change it.
const { preventDefault } = Event.prototype;
addEventListener("unhandledrejection", (event) => {
  apply(preventDefault, event, []);
  fail("thrown", event.reason);
});
stripGlobals();
prepareWorld();
const guest = enterWorld({ send, parseUrl: parseUrlParts, setUrlPart });

/** Throws if a global cannot be removed: no program may run with unknown globals. */
function stripGlobals(): void {
  Object.setPrototypeOf(globalThis, Object.prototype);
  const isForeign = (key: PropertyKey): boolean => !KEPT.includes(key);
  for (const key of ownKeys(globalThis).filter(isForeign)) Reflect.deleteProperty(globalThis, key);
  const left = ownKeys(globalThis).filter(isForeign);
  if (left.length > 0 || getPrototypeOf(globalThis) !== Object.prototype) {
    throw new TypeError("Globals cannot be removed: " + left.map(String).join());
  }
}

/** Resolves when the program has begun. The start message was fed before. */
function start(atMs: number): Promise<unknown> {
  const startText = takeIncoming();
  return promiseThen(
    import(PROGRAM) as Promise<unknown>,
    (loaded) => begin(loaded, startText, atMs),
    (reason) => fail("syntax", reason),
  ) as Promise<unknown>;
}

function begin(loaded: unknown, startText: string, atMs: number): void {
  try {
    const { default: make } = loaded as { readonly default: (load: unknown) => () => Promise<unknown> };
    guest.start(apply(make, globalThis, [refuseModule]), startText, atMs);
  } catch (thrown) {
    fail("thrown", thrown);
  }
}

function deliver(kind: number, id: number, atMs: number): void {
  try {
    guest.deliver(kind, id, takeIncoming(), atMs);
  } catch (thrown) {
    fail("thrown", thrown);
  }
}

/** Takes the place of `import(…)` in a program. */
function refuseModule(): Promise<never> {
  return new RealPromise((_, reject) => reject(new Error("Not supported")));
}

function takeIncoming(): string {
  const text = incoming;
  incoming = "";
  return text;
}

const SESSION = freeze({
  feed: (piece: string): void => {
    incoming += piece;
  },
  start,
  deliver,
  /** Returns a piece of the messages; if it is full, another one follows. */
  collect: (): string => {
    const piece = slice(outgoing, 0, PIECE_CHARS);
    outgoing = slice(outgoing, PIECE_CHARS);
    return piece;
  },
});

/** Opens once: a program that imports this module must not get the functions that drive it. */
export const guestWorker = freeze({
  open(): typeof SESSION {
    if (isTaken) throw new TypeError("This worker has its program");
    isTaken = true;
    return SESSION;
  },
});

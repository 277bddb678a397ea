/**
 * The only module of ours in a Dynamic Worker: the guest itself, and the three functions by which it is driven from
 * the Worker that owns the wire. It is asked and answers; it holds nothing by which it could speak first.
 */

import type { ThrownMessage } from "../../src/sandbox/wire.ts";
import { TO_HOST } from "../../src/sandbox/wire.ts";
import { describeThrown } from "../errors.ts";
import { RealPromise, apply, freeze, promiseThen, slice, stringifyJson } from "../intrinsics.ts";
import { enterWorld, prepareWorld } from "../world.ts";
import { stripGlobals } from "./strip-globals.ts";
import { onLostRejection } from "./lost-rejection.ts";
import { parseUrlParts, setUrlPart } from "./url-parts.ts";

/** The program is the other module. It is loaded when the world around it is finished. */
const PROGRAM: string = "program.ts";
/** Texts that are longer cross in pieces, because one message between Workers has a limit. */
const PIECE_CHARS = 4 * 1024 * 1024;

/** Messages of the program that are not fetched yet: "kind id length", a newline and the text, one after the other. */
let outgoing = "";
let incoming = "";
let isTaken = false;

function send(kind: number, id: number, text: string): void {
  outgoing += kind + " " + id + " " + text.length + "\n" + text;
}

function fail(kind: ThrownMessage["kind"], thrown: unknown): void {
  send(TO_HOST.THREW, 0, stringifyJson({ __proto__: null, kind, ...describeThrown(thrown) }));
}

onLostRejection((reason) => fail("thrown", reason));
stripGlobals();
prepareWorld();
const guest = enterWorld({ send, parseUrl: parseUrlParts, setUrlPart });

/** Resolves when the program has begun; with the start message before it, in pieces. */
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

/** What a program calls when it writes `import(…)`. */
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
  /** A piece of what was said; another one follows when it is full. */
  collect: (): string => {
    const piece = slice(outgoing, 0, PIECE_CHARS);
    outgoing = slice(outgoing, PIECE_CHARS, outgoing.length);
    return piece;
  },
});

/** Answers once: a program can import this module, and must not be handed the functions that drive it. */
export const guestWorker = freeze({
  open(): typeof SESSION {
    if (isTaken) throw new TypeError("This worker has its program");
    isTaken = true;
    return SESSION;
  },
});

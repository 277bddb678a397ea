/** The tool stubs that a program calls, and the replies. Authority stays on the host: stubs only send requests. */

import { TO_HOST } from "../src/sandbox/wire.ts";
import { EncodeProblem, encode } from "./codec.ts";
import type { EncodeLimits } from "./codec.ts";
import { ToolError, toToolError } from "./errors.ts";
import {
  PROTOTYPES,
  RealMap,
  RealPromise,
  create,
  freeze,
  mapDelete,
  mapGet,
  mapSet,
  mapSize,
  parseJson,
  split,
} from "./intrinsics.ts";

declare const Error: { readonly captureStackTrace?: (target: object, above: unknown) => void };
/** V8 keeps the frames and writes their text on first use; other engines do not have it. */
const { captureStackTrace } = Error;

/** Sends a frame to the host; the only way out of the isolate. */
export type Send = (kind: number, id: number, text: string) => void;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** The line of the call; its text is only written if the call fails. */
  readonly site: { readonly stack?: string };
}

const waiting = new RealMap<number, Waiting>();
let calls = 0;

/** The calls that have no reply yet. */
export function countCalls(): number {
  return mapSize(waiting) ?? 0;
}

/** Settles the call `id`. An unknown or repeated id changes nothing. */
export function settleCall(id: number, ok: boolean, text: string): void {
  const call = mapGet(waiting, id) as Waiting | undefined;
  if (call === undefined) return;
  mapDelete(waiting, id);
  if (ok) return call.resolve(parseJson(text));
  call.reject(toToolError(parseJson(text), id, call.site));
}

/**
 * One upstream as an object that cannot be changed. Every name is a stub, so that the host can suggest the nearest tool
 * for a wrong one, except the names of protocols (`then`, `toJSON`, symbols): the object can be awaited and printed.
 */
export function createNamespace(name: string, joinedTools: string, send: Send, limits: EncodeLimits): object {
  const stubs = new RealMap<string, unknown>();
  const names = joinedTools === "" ? [] : split(joinedTools, ",");
  const stubOf = (key: string): unknown => {
    const known = mapGet(stubs, key);
    if (known !== undefined) return known;
    const stub = createStub(name + "." + key, send, limits);
    mapSet(stubs, key, stub);
    return stub;
  };
  const isTool = (key: PropertyKey): key is string => {
    for (let index = 0; index < names.length; index += 1) if (names[index] === key) return true;
    return false;
  };
  return new Proxy(create(null) as object, {
    get: (_, key) => (typeof key === "string" && (!isProtocol(key) || isTool(key)) ? stubOf(key) : undefined),
    has: (_, key) => isTool(key),
    ownKeys: () => names,
    getOwnPropertyDescriptor: (_, key) =>
      isTool(key) ? { value: stubOf(key), writable: false, enumerable: true, configurable: true } : undefined,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  });
}

/**
 * Names that the language itself reads from any object, where a stub would be called by accident; and those by which
 * tests tell a live handle of the engine, so that a namespace cannot hide a real one.
 */
export function isProtocol(key: string): boolean {
  if (key === "applySync" || key === "derefInto" || key === "copyInto") return true;
  return key === "then" || key === "toJSON" || key in PROTOTYPES.object;
}

/** What a program calls for one tool. */
export type Stub = (...args: unknown[]) => Promise<unknown>;

/** A stub only sends the call; the host decides what happens. */
export function createStub(address: string, send: Send, limits: EncodeLimits): Stub {
  const stub: Stub = (...args) => {
    const site: { stack?: string } = {};
    captureStackTrace?.(site, stub);
    return new RealPromise((resolve, reject) => {
      const text = encodeArguments(address, args, limits);
      // On stack overflow this throws before anything is sent: the number is still free for the next call.
      send(TO_HOST.CALL, calls + 1, address + "\n" + text);
      calls += 1;
      mapSet(waiting, calls, { resolve, reject, site });
    });
  };
  return freeze(stub);
}

/** A call takes one object, or nothing. The host checks it against the tool's schema. */
function encodeArguments(address: string, args: readonly unknown[], limits: EncodeLimits): string {
  if (args.length > 1) throw new ToolError("TOOL_ARGUMENTS_INVALID", address + " takes one object of named arguments");
  try {
    return encode(args[0] === undefined ? {} : args[0], limits) ?? "null";
  } catch (problem) {
    throw problem instanceof EncodeProblem ? refuseArguments(address, problem, limits) : problem;
  }
}

function refuseArguments(address: string, { reason }: EncodeProblem, limits: EncodeLimits): ToolError {
  const problems: Readonly<Record<EncodeProblem["reason"], string>> = {
    size: "are larger than " + limits.bytes + " bytes",
    depth: "nest deeper than " + limits.depth + " levels",
    circular: "contain themselves",
    promise: "contain a promise; await it first",
  };
  const code = reason === "size" || reason === "depth" ? "LIMIT_SIZE" : "TOOL_ARGUMENTS_INVALID";
  return new ToolError(code, "The arguments of " + address + " " + problems[reason]);
}

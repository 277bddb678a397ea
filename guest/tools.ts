/** The tool stubs that a program calls, and the answers that come back. Authority stays on the host: these only ask. */

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
  parseJson,
  split,
} from "./intrinsics.ts";

/** Hands a frame to the host; the only way out of the isolate. */
export type Send = (kind: number, id: number, text: string) => void;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** Remembers the line of the call; its text is only made when the call fails. */
  readonly site: { readonly stack?: string };
}

const waiting = new RealMap<number, Waiting>();
let calls = 0;

/** Gives the call `id` its answer. An unknown or repeated id changes nothing. */
export function settleCall(id: number, ok: boolean, text: string): void {
  const call = mapGet(waiting, id) as Waiting | undefined;
  if (call === undefined) return;
  mapDelete(waiting, id);
  if (ok) return call.resolve(parseJson(text));
  call.reject(toToolError(parseJson(text), id, call.site));
}

/**
 * One upstream as an object. Every name answers with a stub, so that the host can name the nearest tool for a wrong one;
 * the names of protocols (`then`, `toJSON`, symbols) do not, so that the object can be awaited, printed and inspected. It cannot be changed.
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

/** Names that the language itself looks for on any object; a stub under one of them would be called by accident. */
export function isProtocol(key: string): boolean {
  return key === "then" || key === "toJSON" || key in PROTOTYPES.object || isHandleMethod(key);
}

/** How one tells a live handle of the engine from an object: a namespace must not look like one, or a real one hides. */
function isHandleMethod(key: string): boolean {
  return key === "applySync" || key === "derefInto" || key === "copyInto";
}

/** What a program calls for one tool. */
export type Stub = (...args: unknown[]) => Promise<unknown>;

/** The host hears of a call by this alone; a stub has no say in what happens to it. */
export function createStub(address: string, send: Send, limits: EncodeLimits): Stub {
  const stub: Stub = (...args) => {
    const site: { stack?: string } = {};
    captureSite(site, stub);
    return new RealPromise((resolve, reject) => {
      const text = encodeArguments(address, args, limits);
      // With the stack used up this throws and nothing has left: the number is still free for the next call.
      send(TO_HOST.CALL, calls + 1, address + "\n" + text);
      calls += 1;
      mapSet(waiting, calls, { resolve, reject, site });
    });
  };
  return freeze(stub);
}

/** A call takes one object, or nothing. The host checks it against the tool's schema; this only makes it text. */
function encodeArguments(address: string, args: readonly unknown[], limits: EncodeLimits): string {
  if (args.length > 1) throw new ToolError("TOOL_ARGUMENTS_INVALID", address + " takes one object of named arguments");
  try {
    return encode(args[0] === undefined ? {} : args[0], limits) ?? "null";
  } catch (problem) {
    throw problem instanceof EncodeProblem ? refuseArguments(address, problem, limits) : problem;
  }
}

function refuseArguments(address: string, { reason }: EncodeProblem, limits: EncodeLimits): ToolError {
  switch (reason) {
    case "size":
      return new ToolError("LIMIT_SIZE", "The arguments of " + address + " are larger than " + limits.bytes + " bytes");
    case "depth":
      return new ToolError(
        "LIMIT_SIZE",
        "The arguments of " + address + " nest deeper than " + limits.depth + " levels",
      );
    case "circular":
      return new ToolError("TOOL_ARGUMENTS_INVALID", "The arguments of " + address + " contain themselves");
    case "promise":
      return new ToolError(
        "TOOL_ARGUMENTS_INVALID",
        "The arguments of " + address + " contain a promise; await it first",
      );
    default:
      return reason satisfies never;
  }
}

declare const Error: { readonly captureStackTrace?: (target: object, above: unknown) => void };
const { captureStackTrace } = Error;

/** V8 keeps the frames and writes their text on first use; other engines have no such call. */
function captureSite(site: object, stub: unknown): void {
  captureStackTrace?.(site, stub);
}

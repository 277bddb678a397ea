/** Parses a child's reports about a program. Untrusted: a child may have been compromised. */

import { GloveboxError, defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, Limits } from "../../domain/index.ts";
import { findExcess, readJson } from "../../text/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

import { ERROR_CHARS, OVERRUNS } from "../wire.ts";
import type { ThrownMessage } from "../wire.ts";
import { createOverrun } from "./overruns.ts";

const KINDS: readonly ThrownMessage["kind"][] = ["thrown", "unserializable", "stuck", "syntax"];

/** The value that a program returned; an empty text stands for no value. Throws LIMIT_SIZE if it is too deep or too wide. */
export function* readValue(text: string, limits: Limits): SlicedWork<Json | undefined> {
  if (text === "") return undefined;
  const value = yield* readJson(text);
  if (value === undefined) throw notJson();
  const excess = yield* findExcess(value, limits.depth);
  if (excess) throw createOverrun(excess.of, limits, excess.most);
  return value;
}

/** The child no longer follows the protocol. */
function notJson(): GloveboxError {
  return new GloveboxError("SANDBOX_CRASHED", "The sandbox process sent a result that is not JSON");
}

export function parseThrown(text: string): ThrownMessage {
  const raw = parseJson(text);
  if (raw === undefined) throw notJson();
  const fields = isJsonObject(raw) ? raw : {};
  const find = (name: string): string | undefined => {
    const field = fields[name];
    return typeof field === "string" ? field.slice(0, ERROR_CHARS) : undefined;
  };
  const { seq } = fields;
  return {
    kind: KINDS.find((kind) => kind === fields["kind"]) ?? "thrown",
    name: find("name") ?? "",
    message: find("message") ?? "",
    stack: find("stack") ?? "",
    ...defined({ seq: typeof seq === "number" ? seq : undefined, code: find("code") }),
  };
}

export function parseOverrun(text: string, limits: Limits): GloveboxError {
  const reported = OVERRUNS.find((word) => word === text);
  return reported
    ? createOverrun(reported, limits)
    : new GloveboxError("SANDBOX_CRASHED", "An unknown limit was reported");
}

export function parseUsage(text: string): { readonly cpuMs: number; readonly heapBytes: number } {
  const [cpuUs = 0, heapBytes = 0] = text.split(" ", 2).map(parseCount);
  return { cpuMs: cpuUs / 1_000, heapBytes };
}

function parseCount(word: string): number {
  const count = Number(word);
  return Number.isFinite(count) ? Math.max(0, count) : 0;
}

/** V8's messages for a buffer that does not fit; other allocations end the whole isolate. */
const REFUSED_BUFFER = /^(Array buffer allocation failed|ArrayBuffer\.prototype\.\w+: Out of memory)$/;

/** An engine without free memory may be unable to settle the program's promise. */
const STUCK_SHARE = 0.8;

export function isOutOfMemory({ kind, name, message }: ThrownMessage, limits: Limits, peakBytes: number): boolean {
  if (kind === "stuck" && peakBytes > limits.memoryBytes * STUCK_SHARE) return true;
  return name === "RangeError" && REFUSED_BUFFER.test(message);
}

/** A dead child above this share of its memory limit counts as out of memory: V8 does not always report it. */
const FATAL_SHARE = 0.75;
/** Messages of V8, of C++, of a thread without a stack, and of workerd's allocator. */
const LAST_WORDS =
  /out of memory|heap limit|allocation failed|invalid size error|bad_alloc|last few GCs|resource temporarily unavailable|objs\/span/i;

/** The reason why a child is gone, from its stderr and its peak memory. */
export function toDeath(reason: GloveboxError, limits: Limits, peakBytes: number): GloveboxError {
  const isFull = peakBytes > limits.memoryBytes * FATAL_SHARE;
  return isFull || LAST_WORDS.test(reason.message) ? createOverrun("memory", limits) : reason;
}

/** A child that reported that its program waits. */
export function activeWithoutPlace(): GloveboxError {
  return new GloveboxError(
    "SANDBOX_CRASHED",
    "The sandbox process was active after it reported that its program waits",
  );
}

/** A child that reported the value of its program. */
export function activeAfterEnd(): GloveboxError {
  return new GloveboxError("SANDBOX_CRASHED", "The sandbox process was active after its program had returned");
}

/** A child that asked for another engine. */
export function activeWhileBlocked(): GloveboxError {
  return new GloveboxError("SANDBOX_CRASHED", "The sandbox process was active while it waited for another engine");
}

/** A rejected call means that the bridge itself failed: the program must end. */
export function toFatal(thrown: unknown): GloveboxError {
  return thrown instanceof GloveboxError
    ? thrown
    : new GloveboxError("INTERNAL_BUG", "The bridge failed", { cause: thrown });
}

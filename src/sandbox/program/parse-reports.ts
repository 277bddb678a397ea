/** Parses a child's reports about a program. Untrusted: a child may have been compromised. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, Limits } from "../../domain/index.ts";

import { memoryOverrun, toOverrun } from "./overruns.ts";
import { OVERRUNS } from "../wire.ts";
import type { ThrownMessage } from "../wire.ts";

const TEXT_CHARS = 8_192;
const KINDS: readonly ThrownMessage["kind"][] = ["thrown", "unserializable", "stuck", "syntax"];

/** Parses the JSON of a result. Invalid JSON means that the child no longer follows the protocol. */
export function parseValue(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch (cause) {
    throw new GloveboxError("SANDBOX_CRASHED", "The sandbox process sent a result that is not JSON", { cause });
  }
}

export function parseThrown(text: string): ThrownMessage {
  const raw = parseValue(text);
  const fields = isJsonObject(raw) ? raw : {};
  const read = (name: string): string => {
    const field = fields[name];
    return typeof field === "string" ? field.slice(0, TEXT_CHARS) : "";
  };
  const { seq } = fields;
  return {
    kind: KINDS.find((kind) => kind === fields["kind"]) ?? "thrown",
    name: read("name"),
    message: read("message"),
    stack: read("stack"),
    ...(typeof seq === "number" && { seq }),
    ...(typeof fields["code"] === "string" && { code: read("code") }),
  };
}

export function parseOverrun(text: string, limits: Limits): GloveboxError {
  const reported = OVERRUNS.find((word) => word === text);
  return reported ? toOverrun(reported, limits) : new GloveboxError("SANDBOX_CRASHED", "An unknown limit was reported");
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

export function isOutOfMemory({ name, message }: ThrownMessage): boolean {
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
  return isFull || LAST_WORDS.test(reason.message) ? memoryOverrun(limits) : reason;
}

/** A rejected call means that the bridge itself failed: the program must end. */
export function toFatal(thrown: unknown): GloveboxError {
  return thrown instanceof GloveboxError
    ? thrown
    : new GloveboxError("INTERNAL_BUG", "The bridge failed", { cause: thrown });
}

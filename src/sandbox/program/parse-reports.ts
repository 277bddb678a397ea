/** Reads what a child reports about a program. Nothing in it is trusted: a child may have been taken over. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Json, Limits } from "../../domain/index.ts";

import { memoryOverrun, toOverrun } from "./overruns.ts";
import { OVERRUNS } from "../wire.ts";
import type { ThrownMessage } from "../wire.ts";

const TEXT_CHARS = 8_192;
const KINDS: readonly ThrownMessage["kind"][] = ["thrown", "unserializable", "stuck", "syntax"];

/** The JSON text of a result. Broken text means that the child no longer speaks our protocol. */
export function parseValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
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

/** How V8 refuses a buffer that does not fit; the other kinds of memory end the whole isolate. */
const REFUSED_BUFFER = /^(Array buffer allocation failed|ArrayBuffer\.prototype\.\w+: Out of memory)$/;

export function isOutOfMemory({ name, message }: ThrownMessage): boolean {
  return name === "RangeError" && REFUSED_BUFFER.test(message);
}

/** Above this share of its memory limit a dead child is taken to have died of it: V8 does not always say so. */
const FATAL_SHARE = 0.75;
/** Of V8, of C++, of a thread that got no stack, and of the allocator of workerd, whose last words are a long table. */
const LAST_WORDS =
  /out of memory|heap limit|allocation failed|invalid size error|bad_alloc|last few GCs|resource temporarily unavailable|objs\/span/i;

/** Why a child is gone, from its last words and the most memory that it was seen to hold. */
export function toDeath(reason: GloveboxError, limits: Limits, peakBytes: number): GloveboxError {
  const isFull = peakBytes > limits.memoryBytes * FATAL_SHARE;
  return isFull || LAST_WORDS.test(reason.message) ? memoryOverrun(limits) : reason;
}

/** A rejected call means that the door itself has failed: the program may not go on. */
export function toFatal(thrown: unknown): GloveboxError {
  return thrown instanceof GloveboxError
    ? thrown
    : new GloveboxError("INTERNAL_BUG", "The bridge failed", { cause: thrown });
}

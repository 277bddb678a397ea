/**
 * Large messages in event streams. The SDK would parse each in one piece, which stops the gateway for as long. So they are
 * read here in slices, the SDK gets a short message in their place, and its fields are put back afterwards.
 */

import { parseJSONRPCMessage } from "@modelcontextprotocol/client";

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";
import { readJson } from "../../../text/index.ts";
import { runInSlices } from "../../../timing/index.ts";
import type { SlicedWork } from "../../../timing/index.ts";

/** Lines are joined in runs of this many. */
const RUN_LINES = 4_096;
/** The fields of a message that may be large, besides its error. */
const FIELDS = ["result", "params"] as const;
/** The only key of a short field. A server that writes it can only name a field that it sent itself. */
const KEY = "glovebox:large";
/** The SDK reports it as an error, as it would the event that it replaces. */
const INVALID = "{}";

export interface LargeEvents {
  readonly openStream: () => LargeEventStream;
  /** Puts the large fields back into a message. Call it before anything else sees the message. */
  readonly restore: (message: object) => void;
}

export interface LargeEventStream {
  /** Takes the text of an event with its blank line, and returns a short one. */
  readonly shorten: (text: string) => Promise<string>;
  /** Forgets the fields that were not put back. */
  readonly drop: () => void;
}

export function createLargeEvents(): LargeEvents {
  const held = new Map<number, { readonly stream: LargeEventStream; readonly value: Json }>();
  let lastId = 0;
  const take = (short: unknown): Json | undefined => {
    const id: unknown = Object(short)[KEY];
    if (typeof id !== "number") return undefined;
    const value = held.get(id)?.value;
    held.delete(id);
    return value;
  };
  const openStream = (): LargeEventStream => {
    const hold = (value: Json): JsonObject => {
      lastId += 1;
      held.set(lastId, { stream, value });
      return { [KEY]: lastId };
    };
    const stream = {
      shorten: (text: string) => shortenEvent(text, hold),
      drop() {
        for (const [id, one] of held) if (one.stream === stream) held.delete(id);
      },
    };
    return stream;
  };
  return {
    openStream,
    restore(message) {
      for (const field of FIELDS) {
        const value = take(Reflect.get(message, field));
        if (value !== undefined) Reflect.set(message, field, value);
      }
      const error = take(Object(Reflect.get(message, "error")).data);
      if (error !== undefined) Reflect.set(message, "error", error);
    },
  };
}

async function shortenEvent(text: string, hold: (value: Json) => JsonObject): Promise<string> {
  const { data, others } = await runInSlices(readLines(text));
  const lines = [...others.values()];
  const [, type = ""] = /^event: ?(.*)/.exec(others.get("event") ?? "") ?? [];
  // Events of other types have no message.
  if (data !== undefined && (type === "" || type === "message")) {
    const message = await runInSlices(readJson(data));
    // Nothing is held for a message that the SDK refuses.
    const isValid = isJsonObject(message) && isMessage(shortenMessage(message, () => ({})));
    lines.push(`data: ${isValid ? JSON.stringify(shortenMessage(message, hold)) : INVALID}`);
  }
  return [...lines, "", ""].join("\n");
}

/** The data of an event, and the last line of each other field. */
function* readLines(text: string): SlicedWork<{ data: string | undefined; others: Map<string, string> }> {
  const others = new Map<string, string>();
  const runs: string[] = [];
  let run: string[] = [];
  let count = 0;
  for (let start = 0; start < text.length; count += 1) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (text.startsWith("data:", start)) run.push(text.slice(start + "data:".length, end));
    else {
      const [field] = /^(?:event|id|retry)(?=:|$)/.exec(text.slice(start, end)) ?? [];
      if (field !== undefined) others.set(field, text.slice(start, end));
    }
    start = end + 1;
    if (count % RUN_LINES !== RUN_LINES - 1) continue;
    if (run.length > 0) runs.push(run.join("\n"));
    run = [];
    yield;
  }
  if (run.length > 0) runs.push(run.join("\n"));
  return { data: runs.length > 0 ? runs.join("\n") : undefined, others };
}

function shortenMessage(message: JsonObject, hold: (value: Json) => JsonObject): Json {
  const { jsonrpc, id, method, error } = message;
  const short: Record<string, Json> = {};
  for (const [key, value] of Object.entries({ jsonrpc, id, method })) if (value !== undefined) short[key] = value;
  for (const field of FIELDS) {
    const value = message[field];
    if (value !== undefined) short[field] = isJsonObject(value) ? hold(value) : null;
  }
  if (isJsonObject(error)) {
    const { code = null, message: text } = error;
    short["error"] = { code, message: typeof text === "string" ? "" : null, data: hold(error) };
  }
  return short;
}

function isMessage(value: Json): boolean {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    return false;
  }
}

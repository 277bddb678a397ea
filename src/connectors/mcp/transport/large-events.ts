/**
 * Large messages in event streams. The SDK would parse each in one piece, which stops the gateway for as long. So they are
 * read here in slices, the SDK gets a short message in their place, and its fields are put back afterwards.
 */

import { parseJSONRPCMessage } from "@modelcontextprotocol/client";

import { isJsonObject } from "../../../domain/index.ts";
import type { Json } from "../../../domain/index.ts";
import { readJson } from "../../../text/index.ts";
import { runInSlices } from "../../../timing/index.ts";

/** A smaller event passes unchanged. */
const LARGE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** The SDK reports it as an error, as it does with the event that it replaces. */
const INVALID = "data: {}\n\n";
/** The fields of a message that may be large. */
const FIELDS = ["result", "params"] as const;
/** The only key of a short field. A server that writes it can only name a field that it sent itself. */
const KEY = "glovebox:large";

export interface LargeEvents {
  /** Shortens the large events of a stream; any other response is returned as it is. */
  readonly shorten: (response: Response) => Response;
  /** Puts the large fields back into a message. Call it before anything else sees the message. */
  readonly restore: (message: object) => void;
}

export function createLargeEvents(): LargeEvents {
  const held = new Map<number, Json>();
  let nextId = 0;
  const shortenText = async (text: string): Promise<string> => {
    const lines = text.split(/\r\n|\n|\r/);
    const data = lines.flatMap((line) => (line.startsWith("data:") ? line.slice("data:".length) : [])).join("\n");
    const message = await runInSlices(readJson(data));
    if (!isJsonObject(message)) return INVALID;
    const fields = FIELDS.filter((field) => isJsonObject(message[field])).map((field) => [field, nextId++] as const);
    const short = { ...message, ...Object.fromEntries(fields.map(([field, id]) => [field, { [KEY]: id }])) };
    // Nothing is held for a message that the SDK refuses.
    if (!isMessage(short)) return INVALID;
    for (const [field, id] of fields) held.set(id, message[field] ?? null);
    const others = lines.filter((line) => line !== "" && !line.startsWith("data:"));
    return [...others, `data: ${JSON.stringify(short)}`, "", ""].join("\n");
  };
  return {
    shorten(response) {
      const { body, headers, status, statusText } = response;
      if (!body || !headers.get("content-type")?.includes("text/event-stream")) return response;
      return new Response(body.pipeThrough(createShortener(shortenText)), { headers, status, statusText });
    },
    restore(message) {
      for (const field of FIELDS) {
        const id: unknown = Object(Reflect.get(message, field))[KEY];
        if (typeof id !== "number" || !held.has(id)) continue;
        Reflect.set(message, field, held.get(id));
        held.delete(id);
      }
    },
  };
}

function isMessage(value: Json): boolean {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    return false;
  }
}

/** Holds each event until its blank line. An event with returns only is not recognized, and passes at the end. */
function createShortener(shorten: (text: string) => Promise<string>): TransformStream<Uint8Array, Uint8Array> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let decoder = new TextDecoder();
  let texts: string[] = [];
  let lineBytes = 0;

  const hold = (part: Uint8Array): void => {
    bytes += part.length;
    parts.push(part);
    if (bytes <= LARGE_BYTES) return;
    texts.push(...parts.map((one) => decoder.decode(one, { stream: true })));
    parts = [];
  };
  const release = async (controller: TransformStreamDefaultController<Uint8Array>): Promise<void> => {
    const text = texts.length > 0 ? texts.join("") + decoder.decode() : undefined;
    const whole = parts;
    [parts, texts, bytes, decoder] = [[], [], 0, new TextDecoder()];
    if (text !== undefined) controller.enqueue(Buffer.from(await shorten(text)));
    else for (const part of whole) controller.enqueue(part);
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      for (let start = 0; start < chunk.length;) {
        const newline = chunk.indexOf(NEWLINE, start);
        const line = chunk.subarray(start, newline === -1 ? chunk.length : newline);
        lineBytes += line.at(-1) === RETURN ? line.length - 1 : line.length;
        const end = newline === -1 ? chunk.length : newline + 1;
        hold(chunk.subarray(start, end));
        start = end;
        const isEmpty = newline !== -1 && lineBytes === 0;
        if (newline !== -1) lineBytes = 0;
        if (isEmpty) await release(controller);
      }
    },
    flush: release,
  });
}

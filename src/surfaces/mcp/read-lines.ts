/**
 * Splits the input of a client into JSON-RPC messages and parses each one once. A line that is not a message is
 * answered with an error, and reading continues.
 */

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { INVALID_REQUEST } from "./repeated-ids.ts";

const NEWLINE = 0x0a;
const PARSE_ERROR = -32_700;

interface LineListener {
  readonly onMessage: (message: JsonObject) => void;
  /** Called with the answer to a refused line. */
  readonly refuse: (answer: JsonObject) => void;
}

/**
 * Returns a function that takes the input in chunks. Only complete lines of at most `maxBytes` are parsed. The rest of a
 * longer line is discarded while it arrives.
 */
export function createLineReader(maxBytes: number, { onMessage, refuse }: LineListener): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let isTooLong = false;

  const take = (piece: Buffer): void => {
    held += piece.length;
    isTooLong ||= held > maxBytes;
    if (isTooLong) pieces = [];
    else pieces.push(piece);
  };
  const finish = (): void => {
    const [only] = pieces;
    const line = only && pieces.length === 1 ? only : Buffer.concat(pieces);
    const tooLong = `Invalid request: the message has more than ${maxBytes} bytes`;
    const parsed = isTooLong ? tooLong : parseLine(line.toString("utf8"));
    pieces = [];
    held = 0;
    isTooLong = false;
    if (typeof parsed !== "string") onMessage(parsed);
    else if (parsed !== "") refuse(toError(parsed));
  };

  return (chunk) => {
    for (let rest = chunk; ;) {
      const end = rest.indexOf(NEWLINE);
      if (end < 0) return take(rest);
      take(rest.subarray(0, end));
      finish();
      rest = rest.subarray(end + 1);
    }
  };
}

/** Returns the message, or what is wrong with the line, or `""` for a line without an answer. */
function parseLine(text: string): JsonObject | string {
  const message = parseJson(text);
  if (message === undefined) return text.trim() === "" ? "" : "Parse error: the line is not JSON";
  if (Array.isArray(message)) return "Invalid request: batches are not supported";
  const isMessage = isJsonObject(message) && message["jsonrpc"] === "2.0";
  if (!isMessage || !(typeof message["method"] === "string" || "result" in message || "error" in message)) {
    return "Invalid request: the line is not a JSON-RPC 2.0 message";
  }
  // The SDK silently drops a request with another id, and its client would wait forever.
  const { id = "" } = message;
  const isGood = !("method" in message) || typeof id === "string" || Number.isSafeInteger(id);
  return isGood ? message : "Invalid request: an id must be a string or an integer";
}

function toError(message: string): JsonObject {
  const code = message.startsWith("Parse error") ? PARSE_ERROR : INVALID_REQUEST;
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}

/**
 * Filters lines before the SDK's reader, which closes the connection after one long line and logs every invalid one.
 * Each such line is answered with an error, and reading continues.
 */

import { Transform } from "node:stream";

import { isJsonObject } from "../../domain/index.ts";

export interface LineFilterOptions {
  /** Limit of one line. The rest of a longer line is discarded while it arrives. */
  readonly maxBytes: number;
  /** Called with the answer to a refused line. */
  readonly refuse: (text: string) => void;
}

const NEWLINE = 0x0a;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** Passes on only complete lines that are JSON-RPC messages. */
export function filterLines({ maxBytes, refuse }: LineFilterOptions): Transform {
  let pieces: Buffer[] = [];
  let held = 0;
  let isTooLong = false;

  const take = (piece: Buffer): void => {
    held += piece.length;
    isTooLong ||= held > maxBytes;
    if (isTooLong) pieces = [];
    else pieces.push(piece);
  };
  const finish = (): Buffer | undefined => {
    const line = Buffer.concat(pieces);
    const problem = isTooLong ? tooLong(maxBytes) : findProblem(line);
    pieces = [];
    held = 0;
    isTooLong = false;
    if (problem === undefined) return line;
    if (problem !== "empty") refuse(problem);
    return undefined;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let rest = chunk; ;) {
        const end = rest.indexOf(NEWLINE);
        if (end < 0) {
          take(rest);
          return done();
        }
        take(rest.subarray(0, end));
        const line = finish();
        if (line) this.push(Buffer.concat([line, Buffer.of(NEWLINE)]));
        rest = rest.subarray(end + 1);
      }
    },
    /** Handles the last message before the end, so that the work it starts can be ended. */
    flush: (done) => void setImmediate(done),
  });
}

/** Returns the error line, `empty` for a line without an answer, or `undefined` for a message. */
function findProblem(line: Buffer): string | undefined {
  const text = line.toString("utf8");
  if (text.trim() === "") return "empty";
  const message = parseLine(text);
  if (message === undefined) return toError(PARSE_ERROR, "Parse error: the line is not JSON");
  if (Array.isArray(message)) return toError(INVALID_REQUEST, "Invalid request: batches are not supported");
  if (!isJsonObject(message) || message["jsonrpc"] !== "2.0" || !hasBody(message)) {
    return toError(INVALID_REQUEST, "Invalid request: the line is not a JSON-RPC 2.0 message");
  }
  return hasGoodId(message)
    ? undefined
    : toError(INVALID_REQUEST, "Invalid request: an id must be a string or an integer");
}

/** The SDK silently drops a request with another id, and its client would wait forever. */
function hasGoodId(message: { readonly [key: string]: unknown }): boolean {
  if (!("id" in message) || !("method" in message)) return true;
  return typeof message["id"] === "string" || Number.isSafeInteger(message["id"]);
}

function hasBody(message: { readonly [key: string]: unknown }): boolean {
  return typeof message["method"] === "string" || "result" in message || "error" in message;
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tooLong(maxBytes: number): string {
  return toError(INVALID_REQUEST, `Invalid request: the message has more than ${maxBytes} bytes`);
}

function toError(code: number, message: string): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })}\n`;
}

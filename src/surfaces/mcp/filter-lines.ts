/**
 * Filters lines before the SDK's reader, which closes the connection after one long line and logs every invalid one.
 * Each such line is answered with an error, and reading continues.
 */

import { Transform } from "node:stream";

import { isJsonObject, parseJson } from "../../domain/index.ts";

const NEWLINE = 0x0a;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/**
 * Passes on only complete lines that are JSON-RPC messages of at most `maxBytes`. The rest of a longer line is discarded
 * while it arrives. Calls `refuse` with the answer to a refused line.
 */
export function filterLines(maxBytes: number, refuse: (text: string) => void): Transform {
  let pieces: Buffer[] = [];
  let held = 0;
  let isTooLong = false;

  const take = (piece: Buffer): void => {
    held += piece.length;
    isTooLong ||= held > maxBytes;
    if (isTooLong) pieces = [];
    else pieces.push(piece);
  };
  /** Returns a message, or refuses the line. An empty line has no answer. */
  const finish = (): Buffer | undefined => {
    const line = Buffer.concat(pieces);
    const tooLong = `Invalid request: the message has more than ${maxBytes} bytes`;
    const problem = isTooLong ? tooLong : findProblem(line.toString("utf8"));
    pieces = [];
    held = 0;
    isTooLong = false;
    if (problem === undefined) return line;
    if (problem !== "") refuse(toError(problem));
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

/** Returns the error, `""` for a line without an answer, or `undefined` for a message. */
function findProblem(text: string): string | undefined {
  if (text.trim() === "") return "";
  const message = parseJson(text);
  if (message === undefined) return "Parse error: the line is not JSON";
  if (Array.isArray(message)) return "Invalid request: batches are not supported";
  const isMessage = isJsonObject(message) && message["jsonrpc"] === "2.0";
  if (!isMessage || !(typeof message["method"] === "string" || "result" in message || "error" in message)) {
    return "Invalid request: the line is not a JSON-RPC 2.0 message";
  }
  // The SDK silently drops a request with another id, and its client would wait forever.
  const { id = "" } = message;
  const isGood = !("method" in message) || typeof id === "string" || Number.isSafeInteger(id);
  return isGood ? undefined : "Invalid request: an id must be a string or an integer";
}

function toError(message: string): string {
  const code = message.startsWith("Parse error") ? PARSE_ERROR : INVALID_REQUEST;
  return `${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })}\n`;
}

/** From a response to the value that a program receives, or to an error. */

import { GloveboxError } from "../../../domain/index.ts";
import type { Attachment, ConnectorId, Json } from "../../../domain/index.ts";
import { findExcess, mapLargeTexts, readJson } from "../../../text/index.ts";
import { runInSlices } from "../../../timing/index.ts";
import type { SlicedWork } from "../../../timing/index.ts";

import { toShownText } from "../../shown-text.ts";
import type { TextCleaner } from "../../shown-text.ts";
import { MOST_DEPTH } from "../../connector.ts";
import type { RemoteResult } from "../../connector.ts";
import type { Credentials } from "../credentials.ts";
import { isJsonType, isTextType } from "../media-type.ts";
import type { Operation } from "../operation.ts";

const MAX_ERROR_BYTES = 2048;
/** How much of a failed response is read. */
const MAX_ERROR_READ_BYTES = 16 * 1024;

export interface ResponseContext {
  readonly id: ConnectorId;
  readonly operation: Operation;
  readonly credentials: Credentials;
  readonly clean: TextCleaner;
}

/** JSON becomes its value, text a string, an empty body `null`, anything else an attachment. Throws from status 300 up. */
export async function readResponse(response: Response, context: ResponseContext): Promise<RemoteResult> {
  if (!response.ok) throw await toStatusError(response, context);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const mediaType = response.headers.get("content-type") ?? "";
  if (bytes.length === 0) return { value: null, attachments: [] };
  if (isJsonType(mediaType)) {
    return { value: await runInSlices(parseBody(decode(bytes) ?? "", context)), attachments: [] };
  }
  const text = isTextType(mediaType) || mediaType === "" ? decode(bytes) : undefined;
  if (text !== undefined) return { value: context.credentials.hide(text), attachments: [] };
  return toAttachment(bytes, mediaType);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Masks credentials: an API may echo its requests. */
function* parseBody(text: string, { id, operation, credentials }: ResponseContext): SlicedWork<Json> {
  const value = yield* readJson(text);
  if (value === undefined) {
    const message = `${id}: the answer to ${toPlace(operation)} is declared as JSON but is not`;
    throw new GloveboxError("UPSTREAM_RESULT_INVALID", message, { hint: "Report it to the API's operator" });
  }
  // One that is too large is refused, and masking it would recurse.
  if (yield* findExcess(value, MOST_DEPTH)) return value;
  // After parsing, because escapes in the text could hide a credential. Keys are masked as well.
  return yield* mapLargeTexts(value, (one) => credentials.hide(one));
}

/** A program gets the kind and size of binary data, not the data. */
function toAttachment(bytes: Uint8Array, rawType: string): RemoteResult {
  const mimeType = /^[\w.+-]+\/[\w.+-]+/.exec(rawType)?.[0].toLowerCase() ?? "application/octet-stream";
  const kind = (["image", "audio"] as const).find((one) => mimeType.startsWith(`${one}/`)) ?? "blob";
  const attachment: Attachment = { path: [], kind, mimeType, base64: Buffer.from(bytes).toString("base64") };
  return { value: { type: kind, mimeType, bytes: bytes.length }, attachments: [attachment] };
}

async function toStatusError(response: Response, context: ResponseContext): Promise<GloveboxError> {
  const { id, operation, credentials, clean } = context;
  const { status, headers } = response;
  const body = toShownText(credentials.hide(await readStart(response)), clean, MAX_ERROR_BYTES).trim();
  const retryAfter = /^[\w ,:]{1,40}$/.exec(headers.get("retry-after") ?? "")?.[0];
  const wait = retryAfter === undefined ? "" : ` (retry after ${retryAfter}${/^\d+$/.test(retryAfter) ? " s" : ""})`;
  const message = `${id}: ${toPlace(operation)} answered with status ${status}${wait}${body && `: ${body}`}`;
  const code = status === 401 || status === 403 ? "UPSTREAM_AUTH_REQUIRED" : "UPSTREAM_FAILED";
  return new GloveboxError(code, message, { hint: toHint(status) });
}

function toHint(status: number): string {
  if (status === 401 || status === 403)
    return "Set or renew the credential of this API, in auth or headers of its entry";
  if (status === 429 || status === 503) return "Wait before the next call, and make fewer of them";
  if (status >= 500) return "The API itself failed; try again later";
  return "Check the arguments against the tool's description";
}

function toPlace({ method, path }: Operation): string {
  return `${method} ${path}`;
}

/** Ends the response after the first bytes. */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_ERROR_READ_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_ERROR_READ_BYTES));
}

/** Pictures, sounds and files of a call stay on the host: the program gets the handle of each in its place. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Attachment, Json, ResultId } from "../../domain/index.ts";

import type { KeptFile } from "./create-results.ts";

/** What a call answered, and what came along. */
export interface AttachedValue {
  readonly value: Json;
  readonly attachments: readonly Attachment[];
}

const MAX_FILES = 100;
const BASE64_CHARS = 4;
const BASE64_BYTES = 3;

/** `maxBytes` bounds all files of the call together; more of them throws `LIMIT_SIZE`. */
export async function keepAttachments(
  { value, attachments }: AttachedValue,
  maxBytes: number,
  keep: (file: KeptFile) => Promise<ResultId>,
): Promise<Json> {
  const chars = attachments.reduce((sum, { base64 }) => sum + base64.length, 0);
  if (attachments.length > MAX_FILES || (chars / BASE64_CHARS) * BASE64_BYTES > maxBytes) throw tooMuch(maxBytes);
  let kept = value;
  for (const { path, kind, mimeType, base64 } of attachments) {
    const body = Buffer.from(base64, "base64");
    const description = { type: kind, mimeType, bytes: body.byteLength, handle: await keep({ mimeType, body }) };
    kept = placeAt(kept, path, description);
  }
  return kept;
}

/** Replaces the placeholder and copies what leads to it; a path that leads nowhere changes nothing. */
function placeAt(value: Json, [step, ...rest]: readonly (string | number)[], description: Json): Json {
  if (step === undefined)
    return isJsonObject(value) && isJsonObject(description) ? { ...value, ...description } : description;
  if (Array.isArray(value))
    return value.map((item: Json, at) => (at === step ? placeAt(item, rest, description) : item));
  if (!isJsonObject(value) || !Object.hasOwn(value, String(step))) return value;
  return { ...value, [step]: placeAt(value[String(step)] ?? null, rest, description) };
}

function tooMuch(maxBytes: number): GloveboxError {
  const message = `The call brought more than ${MAX_FILES} files or more than ${maxBytes} bytes of them (resultBytes)`;
  return new GloveboxError("LIMIT_SIZE", message, { hint: "Ask the tool for fewer or smaller files" });
}

/** What a program may give `fetch` as `body`, as text or base64 for the host. */

import { btoa } from "./base64.ts";
import { bytesOf, isBuffer, isView, typedArrayLength } from "./buffer-source.ts";
import { isPrototypeOf, toText } from "./intrinsics.ts";
import { TextBuilder } from "./text-builder.ts";
import { URLSearchParams } from "./url-search-params.ts";

/** One of `text` and `base64`, and the media type that goes without saying. */
export interface RequestBody {
  readonly text?: string;
  readonly base64?: string;
  readonly type?: string;
}

const PARAMS = URLSearchParams.prototype;

/** Returns `undefined` for no body. An object is an error instead of "[object Object]". */
export function toRequestBody(body: unknown): RequestBody | undefined {
  if (body === undefined || body === null) return undefined;
  if (isView(body) || isBuffer(body)) return { base64: toBase64(bytesOf(body)) };
  if (typeof body !== "object") return { text: toText(body), type: "text/plain;charset=UTF-8" };
  if (isPrototypeOf(PARAMS, body)) {
    return { text: toText(body), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  throw new TypeError("fetch takes a body of text, bytes or URLSearchParams; use JSON.stringify for an object");
}

function toBase64(bytes: Uint8Array): string {
  const binary = new TextBuilder();
  const length = typedArrayLength(bytes) ?? 0;
  for (let index = 0; index < length; index += 1) binary.add(bytes[index] ?? 0);
  return btoa(binary.finish());
}

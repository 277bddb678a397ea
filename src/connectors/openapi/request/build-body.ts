/** From the argument `body` to the bytes of a request, in the media type of the document. */

import { isJsonObject } from "../../../domain/index.ts";
import type { GloveboxError, Json } from "../../../domain/index.ts";

import type { Body, Serialization } from "../operation.ts";
import { invalidArgument, toPairs, toPlainText } from "./serialize.ts";

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** The default for a property: arrays repeat the name, objects are JSON. */
const USUAL: Serialization = { style: "form", explode: true, allowReserved: false };

export interface BuiltBody {
  readonly body: string | Uint8Array<ArrayBuffer> | FormData;
  /** `undefined` for a multipart body, whose type has a boundary that is chosen when it is sent. */
  readonly contentType: string | undefined;
}

/** Throws `TOOL_ARGUMENTS_INVALID` when the value cannot be sent as this kind of body. */
export function buildBody(body: Body, value: Json): BuiltBody {
  const { kind, mediaType } = body;
  switch (kind) {
    case "json":
      return { body: JSON.stringify(value), contentType: mediaType };
    case "form":
      return { body: toForm(body, value), contentType: mediaType };
    case "multipart":
      return { body: toMultipart(body, value), contentType: undefined };
    case "text":
      return { body: toPlainText(value), contentType: mediaType };
    case "binary":
      return { body: toBytes(value), contentType: mediaType };
    default:
      return kind satisfies never;
  }
}

function toForm({ encodings }: Body, value: Json): string {
  if (!isJsonObject(value)) throw invalid("takes one object of fields");
  const pairs = Object.entries(value).flatMap(([name, field]) => {
    const how = encodings.get(name);
    return toPairs(name, how || !isJsonObject(field) ? field : JSON.stringify(field), how ?? USUAL);
  });
  return pairs.map((pair) => pair.join("=")).join("&");
}

function toMultipart({ binaries }: Body, value: Json): FormData {
  if (!isJsonObject(value)) throw invalid("takes one object of fields");
  const form = new FormData();
  for (const [name, field] of Object.entries(value)) {
    for (const item of Array.isArray(field) ? field : [field]) {
      if (item === null) continue;
      if (binaries.has(name)) form.append(name, new Blob([toBytes(item)]), name);
      else if (typeof item === "object")
        form.append(name, new Blob([JSON.stringify(item)], { type: "application/json" }));
      else form.append(name, String(item));
    }
  }
  return form;
}

function toBytes(value: Json): Uint8Array<ArrayBuffer> {
  if (typeof value !== "string" || !BASE64.test(value)) throw invalid("takes bytes as a base64 string");
  return new Uint8Array(Buffer.from(value, "base64"));
}

function invalid(problem: string): GloveboxError {
  return invalidArgument("body", `this operation ${problem}`);
}

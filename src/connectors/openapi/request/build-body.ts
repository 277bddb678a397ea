/** From the argument `body` to the bytes of a request, in the media type of the document. */

import { isJsonObject } from "../../../domain/index.ts";
import type { GloveboxError, Json } from "../../../domain/index.ts";

import type { Body, Serialization } from "../operation.ts";
import { invalidArgument, toPairs, toPlainText } from "./serialize.ts";

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** The default for a property: arrays repeat the name, objects are JSON. */
const USUAL: Serialization = { style: "form", explode: true, allowReserved: false };

/** Throws `TOOL_ARGUMENTS_INVALID` when the value cannot be sent as this kind of body. */
export function buildBody(body: Body, value: Json): string | Uint8Array<ArrayBuffer> | FormData {
  const { kind } = body;
  switch (kind) {
    case "json":
      return JSON.stringify(value);
    case "form":
      return toForm(body, value);
    case "multipart":
      return toMultipart(body, value);
    case "text":
      return toPlainText(value);
    case "binary":
      return toBytes(value);
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

/**
 * From arguments to a request. A value stays in its place: it cannot leave its path segment, end its header, start
 * another header, or replace a credential.
 */

import { defined } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Credentials } from "../credentials.ts";
import { BODY_ARGUMENT } from "../operation.ts";
import type { Operation, Parameter } from "../operation.ts";
import { buildBody } from "./build-body.ts";
import { encodePercent, invalidArgument, toHeaderText, toPairs, toPathText, toPlainText } from "./serialize.ts";
import type { Pair } from "./serialize.ts";

/** Segments that a URL parser resolves as the current or parent folder, also when encoded. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;
/** The characters of a header value: RFC 9110 §5.5, one byte per character. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const ACCEPT = "application/json, */*;q=0.5";

interface PlacedValue {
  readonly parameter: Parameter;
  readonly value: Json;
}

/**
 * The operation has no parameters that the host fills; the query of `base` is ignored. Throws `TOOL_ARGUMENTS_INVALID`
 * for a value that cannot be sent in its place.
 */
export function buildRequest(
  operation: Operation,
  args: JsonObject,
  { base, credentials }: { readonly base: URL; readonly credentials: Credentials },
): { readonly url: URL; readonly init: RequestInit } {
  const values = new Map(Object.entries(args));
  const placed = operation.parameters.flatMap((parameter): PlacedValue[] => {
    const value = values.get(parameter.argument);
    return value === undefined ? [] : [{ parameter, value: toSent(value, parameter) }];
  });
  const secrets = credentials.of(operation);
  const listPairs = (wanted: "query" | "cookie"): readonly string[] => {
    const own = placed
      .filter(({ parameter }) => parameter.place === wanted)
      .flatMap(({ parameter, value }) => toPairs(parameter.name, value, parameter))
      // An object that is spread over a query brings names that the program chose, so names are compared decoded.
      .filter(([name]) => !credentials.isReserved(wanted, decodeURIComponent(name)));
    const added = secrets.filter(({ place }) => place === wanted);
    const encoded = added.map(({ name, value }): Pair => [encodePercent(name), encodePercent(value)]);
    return [...own, ...encoded].map((pair) => pair.join("="));
  };
  const url = new URL(base.origin + toPath(operation.path, base.pathname, placed));
  url.search = listPairs("query").join("&");
  const rawBody = values.get(BODY_ARGUMENT);
  const described = rawBody === undefined ? null : operation.body;
  const body = described && rawBody !== undefined ? buildBody(described, rawBody) : undefined;
  const headers = buildHeaders(placed);
  // The type of a multipart body has a boundary, which is chosen when it is sent.
  if (described && described.kind !== "multipart") headers.set("content-type", described.mediaType);
  const cookies = listPairs("cookie");
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  for (const { place, name, value } of secrets) if (place === "header") headers.set(name, value);
  for (const [name, value] of Object.entries(credentials.headers)) headers.set(name, value);
  return { url, init: { method: operation.method, headers, ...defined({ body }) } };
}

/** A parameter with a media type is sent as one string; `text/plain` is not quoted. */
function toSent(value: Json, { format }: Parameter): Json {
  if (format === "style") return value;
  return format === "json" ? JSON.stringify(value) : toPlainText(value);
}

/** The text of the template is encoded too where it could begin a query. */
function toPath(template: string, basePath: string, placed: readonly PlacedValue[]): string {
  const path = template
    .replaceAll("?", "%3F")
    .replaceAll("#", "%23")
    .replace(/\{([^}]*)\}/g, (_, name: string) => {
      const found = placed.find(({ parameter }) => parameter.place === "path" && parameter.name === name);
      const text = found ? toPathText(name, found.value, found.parameter) : "";
      if (text === "") throw invalidArgument(name, "is part of the path and cannot be empty");
      return text;
    });
  if (path.split(/[/\\]/).some((segment) => DOT_SEGMENT.test(segment))) {
    throw invalidArgument("path", "a value of . or .. would leave its place in the path");
  }
  return basePath.replace(/\/$/, "") + path;
}

function buildHeaders(placed: readonly PlacedValue[]): Headers {
  const headers = new Headers({ accept: ACCEPT, "user-agent": "glovebox" });
  for (const { parameter, value } of placed) {
    if (parameter.place !== "header" || value === null) continue;
    const text = toHeaderText(value, parameter);
    if (!HEADER_VALUE.test(text)) {
      const problem = "is sent in a header and cannot contain line breaks or control characters";
      throw invalidArgument(parameter.argument, problem);
    }
    headers.set(parameter.name, text);
  }
  return headers;
}

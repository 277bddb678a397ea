/**
 * From arguments to a request. A value stays in its place: it cannot leave its path segment, end its header, start
 * another header, or replace a credential.
 */

import { GloveboxError } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import { buildBody } from "./build-body.ts";
import type { Credentials } from "../credentials.ts";
import { BODY_ARGUMENT } from "../operation.ts";
import type { Operation, Parameter } from "../operation.ts";
import { encodePercent, toHeaderText, toPairs, toPathText, toPlainText } from "./serialize.ts";
import type { Pair } from "./serialize.ts";

/** Segments that a URL parser resolves as the current or parent folder, also when encoded. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;
/** The characters of a header value: RFC 9110 §5.5, one byte per character. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const ACCEPT = "application/json, */*;q=0.5";

export interface RequestContext {
  /** The URL of the API; its query is ignored. */
  readonly base: URL;
  readonly credentials: Credentials;
}

export interface ApiRequest {
  readonly url: URL;
  readonly init: RequestInit;
}

/**
 * The operation has no parameters that the host fills. Throws `TOOL_ARGUMENTS_INVALID` for a value that cannot be sent
 * in its place.
 */
export function buildRequest(
  operation: Operation,
  args: JsonObject,
  { base, credentials }: RequestContext,
): ApiRequest {
  const given = operation.parameters.flatMap((parameter): PlacedValue[] => {
    const value = Object.hasOwn(args, parameter.argument) ? args[parameter.argument] : undefined;
    if (value === undefined) return [];
    return [{ parameter, value: toSent(value, parameter) }];
  });
  const secrets = credentials.of(operation);
  const own = collectPairs(given, "query").filter(([name]) => !credentials.isReserved("query", decodeName(name)));
  const query = [...own, ...secrets.filter(({ place }) => place === "query").map(toEncodedPair)];
  const url = new URL(base.origin + toPath(operation.path, base.pathname, given));
  url.search = query.map((pair) => pair.join("=")).join("&");
  const rawBody = Object.hasOwn(args, BODY_ARGUMENT) ? args[BODY_ARGUMENT] : undefined;
  const built = operation.body && rawBody !== undefined ? buildBody(operation.body, rawBody) : undefined;
  const headers = buildHeaders(given, built?.contentType);
  const cookies = [
    ...collectPairs(given, "cookie").filter(([name]) => !credentials.isReserved("cookie", decodeName(name))),
    ...secrets.filter(({ place }) => place === "cookie").map(toEncodedPair),
  ];
  if (cookies.length > 0) headers.set("cookie", cookies.map((pair) => pair.join("=")).join("; "));
  for (const { place, name, value } of secrets) if (place === "header") headers.set(name, value);
  for (const [name, value] of credentials.headers) headers.set(name, value);
  return { url, init: { method: operation.method, headers, ...(built && { body: built.body }) } };
}

interface PlacedValue {
  readonly parameter: Parameter;
  readonly value: Json;
}

/** A parameter with a media type is sent as one string; `text/plain` is not quoted. */
function toSent(value: Json, { format }: Parameter): Json {
  if (format === "style") return value;
  return format === "json" ? JSON.stringify(value) : toPlainText(value);
}

/** An object that is spread over a query brings names that the program chose, so names are compared decoded. */
function decodeName(name: string): string {
  return decodeURIComponent(name);
}

function toEncodedPair({ name, value }: { readonly name: string; readonly value: string }): Pair {
  return [encodePercent(name), encodePercent(value)];
}

function collectPairs(given: readonly PlacedValue[], place: "query" | "cookie"): readonly Pair[] {
  return given
    .filter(({ parameter }) => parameter.place === place)
    .flatMap(({ parameter, value }) => toPairs(parameter.name, value, parameter));
}

/** The text of the template is encoded too where it could begin a query. */
function toPath(template: string, basePath: string, given: readonly PlacedValue[]): string {
  const path = template
    .replaceAll("?", "%3F")
    .replaceAll("#", "%23")
    .replace(/\{([^}]*)\}/g, (_, name: string) => {
      const found = given.find(({ parameter }) => parameter.place === "path" && parameter.name === name);
      const text = found ? toPathText(name, found.value, found.parameter) : "";
      if (text === "") throw invalid(name, "is part of the path and cannot be empty");
      return text;
    });
  if (path.split(/[/\\]/).some((segment) => DOT_SEGMENT.test(segment))) {
    throw invalid("path", "a value of . or .. would leave its place in the path");
  }
  return basePath.replace(/\/$/, "") + path;
}

function buildHeaders(given: readonly PlacedValue[], contentType: string | undefined): Headers {
  const headers = new Headers({ accept: ACCEPT, "user-agent": "glovebox" });
  for (const { parameter, value } of given) {
    if (parameter.place !== "header" || value === null) continue;
    const text = toHeaderText(value, parameter);
    if (!HEADER_VALUE.test(text))
      throw invalid(parameter.argument, "is sent in a header and cannot contain line breaks or control characters");
    headers.set(parameter.name, text);
  }
  if (contentType !== undefined) headers.set("content-type", contentType);
  return headers;
}

function invalid(argument: string, problem: string): GloveboxError {
  return new GloveboxError("TOOL_ARGUMENTS_INVALID", `${argument}: ${problem}`, {
    hint: "Correct this argument; `describe` shows its meaning",
  });
}

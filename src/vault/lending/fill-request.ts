/** Replaces tokens by values, escaped for the part of the request that they are in. Pure. */

import { GloveboxError, parseJson } from "../../domain/index.ts";

import type { Secret } from "../secret.ts";

/** A token and the secret that it stands for. */
export interface Filling {
  readonly token: string;
  readonly secret: Secret;
}

type Values = ReadonlyMap<string, string>;

const BASIC = /^(basic\s+)([A-Za-z0-9+/]+={0,2})$/i;
const FORM = /^application\/x-www-form-urlencoded\b/i;
const JSON_TYPE = /^[^;]*json/i;
const XML_TYPE = /^[^;]*(?:xml|html)/i;
/** A line break would begin another header; non-ASCII characters have no defined meaning in one. */
const FITS_HEADER = /^[\t\x20-\x7e]*$/;

/** Counts a token in a header's value, also inside the base64 of `Basic user:password`. */
export function countInHeader(text: string, token: string): number {
  return countIn(text, token) + countIn(readBasic(text)?.pair ?? "", token);
}

/** Counts the bytes of a token in a body. */
export function countInBody(body: Uint8Array, token: string): number {
  return countIn(toLatin1(body), token);
}

/** Fills every token of the headers. Throws for a value that a header cannot hold; inside `Basic` every value fits. */
export function fillHeaders(headers: Headers, fillings: readonly Filling[]): Headers {
  const values = toValues(fillings, (value) => value);
  const unfit = fillings.filter(({ token }) => !FITS_HEADER.test(values.get(token) ?? ""));
  const filled = new Headers();
  for (const [name, text] of headers) {
    if (unfit.some(({ token }) => text.includes(token)))
      throw new GloveboxError("EGRESS_DENIED", `The header ${name} cannot hold this secret`, {
        hint: "Its value contains a line break or a non-ASCII character. Send it in the body, if that is granted",
      });
    filled.append(name, fillHeader(text, values));
  }
  return filled;
}

function fillHeader(text: string, values: Values): string {
  const bare = replaceTokens(text, values);
  const basic = readBasic(bare);
  if (!basic) return bare;
  const pair = replaceTokens(basic.pair, values);
  // Without a token, the header stays byte for byte the same.
  return pair === basic.pair ? bare : basic.scheme + Buffer.from(pair).toString("base64");
}

/**
 * Fills every token of the body, escaped for JSON, forms and XML by content type, and unescaped elsewhere. A body that
 * is valid JSON counts as JSON under any other type, because `fetch` labels strings as plain text by default.
 */
export function fillBody(body: Uint8Array, type: string, fillings: readonly Filling[]): Uint8Array {
  const escape = chooseEscape(type, body);
  const values = toValues(fillings, (value) => toLatin1(Buffer.from(escape(value))));
  return Buffer.from(replaceTokens(toLatin1(body), values), "latin1");
}

function chooseEscape(type: string, body: Uint8Array): (value: string) => string {
  if (FORM.test(type)) return escapeForm;
  if (JSON_TYPE.test(type)) return escapeJson;
  if (XML_TYPE.test(type)) return escapeXml;
  const isJson = parseJson(Buffer.from(body).toString("utf8")) !== undefined;
  return isJson ? escapeJson : (value) => value;
}

function escapeForm(value: string): string {
  return new URLSearchParams([["", value]]).toString().slice(1);
}

function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function escapeXml(value: string): string {
  return value.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function readBasic(text: string): { readonly scheme: string; readonly pair: string } | undefined {
  const [, scheme, encoded] = BASIC.exec(text) ?? [];
  if (scheme === undefined || encoded === undefined) return undefined;
  return { scheme, pair: Buffer.from(encoded, "base64").toString("utf8") };
}

function toValues(fillings: readonly Filling[], write: (value: string) => string): Values {
  return new Map(fillings.map(({ token, secret }) => [token, write(secret.reveal())]));
}

/** In one pass, so that a token inside the value of another secret is not filled. */
function replaceTokens(text: string, values: Values): string {
  if (values.size === 0) return text;
  const tokens = new RegExp([...values.keys()].join("|"), "g");
  return text.replaceAll(tokens, (token) => values.get(token) ?? token);
}

function countIn(text: string, token: string): number {
  return text.split(token).length - 1;
}

/** One character per byte, so that any bytes can be searched as a string. */
function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

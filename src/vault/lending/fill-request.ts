/** Puts values in the place of tokens, written as the part of the request that they stand in wants them. Pure. */

import { GloveboxError } from "../../domain/index.ts";

import type { Secret } from "../secret.ts";

/** A token and what it stands for. */
export interface Filling {
  readonly token: string;
  readonly secret: Secret;
}

type Values = ReadonlyMap<string, string>;

const BASIC = /^(basic\s+)([A-Za-z0-9+/]+={0,2})$/i;
const FORM = /^application\/x-www-form-urlencoded\b/i;
const JSON_TYPE = /^[^;]*json/i;
const XML_TYPE = /^[^;]*(?:xml|html)/i;
/** A line break would begin another header; what is not ASCII has no certain meaning in one. */
const FITS_HEADER = /^[\t\x20-\x7e]*$/;

/** How often a token stands in a header's value, also inside the base64 of `Basic user:password`. */
export function countInHeader(text: string, token: string): number {
  return countIn(text, token) + countIn(readBasic(text)?.pair ?? "", token);
}

/** How often its bytes stand in a body. */
export function countInBody(body: Uint8Array, token: string): number {
  return countIn(toLatin1(body), token);
}

/** Headers with every token filled. Throws for a value that has no place in one as it is; inside `Basic` every value has. */
export function fillHeaders(headers: Headers, fillings: readonly Filling[]): Headers {
  const values = toValues(fillings, (value) => value);
  const unfit = fillings.filter(({ token }) => !FITS_HEADER.test(values.get(token) ?? ""));
  const filled = new Headers();
  for (const [name, text] of headers) {
    if (unfit.some(({ token }) => text.includes(token))) throw explainUnfit(name);
    filled.append(name, fillHeader(text, values));
  }
  return filled;
}

function fillHeader(text: string, values: Values): string {
  const bare = replaceTokens(text, values);
  const basic = readBasic(bare);
  if (!basic) return bare;
  const pair = replaceTokens(basic.pair, values);
  // What holds no token stays byte for byte what it was.
  return pair === basic.pair ? bare : basic.scheme + Buffer.from(pair).toString("base64");
}

function explainUnfit(header: string): GloveboxError {
  return new GloveboxError("EGRESS_DENIED", `The header ${header} cannot hold this secret`, {
    hint: "Its value has a line break or a character beyond ASCII; send it in the body, if that is granted",
  });
}

/**
 * The body with every token filled: escaped inside JSON, forms and XML as their type says, as it is anywhere else. A
 * text that is JSON counts as such under any other type, because `fetch` calls a text plain unless it is told.
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
  return isJson(body) ? escapeJson : (value) => value;
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

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(body).toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

function readBasic(text: string): { readonly scheme: string; readonly pair: string } | undefined {
  const [, scheme, encoded] = BASIC.exec(text) ?? [];
  if (scheme === undefined || encoded === undefined) return undefined;
  return { scheme, pair: Buffer.from(encoded, "base64").toString("utf8") };
}

function toValues(fillings: readonly Filling[], write: (value: string) => string): Values {
  return new Map(fillings.map(({ token, secret }) => [token, write(secret.reveal())]));
}

/** In one pass: one after the other would let the value of one secret hold the token of another. */
function replaceTokens(text: string, values: Values): string {
  if (values.size === 0) return text;
  const tokens = new RegExp([...values.keys()].join("|"), "g");
  return text.replaceAll(tokens, (token) => values.get(token) ?? token);
}

function countIn(text: string, token: string): number {
  return text.split(token).length - 1;
}

/** One character for each byte, so that any bytes can be searched as text. */
function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

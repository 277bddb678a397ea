/**
 * Makes text harmless to show: to a terminal, to a person who approves, to a model, to a log.
 * All patterns are linear: each starts at a character that its own repetition cannot contain.
 */

import { redactPaths } from "./redact-paths.ts";
import { redactAddresses } from "./redact-addresses.ts";

export interface CleanOptions {
  /** The limit of the kept text in bytes of UTF-8; the mark of a cut is added to it. */
  readonly maxBytes: number;
  /** Also removes stack lines and these paths: all, as `redactPaths` does, or those that the function masks. */
  readonly paths?: "all" | ((text: string) => string);
  /** Also removes addresses of the inner network, as `redactAddresses` does. */
  readonly addresses?: boolean;
  /** Masks secrets, before anything is cut, and also where invisible characters were between their letters. */
  readonly hide?: (text: string) => string;
}

/** ECMA-48 §5.6: DCS, SOS, OSC, PM, APC with their payload, which may hide text or set the clipboard. */
const CONTROL_STRING =
  /(?:\u001b[P\]X^_]|[\u0090\u0098\u009d-\u009f])[^\u0000-\u001f\u007f-\u009f]*(?:\u0007|\u001b\\|\u009c)/;
/** ECMA-48 §5.4: parameters, intermediates, final byte. */
const CONTROL_SEQUENCE = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/;
/** ECMA-35: every other escape, also a lone one. */
const ESCAPE = /\u001b[ -/]*[0-~]?/;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/** Bidirectional controls, zero-width and tag characters, fillers: invisible, but a model reads them. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;

const LINE_BREAK = /\r\n|[\u2028\u2029]/g;
const REMOVED = new RegExp(
  [CONTROL_STRING, CONTROL_SEQUENCE, ESCAPE, CONTROL, INVISIBLE].map(({ source }) => source).join("|"),
  "gu",
);

/** Most texts contain nothing to remove. */
const PLAIN = /^[\t\n -~]*$/;

/** Idempotent as long as nothing is cut. Lone surrogates become U+FFFD. */
export function cleanText(text: string, options: CleanOptions): string {
  const { maxBytes, paths = (same) => same, addresses = false, hide = (same) => same } = options;
  const known = hide(text);
  const cleaned = PLAIN.test(known) ? known : toVisible(known);
  const visible = cleaned === known ? known : hide(cleaned);
  const placeless = addresses ? redactAddresses(visible) : visible;
  return cut(paths === "all" ? redactPaths(placeless) : paths(placeless), maxBytes);
}

/** Well-formed first: removing a character between two halves of a pair would join them to a new character. */
function toVisible(text: string): string {
  return text.toWellFormed().replace(LINE_BREAK, "\n").replace(REMOVED, "");
}

/** A unit of UTF-16 takes at most this much in UTF-8. */
const MOST_UNIT_BYTES = 3;

/** Cuts after the redaction, so that no half of a path or secret remains. */
function cut(text: string, maxBytes: number): string {
  if (text.length * MOST_UNIT_BYTES <= maxBytes) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const kept = capText(text, maxBytes);
  return `${kept}… [cut: ${bytes - Buffer.byteLength(kept)} bytes more]`;
}

const encoder = new TextEncoder();

/** The beginning of `text` that fits into `maxBytes` of UTF-8. Never splits a character. */
export function capText(text: string, maxBytes: number): string {
  if (text.length * MOST_UNIT_BYTES <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes)));
  return read === text.length ? text : text.slice(0, read);
}

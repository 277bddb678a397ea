/**
 * Replaces a reply by another one of the same shape: every value in it differs. A key that the program does not mention
 * is data, too.
 */

import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import type { Delivery } from "../../sandbox/index.ts";

/**
 * `similar`: the same lengths and kinds of characters; equal strings stay equal, and booleans stay, so that the program
 * does mostly the same. `boundary`: empty and extreme values.
 * `longer`: more of everything; equal strings become different.
 */
export type ReplacementStyle = "similar" | "boundary" | "longer";

export interface Replacer {
  replace(delivery: Delivery): Delivery;
}

export interface ReplacerOptions {
  readonly style: ReplacementStyle;
  /** The program, which tells keys from data. */
  readonly source: string;
  /** The state of the random numbers. */
  readonly seed: number;
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const DAY_MS = 86_400_000;
/** A deeper value becomes a string: JSON of upstreams can be nested deeply. */
const MAX_DEPTH = 64;
const ADDED_CHARS = 12;

/** Equal strings of one replacer stay equal, across replies, so that what the program matches still matches. */
export function createReplacer({ style, source, seed }: ReplacerOptions): Replacer {
  const draw = createDraw(seed);
  const known = new Map<string, string>();
  const toOther = (text: string): string => {
    const other = known.get(text) ?? similarText(text, draw);
    if (style === "similar") known.set(text, other);
    return other;
  };
  const toText = (text: string): string => {
    const inner = style === "boundary" ? undefined : parseStructure(text);
    if (inner !== undefined) return JSON.stringify(toValue(inner, 1));
    if (style === "boundary") return text === "" ? "x" : "";
    return style === "longer" ? `${toOther(text)} ${letters(ADDED_CHARS, draw)}` : toOther(text);
  };
  const toKey = (key: string): string => (source.includes(key) ? key : toOther(key));
  const toValue = (value: Json, depth: number): Json => {
    if (depth > MAX_DEPTH) return letters(ADDED_CHARS, draw);
    if (typeof value === "string") return toText(value);
    if (typeof value === "number") return toNumber(value, style, draw);
    if (typeof value === "boolean") return style === "similar" ? value : !value;
    if (Array.isArray(value)) return toArray(value, depth);
    if (isJsonObject(value)) return toObject(value, depth);
    return style === "boundary" ? "" : null;
  };
  const toArray = (items: readonly Json[], depth: number): Json => {
    if (style === "boundary") return items.length === 0 ? ["x"] : [];
    const more = style === "longer" ? items.slice(0, 1) : [];
    return [...more, ...items].map((item) => toValue(item, depth + 1));
  };
  const toObject = (object: Readonly<Record<string, Json>>, depth: number): Json => {
    const entries = Object.entries(object).map(([key, value]): [string, Json] => [
      toKey(key),
      toValue(value, depth + 1),
    ]);
    const [first = 1] = Object.values(object);
    const added: [string, Json][] = style === "longer" ? [[letters(ADDED_CHARS, draw), toValue(first, depth + 1)]] : [];
    return Object.fromEntries([...added, ...entries]);
  };
  return {
    replace(delivery) {
      const { kind, text } = delivery;
      if (kind === "tick") return delivery;
      // A call of a replay may succeed where the recorded one failed.
      if (kind === "failure" && style === "boundary") return { ...delivery, kind: "reply", text: "null" };
      const value = parseJson(text) ?? null;
      if (kind === "reply") return { ...delivery, text: JSON.stringify(toValue(value, 0)) };
      const { message: said } = isJsonObject(value) ? value : {};
      const message = typeof said === "string" ? said : "";
      return { ...delivery, text: JSON.stringify({ ...(isJsonObject(value) ? value : {}), message: toText(message) }) };
    },
  };
}

type Draw = (below: number) => number;

/** Xorshift: fast, and no secret depends on it. */
function createDraw(seed: number): Draw {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Tools often return JSON as a string. */
function parseStructure(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const value = parseJson(text);
  return typeof value === "object" && value !== null ? value : undefined;
}

/** Every letter and digit differs; everything else stays, so that the string still splits and parses. */
function similarText(text: string, draw: Draw): string {
  if (ISO_DATE.test(text) && !Number.isNaN(Date.parse(text))) return otherDate(text, draw);
  const scheme = SCHEME.exec(text)?.[0] ?? "";
  const rest = text.slice(scheme.length);
  const other = rest.replaceAll(/[\p{L}\p{N}]/gu, (character) => otherCharacter(character, draw));
  return scheme + (other === rest ? `${rest}${letters(1, draw)}` : other);
}

function otherDate(text: string, draw: Draw): string {
  const moved = new Date(Date.parse(text) - (1 + draw(2_000)) * DAY_MS - draw(DAY_MS)).toISOString();
  const isPlain = text.length <= moved.length && !/[+-]\d{2}:\d{2}$/.test(text);
  return isPlain
    ? `${moved.slice(0, text.endsWith("Z") ? text.length - 1 : text.length)}${text.endsWith("Z") ? "Z" : ""}`
    : moved;
}

function otherCharacter(character: string, draw: Draw): string {
  const set = DIGITS.includes(character) ? DIGITS : UPPER.includes(character) ? UPPER : LOWER;
  const at = set.indexOf(character);
  return at < 0 ? (set[draw(set.length)] ?? "x") : (set[(at + 1 + draw(set.length - 1)) % set.length] ?? "x");
}

function letters(count: number, draw: Draw): string {
  return Array.from({ length: count }, () => LOWER[draw(LOWER.length)]).join("");
}

function toNumber(value: number, style: ReplacementStyle, draw: Draw): number {
  if (style === "boundary") return value === 0 ? -1 : 0;
  const step = 1 + draw(style === "longer" ? 1_000 : 9);
  if (!Number.isInteger(value)) return value * 1.5 + step;
  return style === "longer" ? value + 1_000 * step : value + step;
}

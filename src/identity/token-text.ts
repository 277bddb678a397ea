/**
 * The text of a token: a fixed prefix, 256 random bits and a checksum, so that secret scanners find it and a mistyped one
 * is refused without a look at the store.
 */

import { crc32 } from "node:zlib";

export const TOKEN_PREFIX = "gbx_";
const RANDOM_BYTES = 32;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARS = 43;
const CHECK_CHARS = 6;

/** The most characters of a credential: a longer one is refused before it is hashed. */
export const MAX_TOKEN_CHARS = TOKEN_PREFIX.length + RANDOM_CHARS + CHECK_CHARS;

const FORM = new RegExp(`^${TOKEN_PREFIX}[${DIGITS}]{${RANDOM_CHARS + CHECK_CHARS}}$`);

export function createTokenText(random: (count: number) => Uint8Array): string {
  const body = `${TOKEN_PREFIX}${encode(BigInt(`0x${Buffer.from(random(RANDOM_BYTES)).toString("hex")}`), RANDOM_CHARS)}`;
  return `${body}${checksum(body)}`;
}

/** True if the text has the form and the checksum of a token. */
export function isTokenText(text: string): boolean {
  if (!FORM.test(text)) return false;
  return checksum(text.slice(0, -CHECK_CHARS)) === text.slice(-CHECK_CHARS);
}

function checksum(body: string): string {
  return encode(BigInt(crc32(body)), CHECK_CHARS);
}

function encode(value: bigint, length: number): string {
  const base = BigInt(DIGITS.length);
  let text = "";
  for (let left = value; left > 0n; left /= base) text = `${DIGITS[Number(left % base)]}${text}`;
  return text.padStart(length, DIGITS[0]);
}

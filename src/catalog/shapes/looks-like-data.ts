/** Tells the name of a field from a key that is data: an id, an address, a date, a path. Errs on the side of data. */

const MAX_NAME = 40;
const MAX_WORD = 24;
const NAME = /^[@$_]{0,2}[\p{L}][\p{L}\p{N}]*([_\-.$ ]{1,2}[\p{L}][\p{L}\p{N}]*){0,6}[_]{0,2}$/u;
/** Letters with at most two digits behind them, as in `line1`. */
const WORD = /^\p{L}+\d{0,2}$/u;
/** Capitals and digits without a break, as in keys of access. */
const CODE = /^(?=.*\d)[A-Z\d]{10,}$/;
/** Names of standards, whose digits are no number of anything. */
const STANDARD = /^(sha|md|utf|iso|rfc|crc|int|uint|float|base|ipv|x|h|ed|rsa|aes)\d{1,5}$/i;

/**
 * True unless it reads like a name that a person gave to a field. A learned shape is shown to everybody who may call the
 * tool, so a key that may come from somebody's data must not become part of it.
 */
export function looksLikeData(key: string): boolean {
  if (key.length > MAX_NAME || !NAME.test(key) || CODE.test(key)) return true;
  const words = key.replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return words.some((word) => word !== "" && !STANDARD.test(word) && (word.length > MAX_WORD || !WORD.test(word)));
}

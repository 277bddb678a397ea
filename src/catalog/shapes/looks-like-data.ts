/** Distinguishes field names from keys that are data: ids, addresses, dates, paths. In doubt a key is data. */

const MAX_NAME = 40;
const MAX_WORD = 24;
const NAME = /^[@$_]{0,2}[\p{L}][\p{L}\p{N}]*([_\-.$ ]{1,2}[\p{L}][\p{L}\p{N}]*){0,6}[_]{0,2}$/u;
/** Letters followed by at most two digits, as in `line1`. */
const WORD = /^\p{L}+\d{0,2}$/u;
/** Capitals and digits without a separator, as in access keys. */
const CODE = /^(?=.*\d)[A-Z\d]{10,}$/;
/** Names of standards, whose digits are part of the name. */
const STANDARD = /^(sha|md|utf|iso|rfc|crc|int|uint|float|base|ipv|x|h|ed|rsa|aes)\d{1,5}$/i;

/**
 * True unless the key looks like a field name. A learned shape is shown to every principal who may call the tool, so it
 * must not contain keys that may be another principal's data.
 */
export function looksLikeData(key: string): boolean {
  if (key.length > MAX_NAME || !NAME.test(key) || CODE.test(key)) return true;
  const words = key.replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return words.some((word) => word !== "" && !STANDARD.test(word) && (word.length > MAX_WORD || !WORD.test(word)));
}

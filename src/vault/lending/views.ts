/**
 * Decoded views of the same bytes: without escapes, without invisible characters, without the separators of encoded
 * text. Each byte of a view maps to a range of the original. Pure.
 */

/** Byte `i` represents the original from `starts[i]` to before `ends[i]`. */
export interface View {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** The deepest nesting of escapes that is decoded. */
const MOST_PASSES = 4;
/** Escapes of URLs, JSON, programs and HTML. */
const ESCAPE =
  /%(?<percent>[0-9a-f]{2})|\\x(?<byte>[0-9a-f]{2})|(?<units>\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4})|\\u\{(?<point>[0-9a-f]{1,6})\}|\\(?<sign>[\\/"'bfnrt])|&#(?<decimal>\d{1,8});|&#x(?<hex>[0-9a-f]{1,8});|&(?<entity>amp|lt|gt|quot|apos);/gi;
const SIGNS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const LAST_POINT = 0x10_ffff;
/** Terminal escapes, control characters, and what may be an invisible character in UTF-8. */
const HIDDEN =
  /\x1b(?:\[[0-?]{0,253}[ -/]{0,253}[@-~]|[\]PX^_][^\x07\x1b]{0,253}(?:\x07|\x1b\\)|[ -/]{0,253}[0-~])?|[\x00-\x1a\x1c-\x1f\x7f]+|[\xc2\xcd\xd8][\x80-\xbf]|[\xe1-\xe3\xef][\x80-\xbf]{2}|[\xf0\xf3][\x80-\xbf]{3}/g;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u0080-\u009f]/u;
const FIRST_LEAD_BYTE = 0xc2;
const NOTHING = Buffer.alloc(0);
const FOLDED = createTable(
  (sign) => ({ "+": " ", "\\": "/" })[sign] ?? (/[A-Z]/.test(sign) ? sign.toLowerCase() : sign),
);
const STANDARD_BASE64 = createTable((sign) => ({ "-": "+", _: "/" })[sign] ?? sign);
const LOWER_CASE = createTable((sign) => sign.toLowerCase());
const IN_LIST = createTable((sign) => (/[\d ,\t\r\n]/.test(sign) ? sign : "\0"));

/** What each byte becomes, for `translate`. */
function createTable(toSign: (sign: string) => string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => toSign(String.fromCharCode(byte)).charCodeAt(0));
}

function translate(bytes: Buffer, table: Uint8Array): Buffer {
  const translated = Buffer.alloc(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) translated[at] = table[bytes[at] ?? 0] ?? 0;
  return translated;
}

/** The bytes unchanged. */
export function viewOf(bytes: Buffer): View {
  const starts = new Uint32Array(bytes.length).map((_, at) => at);
  return { bytes, starts, ends: starts.map((at) => at + 1) };
}

/** Returns the view itself, then without its escapes, then without the escapes that this produced, until there are none. */
export function toUnescaped(view: View): readonly [View, ...View[]] {
  const views: [View, ...View[]] = [view];
  let last = view;
  while (views.length <= MOST_PASSES) {
    const next = rewrite(last, ESCAPE, toMeaning);
    if (next.bytes.length === last.bytes.length) return views;
    views.push(next);
    last = next;
  }
  return views;
}

/** Without control characters, terminal escapes and invisible characters. */
export function toVisible(view: View): View {
  return rewrite(view, HIDDEN, ({ 0: text, index }) => {
    if (text.charCodeAt(0) < FIRST_LEAD_BYTE) return NOTHING;
    return INVISIBLE.test(view.bytes.toString("utf8", index, index + text.length)) ? NOTHING : undefined;
  });
}

/** Without spaces, in the standard alphabet of base64. */
export function toBase64Text(view: View): View {
  return rewrite({ ...view, bytes: translate(view.bytes, STANDARD_BASE64) }, / +/g, () => NOTHING);
}

/** Without the separators of a hex dump, in lower case. */
export function toHexText(view: View): View {
  return rewrite({ ...view, bytes: translate(view.bytes, LOWER_CASE) }, /[ :,-]+|0x/g, () => NOTHING);
}

/** A list of numbers as bytes; everything else is dropped or zero. */
export function toListedBytes(view: View): View {
  const numbers = { ...view, bytes: translate(view.bytes, IN_LIST) };
  return rewrite(numbers, /(\d+)|[ ,\t\r\n]+/g, ([, digits]) => {
    if (digits === undefined) return NOTHING;
    return [digits.length <= 3 && Number(digits) <= 255 ? Number(digits) : 0];
  });
}

/** Lower-cases letters, and unifies what URLs and forms treat alike: plus and space, both slashes. */
export function fold(bytes: Buffer): Buffer {
  return translate(bytes, FOLDED);
}

function toMeaning({ groups = {} }: RegExpExecArray): Buffer {
  const { percent, byte, units, point, sign, decimal, hex, entity } = groups;
  const raw = percent ?? byte;
  if (raw !== undefined) return Buffer.from(raw, "hex");
  if (units !== undefined) {
    const codes = units.slice(2).split(/\\u/i);
    return Buffer.from(String.fromCharCode(...codes.map((code) => Number.parseInt(code, 16))));
  }
  if (sign !== undefined) return Buffer.from(SIGNS[sign] ?? sign);
  if (entity !== undefined) return Buffer.from(ENTITIES[entity.toLowerCase()] ?? "");
  const code = decimal === undefined ? Number.parseInt(point ?? hex ?? "", 16) : Number(decimal);
  return Buffer.from(code <= LAST_POINT ? String.fromCodePoint(code) : "\ufffd");
}

/**
 * Replaces each match, in one character per byte, by the bytes that it means; `undefined` means itself. No meaning is longer
 * than its match, so the buffers are large enough.
 */
function rewrite(
  view: View,
  pattern: RegExp,
  meaningOf: (match: RegExpExecArray) => ArrayLike<number> | undefined,
): View {
  const { bytes } = view;
  const written = Buffer.alloc(bytes.length);
  const [starts, ends] = [new Uint32Array(bytes.length), new Uint32Array(bytes.length)];
  let [size, done] = [0, 0];
  const keepUntil = (end: number): void => {
    for (; done < end; done += 1) {
      written[size] = bytes[done] ?? 0;
      starts[size] = view.starts[done] ?? 0;
      ends[size] = view.ends[done] ?? 0;
      size += 1;
    }
  };
  for (const match of bytes.toString("latin1").matchAll(pattern)) {
    const meaning = meaningOf(match);
    if (!meaning) continue;
    keepUntil(match.index);
    done += match[0].length;
    for (let at = 0; at < meaning.length; at += 1) {
      written[size] = meaning[at] ?? 0;
      starts[size] = view.starts[match.index] ?? 0;
      ends[size] = view.ends[done - 1] ?? 0;
      size += 1;
    }
  }
  keepUntil(bytes.length);
  return { bytes: written.subarray(0, size), starts: starts.subarray(0, size), ends: ends.subarray(0, size) };
}

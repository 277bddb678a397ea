/** Reads escapes of URLs, JSON, programs and HTML, and invisible characters, one at a time. Pure. */

/** One escape: its length, and the bytes that it means, never more than its own. */
export interface Unit {
  readonly length: number;
  readonly bytes: ArrayLike<number>;
}

/** Returns `undefined` for a byte that means itself. */
export type ReadUnit = (bytes: Buffer, at: number) => Unit | undefined;

const ESCAPE =
  /^(?:%(?<percent>[0-9a-f]{2})|\\x(?<byte>[0-9a-f]{2})|(?<units>\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4})|\\u\{(?<point>[0-9a-f]{1,6})\}|\\(?<sign>[\\/"'bfnrt])|&#(?<decimal>\d{1,8});|&#x(?<hex>[0-9a-f]{1,8});|&(?<entity>amp|lt|gt|quot|apos);)/i;
const LONGEST_ESCAPE = 12;
/** The first bytes of what `readEscape` recognizes. */
export const ESCAPE_STARTS: ReadonlySet<number> = new Set(Array.from("%\\&", (sign) => sign.charCodeAt(0)));
const SIGNS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const LAST_POINT = 0x10_ffff;

/** Percent escapes, escapes of JSON and of programs, numeric and named entities of HTML. */
export const readEscape: ReadUnit = (bytes, at) => {
  const found = ESCAPE.exec(bytes.toString("latin1", at, Math.min(at + LONGEST_ESCAPE, bytes.length)));
  if (!found) return undefined;
  return { length: found[0].length, bytes: toMeaning(found.groups ?? {}) };
};

function toMeaning(groups: Readonly<Record<string, string | undefined>>): Buffer {
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

const TERMINAL = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])?/;
const LONGEST_TERMINAL = 256;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u0080-\u009f]/u;
/** The first bytes of invisible characters in UTF-8. */
const INVISIBLE_STARTS = [0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3];
const [ESC, DELETE, FIRST_SIGN] = [0x1b, 0x7f, 0x20];
/** The first bytes of what `readHidden` may recognize. */
export const HIDDEN_STARTS: ReadonlySet<number> = new Set([
  ...Array.from({ length: FIRST_SIGN }, (_, byte) => byte),
  DELETE,
  ...INVISIBLE_STARTS,
]);

/** Control characters, terminal escapes, invisible characters. They mean nothing. */
export const readHidden: ReadUnit = (bytes, at) => {
  const byte = bytes[at] ?? 0;
  if (byte === ESC) {
    const found = TERMINAL.exec(bytes.toString("latin1", at, Math.min(at + LONGEST_TERMINAL, bytes.length)));
    return { length: found?.[0].length ?? 1, bytes: [] };
  }
  if (byte < FIRST_SIGN || byte === DELETE) return { length: 1, bytes: [] };
  const sign = INVISIBLE.exec(bytes.toString("utf8", at, Math.min(at + 4, bytes.length)));
  return sign ? { length: Buffer.byteLength(sign[0]), bytes: [] } : undefined;
};

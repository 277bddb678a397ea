/**
 * Translates a regular expression of JavaScript (ECMA-262 with the flag `u`) to the syntax of RE2, which runs in linear
 * time. The result matches the same strings. What RE2 cannot run, or could only run with a large program, is reported
 * with a reason. The work is linear in the length of the expression.
 */

/** The expression for RE2 and the instructions it takes, or a noun that names what prevents the translation. */
export type TranslatedPattern =
  | { readonly kind: "translated"; readonly re2: string; readonly size: number }
  | { readonly kind: "unsupported"; readonly why: string };

/** In characters. */
export const MAX_PATTERN_LENGTH = 2_000;
/** Estimated instructions of the program, with every counted repetition written out. */
const MAX_SIZE = 4_000;
const MAX_NESTING = 50;
/** The limit of RE2, which also holds for the product of nested repetitions. */
const MAX_REPEAT = 1_000;
/** A class of Unicode has hundreds of ranges. */
const UNICODE_CLASS_SIZE = 4;

/** Part of an expression: `size` counts instructions, `repeats` is the largest product of nested repetitions. */
interface Part {
  readonly re2: string;
  readonly size: number;
  readonly repeats: number;
}

interface Cursor {
  readonly source: string;
  at: number;
  depth: number;
  readonly names: Set<string>;
  /** Something that JavaScript accepts only without the flag `u`. */
  isLoose: boolean;
  /** Something that has its meaning only with the flag `u`. */
  isUnicode: boolean;
}

class UnsupportedPattern extends Error {}

const NOT_JAVASCRIPT = "syntax that JavaScript does not have";

export function translatePattern(source: string): TranslatedPattern {
  try {
    if (source.length > MAX_PATTERN_LENGTH) fail(`more than ${MAX_PATTERN_LENGTH} characters`);
    if (!source.isWellFormed()) fail("a lone surrogate");
    const isUnicode = /[\u{10000}-\u{10ffff}]/u.test(source);
    const cursor: Cursor = { source, at: 0, depth: 0, names: new Set(), isLoose: false, isUnicode };
    const { re2, size } = translateChoice(cursor);
    if (cursor.isLoose && cursor.isUnicode) fail(NOT_JAVASCRIPT);
    if (cursor.at < source.length) fail(NOT_JAVASCRIPT); // a closing parenthesis
    return { kind: "translated", re2, size };
  } catch (thrown) {
    if (thrown instanceof UnsupportedPattern) return { kind: "unsupported", why: thrown.message };
    throw thrown;
  }
}

function fail(why: string): never {
  throw new UnsupportedPattern(why);
}

function checked(part: Part): Part {
  if (part.repeats > MAX_REPEAT) fail(`a repetition above ${MAX_REPEAT}`);
  if (part.size > MAX_SIZE) fail("a large counted repetition");
  return part;
}

function join(parts: readonly Part[], separator: "" | "|"): Part {
  return checked({
    re2: parts.map(({ re2 }) => re2).join(separator),
    size: parts.reduce((sum, { size }) => sum + size, separator.length * (parts.length - 1)),
    repeats: Math.max(1, ...parts.map(({ repeats }) => repeats)),
  });
}

/** Alternatives up to the end of the group or of the expression. */
function translateChoice(cursor: Cursor): Part {
  const alternatives: Part[] = [];
  let terms: Part[] = [];
  for (; cursor.at < cursor.source.length && cursor.source[cursor.at] !== ")";) {
    if (take(cursor, "|")) {
      alternatives.push(join(terms, ""));
      terms = [];
    } else terms.push(translateTerm(cursor));
  }
  return join([...alternatives, join(terms, "")], "|");
}

const ASSERTIONS = ["^", "$", "\\b"] as const;
const LOOKAROUNDS = [
  ["(?=", "a lookahead"],
  ["(?!", "a lookahead"],
  ["(?<=", "a lookbehind"],
  ["(?<!", "a lookbehind"],
] as const;

function translateTerm(cursor: Cursor): Part {
  const assertion = ASSERTIONS.find((text) => take(cursor, text));
  if (assertion !== undefined) {
    if (readRepetition(cursor)) fail(NOT_JAVASCRIPT);
    return { re2: assertion === "$" ? "\\z" : assertion, size: 1, repeats: 1 };
  }
  const atom = translateAtom(cursor);
  const repetition = readRepetition(cursor);
  return repetition ? repeat(atom, repetition) : atom;
}

function translateAtom(cursor: Cursor): Part {
  const char = charAt(cursor);
  if (char === "(") return translateGroup(cursor);
  if (char === "[") return translateClass(cursor);
  if (char === "*" || char === "+" || char === "?" || (char === "{" && isRepetition(cursor))) fail(NOT_JAVASCRIPT);
  cursor.at += char.length;
  if (/[\]{}]/.test(char)) cursor.isLoose = true;
  if (char === ".") return one(`[^\\n\\r\\x{2028}\\x{2029}]`);
  if (char !== "\\") return one(toLiteral(char.codePointAt(0) ?? 0));
  const escaped = readEscape(cursor);
  if (typeof escaped === "number") return one(toLiteral(escaped));
  return { re2: `[${escaped.re2}]`, size: escaped.size, repeats: 1 };
}

function one(re2: string): Part {
  return { re2, size: 1, repeats: 1 };
}

/** Groups are not captured: only whether there is a match matters. */
function translateGroup(cursor: Cursor): Part {
  for (const [start, why] of LOOKAROUNDS) if (cursor.source.startsWith(start, cursor.at)) fail(why);
  cursor.depth += 1;
  if (cursor.depth > MAX_NESTING) fail("many nested groups");
  cursor.at += 1;
  const name = readWith(cursor, /\?<([A-Za-z_$][\w$]*)>/y)?.[1];
  if (name !== undefined && cursor.names.has(name)) fail("two groups with one name");
  if (name !== undefined) cursor.names.add(name);
  else if (charAt(cursor) === "?" && !take(cursor, "?:")) fail("a special group");
  const inside = translateChoice(cursor);
  if (!take(cursor, ")")) fail(NOT_JAVASCRIPT);
  cursor.depth -= 1;
  return { ...inside, re2: `(?:${inside.re2})` };
}

interface Repetition {
  readonly least: number;
  readonly most: number;
}

const REPETITION = /\{(\d+)(?:,(\d*))?\}/y;

function isRepetition(cursor: Cursor): boolean {
  if (cursor.source.startsWith("{,", cursor.at)) fail("a repetition without a lower bound");
  REPETITION.lastIndex = cursor.at;
  return REPETITION.test(cursor.source);
}

/** Whether it takes few or many characters does not matter for whether there is a match. */
function readRepetition(cursor: Cursor): Repetition | undefined {
  const repetition = readBounds(cursor);
  if (!repetition) return undefined;
  take(cursor, "?");
  if (repetition.least > repetition.most) fail(NOT_JAVASCRIPT);
  return repetition;
}

function readBounds(cursor: Cursor): Repetition | undefined {
  if (take(cursor, "*")) return { least: 0, most: Infinity };
  if (take(cursor, "+")) return { least: 1, most: Infinity };
  if (take(cursor, "?")) return { least: 0, most: 1 };
  const [, least, most] = readWith(cursor, REPETITION) ?? [];
  if (least === undefined) return undefined;
  return { least: Number(least), most: most === undefined ? Number(least) : most === "" ? Infinity : Number(most) };
}

function repeat({ re2, size, repeats }: Part, { least, most }: Repetition): Part {
  const isOpen = most === Infinity;
  const times = Math.max(1, isOpen ? least : most);
  const bounds = isOpen ? `{${least},}` : `{${least},${most}}`;
  return checked({ re2: `(?:${re2})${bounds}`, size: (size + 1) * times, repeats: repeats * times });
}

/** Characters of a class in the syntax of RE2, without brackets. */
interface CharSet {
  readonly re2: string;
  readonly size: number;
}

const DIGITS = "0-9";
const WORDS = "0-9A-Za-z_";
const SPACES = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const SETS: ReadonlyMap<string, CharSet> = new Map([
  ["d", { re2: DIGITS, size: 1 }],
  ["D", { re2: "\\x{0}-/:-\\x{10ffff}", size: 1 }],
  ["w", { re2: WORDS, size: 1 }],
  ["W", { re2: "\\x{0}-/:-@\\[-\\^`\\{-\\x{10ffff}", size: 1 }],
  ["s", { re2: SPACES, size: 2 }],
  [
    "S",
    {
      re2: "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}",
      size: 2,
    },
  ],
]);
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ["t", 0x09],
  ["n", 0x0a],
  ["v", 0x0b],
  ["f", 0x0c],
  ["r", 0x0d],
]);
/** General categories have the same names and members in both; names of scripts and properties differ. */
const UNICODE_CLASS = /([pP])\{(?:gc=|General_Category=)?(L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)\}/y;

/** After a backslash: one character by its number, or a set. */
function readEscape(cursor: Cursor): number | CharSet {
  const [, letter, category] = readWith(cursor, UNICODE_CLASS) ?? [];
  if (letter !== undefined) {
    cursor.isUnicode = true;
    return { re2: `\\${letter}{${category}}`, size: UNICODE_CLASS_SIZE };
  }
  const coded = readCode(cursor);
  if (coded !== undefined) return coded;
  const char = charAt(cursor);
  cursor.at += char.length;
  if (/[1-9k]/.test(char)) fail("a backreference");
  if (char === "B") fail("a negated word boundary"); // V8 also finds it inside of a surrogate pair
  if (/[pP]/.test(char)) fail("a property of Unicode");
  const found = SETS.get(char) ?? CONTROLS.get(char);
  if (found !== undefined) return found;
  if (char === "0" && !/\d/.test(charAt(cursor))) return 0;
  if (!/[!-/:-@[-`{-~]/.test(char)) fail(NOT_JAVASCRIPT);
  // Without the flag `u`, and in other languages, a backslash before any of these means the character itself.
  if (!/[$()*+./?[\\\]^{|}]/.test(char)) cursor.isLoose = true;
  return char.codePointAt(0) ?? 0;
}

const CODE =
  /x([\dA-Fa-f]{2})|u([Dd][89ABab][\dA-Fa-f]{2})\\u([Dd][C-Fc-f][\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|u\{0*([\dA-Fa-f]{1,6})\}|c([A-Za-z])/y;

function readCode(cursor: Cursor): number | undefined {
  const match = readWith(cursor, CODE);
  if (!match) return undefined;
  const [, byte, high, low, unit, point, control] = match;
  if (control !== undefined) return (control.codePointAt(0) ?? 0) % 32;
  if (high !== undefined || point !== undefined) cursor.isUnicode = true;
  const units = high !== undefined && low !== undefined ? [high, low] : undefined;
  const code = units
    ? String.fromCharCode(...units.map((hex) => Number.parseInt(hex, 16))).codePointAt(0)
    : Number.parseInt(byte ?? unit ?? point ?? "", 16);
  if (code === undefined || code > 0x10ffff) return fail(NOT_JAVASCRIPT);
  return code >= 0xd800 && code <= 0xdfff ? fail("a lone surrogate") : code;
}

function translateClass(cursor: Cursor): Part {
  cursor.at += 1;
  const isNegated = take(cursor, "^");
  const members: CharSet[] = [];
  while (!take(cursor, "]")) members.push(readMember(cursor));
  const inside = members.map(({ re2 }) => re2).join("");
  const size = Math.max(1, Math.ceil(members.reduce((sum, member) => sum + member.size, 0)));
  if (inside === "") return one(isNegated ? "[\\x{0}-\\x{10ffff}]" : "[^\\x{0}-\\x{10ffff}]");
  return { re2: `[${isNegated ? "^" : ""}${inside}]`, size, repeats: 1 };
}

/** The part of an instruction that one range of a class counts for. */
const RANGE_SIZE = 1 / 8;

/** One character, one range or one set. A hyphen beside a set is a hyphen. */
function readMember(cursor: Cursor): CharSet {
  const low = readClassAtom(cursor);
  const isRange = cursor.source[cursor.at] === "-" && cursor.source[cursor.at + 1] !== "]";
  if (typeof low !== "number") {
    if (isRange) cursor.isLoose = true;
    return low;
  }
  if (!isRange) return { re2: toLiteral(low), size: RANGE_SIZE };
  cursor.at += 1;
  const high = readClassAtom(cursor);
  if (typeof high !== "number") {
    cursor.isLoose = true;
    return { re2: `${toLiteral(low)}\\-${high.re2}`, size: high.size + RANGE_SIZE };
  }
  if (high < low) fail(NOT_JAVASCRIPT);
  return { re2: `${toLiteral(low)}-${toLiteral(high)}`, size: RANGE_SIZE };
}

function readClassAtom(cursor: Cursor): number | CharSet {
  if (cursor.at >= cursor.source.length) fail(NOT_JAVASCRIPT);
  if (cursor.source.startsWith("[:", cursor.at)) fail("a class of POSIX");
  const char = charAt(cursor);
  cursor.at += char.length;
  if (char !== "\\") return char.codePointAt(0) ?? 0;
  if (take(cursor, "b")) return 0x08;
  return take(cursor, "-") ? 0x2d : readEscape(cursor);
}

function toLiteral(code: number): string {
  const char = String.fromCodePoint(code);
  return /[\w ]/.test(char) ? char : `\\x{${code.toString(16)}}`;
}

/** The character at the cursor, of one or two units; "" at the end. */
function charAt({ source, at }: Cursor): string {
  const code = source.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

function take(cursor: Cursor, text: string): boolean {
  if (!cursor.source.startsWith(text, cursor.at)) return false;
  cursor.at += text.length;
  return true;
}

/** `pattern` must be sticky. */
function readWith(cursor: Cursor, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.source) ?? undefined;
  if (match) cursor.at += match[0].length;
  return match;
}

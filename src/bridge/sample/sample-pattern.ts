/**
 * Texts that match a regular expression of a schema, for the expressions that people write for ids and names. The
 * expression never runs: a server wrote it, and some take for ever.
 */

/** How often a part without an upper end is repeated at most, and how long a text becomes. */
const MOST_CHARS = 1_000;
const MOST_DEPTH = 20;

interface Reader {
  readonly pattern: string;
  at: number;
  depth: number;
  /** How much more than the least a part is repeated that may be repeated without end. */
  readonly extra: number;
  made: number;
}

/** None for what is not understood. */
export function samplePattern(pattern: string, least: number): readonly string[] {
  const tries = [0, 1, least].map((extra) => sampleWith(pattern, extra));
  return [...new Set(tries.filter((text) => text !== undefined))];
}

function sampleWith(pattern: string, extra: number): string | undefined {
  const reader: Reader = { pattern, at: 0, depth: 0, extra, made: 0 };
  const text = readAlternatives(reader);
  return reader.at === pattern.length ? text : undefined;
}

/** The first alternative is the sample; the others are read past. */
function readAlternatives(reader: Reader): string | undefined {
  const first = readSequence(reader);
  if (first === undefined) return undefined;
  while (reader.pattern[reader.at] === "|") {
    reader.at += 1;
    if (readSequence(reader) === undefined) return undefined;
  }
  return first;
}

function readSequence(reader: Reader): string | undefined {
  let text = "";
  for (let next = reader.pattern[reader.at]; next !== undefined && next !== "|" && next !== ")";) {
    const atom = readAtom(reader);
    const times = atom === undefined ? undefined : readTimes(reader);
    if (atom === undefined || times === undefined) return undefined;
    reader.made += atom.length * times;
    if (reader.made > MOST_CHARS) return undefined;
    text += atom.repeat(times);
    next = reader.pattern[reader.at];
  }
  return text;
}

function readAtom(reader: Reader): string | undefined {
  const character = String.fromCodePoint(reader.pattern.codePointAt(reader.at) ?? 0);
  reader.at += character.length;
  switch (character) {
    case "^":
    case "$":
      return "";
    case ".":
      return "a";
    case "(":
      return readGroup(reader);
    case "[":
      return readClass(reader);
    case "\\":
      return readEscape(reader);
    default:
      return "*+?{}]".includes(character) ? undefined : character;
  }
}

function readGroup(reader: Reader): string | undefined {
  const mark = /^\?(?::|<[A-Za-z_]\w*>)/.exec(reader.pattern.slice(reader.at, reader.at + MOST_CHARS));
  reader.at += mark?.[0].length ?? 0;
  if (reader.pattern[reader.at] === "?" || reader.depth >= MOST_DEPTH) return undefined; // it looks around
  reader.depth += 1;
  const text = readAlternatives(reader);
  reader.depth -= 1;
  if (reader.pattern[reader.at] !== ")") return undefined;
  reader.at += 1;
  return text;
}

const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({ d: "0", D: "a", w: "a", W: "-", s: " ", S: "a", n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" }),
);

/** One character; what stands for a place, a group or a property of Unicode is not understood. */
function readEscape(reader: Reader): string | undefined {
  const rest = reader.pattern.slice(reader.at, reader.at + 6);
  const code = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4}))/.exec(rest);
  if (code) {
    reader.at += code[0].length;
    return String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? "", 16));
  }
  const [character = ""] = rest;
  reader.at += character.length;
  return KINDS.get(character) ?? (/^[^A-Za-z0-9]$/.test(character) ? character : undefined);
}

/** Characters that one or another class without a name for its members leaves out. */
const OUTSIDE = ["a", "0", "-", " ", "A", "~"];

function readClass(reader: Reader): string | undefined {
  const isNegated = reader.pattern[reader.at] === "^";
  if (isNegated) reader.at += 1;
  const start = reader.at;
  const members: string[] = [];
  while (reader.pattern[reader.at] !== "]") {
    const character = reader.pattern[reader.at];
    if (character === undefined) return undefined;
    reader.at += 1;
    const member = character === "\\" ? readEscape(reader) : character;
    if (member === undefined) return undefined;
    members.push(member);
  }
  const body = reader.pattern.slice(start, reader.at);
  reader.at += 1;
  if (!isNegated) return members.find((member) => /[A-Za-z0-9]/.test(member)) ?? members[0];
  return body.includes("\\") || /.-./.test(body) ? undefined : OUTSIDE.find((one) => !members.includes(one));
}

/** The least number of times, and a little more where there is no most; `undefined` when it is too many. */
function readTimes(reader: Reader): number | undefined {
  const rest = reader.pattern.slice(reader.at, reader.at + 20);
  const found = /^(?:([*+?])|\{(\d{1,6})(,)?(\d{1,6})?\})\??/.exec(rest);
  if (!found) return 1;
  reader.at += found[0].length;
  const [, sign, least, comma, most] = found;
  if (sign === "?") return 0;
  const isOpen = sign !== undefined || (comma !== undefined && most === undefined);
  const times = (sign === "+" ? 1 : Number(least ?? 0)) + (isOpen ? reader.extra : 0);
  return times > MOST_CHARS ? undefined : times;
}

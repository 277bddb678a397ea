/** Removes absolute paths and stack lines from a text, which reveal the user, the machine and its software. */

/** The folders that absolute paths begin with: `/repos/a/b` is the route of an API and helps the reader. */
const ROOTS = [
  "app|Applications|bin|boot|builds?|code|data|dev|etc|github|home|lib|lib64|Library|media|mnt|nix|opt|private|proc",
  "root|run|sbin|snap|src|srv|sys|System|tmp|usr|Users|var|Volumes|work|workspaces?",
].join("|");

/** Includes further slashes in front, unless they belong to a URL. */
const START = `file:/|(?:(?<!:)/+)?/(?:${ROOTS})/|[A-Za-z]:(?:\\\\|/(?!/))|\\\\\\\\[\\w.-]+\\\\`;
/** Not in the middle of a word or of a URL: `https://example.com/home/page` stays. */
const FREE = String.raw`(?<![\w.~%/\\-])`;
/** Between quotes a path may contain spaces. */
const QUOTED = `(?<=["'\`])(?:${START})[^"'\`\\n]*(?=["'\`])`;
const PLAIN = `${FREE}(?:${START})[^\\s"'\`<>|,;()\\[\\]{}]*`;
const PATH = new RegExp(`${QUOTED}|${PLAIN}`, "g");

/** How V8 ends a stack line: a position, or a place without one. */
const STACK_END = /(?::\d+:\d+\)?|<anonymous>\)?|\((?:native|index \d+)\))\s*$/;
/** More than the longest end of a stack line. */
const STACK_END_CHARACTERS = 64;

/** Paths become `[path]`, stack lines are removed. Linear in the length of the text. */
export function redactPaths(text: string): string {
  return text
    .split("\n")
    .filter((line) => !isStackLine(line))
    .join("\n")
    .replace(PATH, "[path]");
}

function isStackLine(line: string): boolean {
  return /^\s*at /.test(line) && STACK_END.test(line.slice(-STACK_END_CHARACTERS));
}

/** Removes paths and stack lines from a text: all absolute paths, or only those of the gateway itself. */

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
const TAIL = `[^\\s"'\`<>|,;()\\[\\]{}]*`;
const PLAIN = `${FREE}(?:${START})${TAIL}`;
const PATH = new RegExp(`${QUOTED}|${PLAIN}`, "g");

/** How V8 and Java end a stack line: a position, or a place without one. */
const STACK_END =
  /(?::\d+:\d+\)?|<anonymous>\)?|\((?:native|index \d+|Native Method)\)|\(\w+\.(?:java|kt|scala):\d+\))\s*$/;
/** Python's lines, each with the line of source below it. */
const PYTHON_HEAD = /^\s*Traceback \(most recent call last\):\s*$/;
const PYTHON_LINE = /^ {2}File "[^"\n]{1,500}", line \d+, in \S/;
const PYTHON_SOURCE = /^ {4}\S|^ {4}[ ~^]+$/;
/** More than the longest end of a stack line. */
const STACK_END_CHARACTERS = 64;

/** Paths become `[path]`, stack lines are removed. Linear in the length of the text. */
export function redactPaths(text: string): string {
  return removeStackLines(text).replace(PATH, "[path]");
}

/** The places of this machine that a model has no use for. */
export interface OwnPlaces {
  /** Folders and files of the gateway: its state and its installation. */
  readonly paths: readonly string[];
  readonly home?: string;
}

export interface PathMask {
  /** Masks the gateway's own paths as `[path]` and removes stack lines. */
  readonly own: (text: string) => string;
  /** Writes the home folder as `~`, unless the program wrote it itself in `written`, the arguments of a call. */
  readonly home: (text: string, written: string) => string;
}

/** A shorter path, as `/`, is a part of others. */
const SHORTEST = 3;

/** Other paths are kept: an error such as "ENOENT: open '/notes/a.txt'" can only be repaired by its path. */
export function createPathMask({ paths, home = "" }: OwnPlaces): PathMask {
  const longestFirst = paths.filter((path) => path.length >= SHORTEST).toSorted((a, b) => b.length - a.length);
  const names = longestFirst.map((path) => `(?:file://)?${escapePattern(path)}`).join("|");
  const own = names === "" ? undefined : new RegExp(`${FREE}(?:${names})(?!\\w)${TAIL}`, "g");
  const atHome = home.length < SHORTEST ? undefined : new RegExp(`${FREE}${escapePattern(home)}(?![\\w.-])`, "g");
  return {
    own: (text) => (own ? removeStackLines(text).replace(own, "[path]") : removeStackLines(text)),
    home: (text, written) => (atHome && !written.includes(home) ? text.replace(atHome, "~") : text),
  };
}

function removeStackLines(text: string): string {
  let isPython = false;
  const kept = text.split("\n").filter((line) => {
    isPython = PYTHON_LINE.test(line) || (isPython && PYTHON_SOURCE.test(line));
    return !isPython && !isStackLine(line) && !PYTHON_HEAD.test(line);
  });
  return kept.join("\n");
}

function isStackLine(line: string): boolean {
  return /^\s*at /.test(line) && STACK_END.test(line.slice(-STACK_END_CHARACTERS));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** Names that a tool or a namespace must not have inside the sandbox. Data only; `name-tools.ts` applies it. */

/** What every object or function already has. A tool called so would answer when the engine asks, not the program. */
const INHERITED_NAMES = [
  "apply",
  "arguments",
  "bind",
  "call",
  "caller",
  "constructor",
  "hasOwnProperty",
  "isPrototypeOf",
  "length",
  "name",
  "propertyIsEnumerable",
  "prototype",
  "toLocaleString",
  "toString",
  "valueOf",
] as const;

/** Names that the language calls by itself: `await` looks for `then`, `JSON.stringify` for `toJSON`. */
const PROTOCOL_NAMES = ["catch", "finally", "then", "toJSON"] as const;

/** Words that cannot be, or in a strict module must not be, the name of a variable. */
const WORDS = [
  ..."arguments as async await break case catch class const continue debugger default delete do".split(" "),
  ..."else enum eval export extends false finally for function if implements import in instanceof".split(" "),
  ..."interface let new null of package private protected public return static super switch this".split(" "),
  ..."throw true try typeof undefined using var void while with yield".split(" "),
] as const;

/** Lower-case globals of ECMAScript, of the web standards a program knows, and of Node, which it may look for. */
const STANDARD_GLOBALS = [
  ..."decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis isFinite isNaN".split(" "),
  ..."parseFloat parseInt unescape".split(" "),
  ..."atob btoa clearImmediate clearInterval clearTimeout crypto fetch navigator performance queueMicrotask".split(" "),
  ..."reportError self setImmediate setInterval setTimeout structuredClone window".split(" "),
  ..."exports global module process require".split(" "),
] as const;

/** What the sandbox itself puts into the global scope, now or as documented: a later one must not rename a server. */
const SANDBOX_GLOBALS = [
  ..."console glovebox input results secrets skills".split(" "),
  ..."chunk count first groupBy last omit pick sortBy sum table unique".split(" "),
] as const;

/** Compared exactly: `tostring` is as good a name as any other. */
export const RESERVED_TOOLS: ReadonlySet<string> = new Set([...INHERITED_NAMES, ...PROTOCOL_NAMES]);

/** `tools` is not in it: a server may be called so. */
export const RESERVED_NAMESPACES: ReadonlySet<string> = new Set([
  ...INHERITED_NAMES,
  ...PROTOCOL_NAMES,
  ...WORDS,
  ...STANDARD_GLOBALS,
  ...SANDBOX_GLOBALS,
]);

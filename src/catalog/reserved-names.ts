/** Names that a tool or namespace cannot have in a program. Data only; `name-tools.ts` applies it. */

/** Properties of every object or function. The engine itself could call a tool of such a name. */
const INHERITED_NAMES = [
  ..."apply arguments bind call caller constructor hasOwnProperty isPrototypeOf length name".split(" "),
  ..."propertyIsEnumerable prototype toLocaleString toString valueOf".split(" "),
];

/** Methods that the language calls: `await` calls `then`, `JSON.stringify` calls `toJSON`. */
const PROTOCOL_NAMES = ["catch", "finally", "then", "toJSON"];

/** Words that cannot name a variable, at least not in a strict module. */
const WORDS = [
  ..."arguments as async await break case catch class const continue debugger default delete do".split(" "),
  ..."else enum eval export extends false finally for function if implements import in instanceof".split(" "),
  ..."interface let new null of package private protected public return static super switch this".split(" "),
  ..."throw true try typeof undefined using var void while with yield".split(" "),
];

/** Lower-case globals of ECMAScript, of web standards, and of Node, which a program may look for. */
const STANDARD_GLOBALS = [
  ..."decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis isFinite isNaN".split(" "),
  ..."parseFloat parseInt unescape".split(" "),
  ..."atob btoa clearImmediate clearInterval clearTimeout crypto fetch navigator performance queueMicrotask".split(" "),
  ..."reportError self setImmediate setInterval setTimeout structuredClone window".split(" "),
  ..."exports global module process require".split(" "),
];

/** Globals of the sandbox, present and documented for later: a new one must not rename a server. */
const SANDBOX_GLOBALS = [
  ..."console glovebox input results secrets skills".split(" "),
  ..."chunk count first groupBy last omit pick sortBy sum table unique".split(" "),
];

/** Case-sensitive: `tostring` is a valid name. */
export const RESERVED_TOOLS: ReadonlySet<string> = new Set([...INHERITED_NAMES, ...PROTOCOL_NAMES]);

/** `tools` is not reserved: a server can have this name. */
export const RESERVED_NAMESPACES: ReadonlySet<string> = new Set([
  ...INHERITED_NAMES,
  ...PROTOCOL_NAMES,
  ...WORDS,
  ...STANDARD_GLOBALS,
  ...SANDBOX_GLOBALS,
]);

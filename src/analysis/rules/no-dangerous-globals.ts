/** Globals of other platforms: a program has no process, files, modules, page or sockets. */

import type { Identifier } from "acorn";
import { staticName } from "../read-tree.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

const MODULES =
  "tools are globals: call `await namespace.tool({ … })`; for what no tool does, ask an operator to add an upstream that does it";
const NETWORK = "call a tool of an upstream; an operator can add the API as one";
const STORAGE = "return the value, or keep it with a tool";
const SYSTEM = "take what you need from `input` or from a tool";
const PAGE = "programs have no page; return the value";

/** What to use instead, by name. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ...["require", "module", "exports", "importScripts"].map((name) => [name, MODULES] as const),
  ...["process", "Deno", "Bun", "__dirname", "__filename", "os", "child_process"].map(
    (name) => [name, SYSTEM] as const,
  ),
  ...["fs", "localStorage", "sessionStorage", "indexedDB", "caches"].map((name) => [name, STORAGE] as const),
  ...["XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "RTCPeerConnection"].map(
    (name) => [name, NETWORK] as const,
  ),
  ...["window", "document", "navigator", "location", "alert", "prompt", "confirm"].map((name) => [name, PAGE] as const),
  ["global", "use `globalThis`"],
  ["self", "use `globalThis`"],
  ["Buffer", "use TextEncoder, TextDecoder, atob and btoa"],
  ["setImmediate", "use `setTimeout(…, 0)`"],
  ["setInterval", "use a loop that awaits `new Promise((done) => setTimeout(done, ms))`"],
  ["axios", NETWORK],
  ["queueMicrotask", "use `Promise.resolve().then(…)`"],
  ["performance", "use `Date.now()`"],
  ["Worker", "use `Promise.all` for work at the same time"],
  ["SharedWorker", "use `Promise.all` for work at the same time"],
  ["SharedArrayBuffer", "use an ArrayBuffer"],
  ["Atomics", "leave it out: a program is alone in its memory"],
  ["WebAssembly", "write it in JavaScript"],
]);

/** Ignores names that the program declares, names of upstreams, and names tested with `typeof`. */
export const noDangerousGlobals: AnalysisRule = {
  name: "no-dangerous-globals",
  severity: "error",
  check: (syntax) => [...mentioned(syntax), ...membersOfGlobal(syntax)],
};

function mentioned({ tree, globals, namespaces }: ProgramSyntax): readonly Objection[] {
  return [...INSTEAD].flatMap(([name, fix]) => {
    const mentions = globals.mentions.get(name) ?? [];
    if (namespaces.has(name) || mentions.some((mention) => isAskedFor(mention, tree))) return [];
    return mentions.map((mention) => toObjection(mention.start, name, fix));
  });
}

function isAskedFor(mention: Identifier, tree: ProgramSyntax["tree"]): boolean {
  const parent = tree.parentOf(mention);
  return parent?.type === "UnaryExpression" && parent.operator === "typeof";
}

/** `globalThis.process`; a test for its existence (`globalThis.process?.env`) is fine. */
function membersOfGlobal({ tree, globals, namespaces }: ProgramSyntax): readonly Objection[] {
  return (globals.mentions.get("globalThis") ?? []).flatMap((mention): Objection[] => {
    const member = tree.parentOf(mention);
    if (member?.type !== "MemberExpression" || member.object !== mention) return [];
    const user = tree.parentOf(member);
    const isUsed =
      (user?.type === "MemberExpression" && user.object === member && !user.optional) ||
      (user?.type === "CallExpression" && user.callee === member && !user.optional);
    const name = staticName(member.property, member.computed);
    const fix = name === undefined || namespaces.has(name) ? undefined : INSTEAD.get(name);
    return isUsed && name !== undefined && fix !== undefined ? [toObjection(mention.start, name, fix)] : [];
  });
}

function toObjection(offset: number, name: string, fix: string): Objection {
  return { offset, message: `\`${name}\` does not exist in the sandbox`, fix };
}

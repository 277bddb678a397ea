/** Globals that a program cannot use: those of other platforms, and those that compile strings. */

import type { AnyNode, Identifier, MemberExpression } from "acorn";
import { staticName, withoutParens } from "../read-tree.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

const MODULES =
  "tools are globals: call `await namespace.tool({ … })`; for what no tool does, ask an operator to add an upstream that does it";
const NETWORK = "call a tool of an upstream; an operator can add the API as one";
const STORAGE = "return the value, or keep it with a tool";
const SYSTEM = "take what you need from `input` or from a tool";
const PAGE = "programs have no page; return the value";

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

/**
 * A program has no process, files, modules, page or sockets. Ignores names that the program declares, names of
 * upstreams, and names tested with `typeof`.
 */
export const noDangerousGlobals: AnalysisRule = {
  name: "no-dangerous-globals",
  severity: "error",
  check: (syntax) => {
    const { tree, globals, namespaces } = syntax;
    const isTyped = (mention: Identifier): boolean => asksForType(mention, tree.parentOf(mention));
    const mentioned = [...INSTEAD.keys()].flatMap((name) => {
      const mentions = globals.mentions.get(name) ?? [];
      return mentions.some(isTyped) ? [] : mentions.map(({ start }) => ({ name, start }));
    });
    const read = membersOfGlobal(syntax).filter(({ member }) => isUsed(member, tree.parentOf(member)));
    return [...mentioned, ...read].flatMap(({ name, start: offset }): Objection[] => {
      const fix = namespaces.has(name) ? undefined : INSTEAD.get(name);
      return fix === undefined ? [] : [{ offset, message: `\`${name}\` does not exist in the sandbox`, fix }];
    });
  },
};

function asksForType(mention: AnyNode, parent: AnyNode | undefined): boolean {
  return parent?.type === "UnaryExpression" && parent.operator === "typeof" && parent.argument === mention;
}

/** Every `globalThis.name`, with the offset of `globalThis`. */
function membersOfGlobal({
  tree,
  globals,
}: ProgramSyntax): readonly { readonly member: MemberExpression; readonly name: string; readonly start: number }[] {
  return (globals.mentions.get("globalThis") ?? []).flatMap((mention) => {
    const member = tree.parentOf(mention);
    if (member?.type !== "MemberExpression" || member.object !== mention) return [];
    const name = staticName(member.property, member.computed);
    return name === undefined ? [] : [{ member, name, start: mention.start }];
  });
}

/** `globalThis.process.exit()`; a test for its existence (`globalThis.process?.exit()`) is fine. */
function isUsed(member: MemberExpression, user: AnyNode | undefined): boolean {
  if (user?.type === "MemberExpression") return user.object === member && !user.optional;
  return user?.type === "CallExpression" && user.callee === member && !user.optional;
}

const MAKERS: ReadonlySet<string> = new Set(["eval", "Function"]);
const TIMERS = ["setTimeout", "setInterval"] as const;

/**
 * Code compiled from strings cannot be analyzed. Any use of the global `eval` or `Function` as a value, also through an
 * alias; type tests are fine.
 */
export const noEval: AnalysisRule = {
  name: "no-eval",
  severity: "error",
  check: (syntax) => {
    const { tree, globals } = syntax;
    const mentioned = [...MAKERS].flatMap((name) => globals.mentions.get(name) ?? []);
    const used = mentioned.filter((mention) => !onlyTestsType(mention, tree.parentOf(mention)));
    const makers = [...used, ...membersOfGlobal(syntax).filter(({ name }) => MAKERS.has(name))];
    const fix = "write the code itself instead of text that holds it";
    const objections = makers.map(({ name, start: offset }): Objection => {
      return { offset, message: `\`${name}\` turns text into code`, fix };
    });
    return [...objections, ...objectToTimers(syntax)];
  },
};

function onlyTestsType(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (asksForType(node, parent)) return true;
  return parent?.type === "BinaryExpression" && parent.operator === "instanceof" && parent.right === node;
}

function objectToTimers({ tree, globals }: ProgramSyntax): readonly Objection[] {
  return TIMERS.flatMap((name) => globals.mentions.get(name) ?? []).flatMap((mention): Objection[] => {
    const parent = tree.parentOf(mention);
    const first = parent?.type === "CallExpression" && parent.callee === mention ? parent.arguments[0] : undefined;
    if (!first || !isText(withoutParens(first))) return [];
    const message = `\`${mention.name}\` with text turns it into code`;
    return [{ offset: mention.start, message, fix: "pass a function" }];
  });
}

function isText(node: AnyNode): boolean {
  return node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");
}

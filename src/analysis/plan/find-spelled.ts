/**
 * Finds tools that a program names in a string, as clients of MCP do: `mcp.callTool("files.read", { … })`,
 * `tools["files.read"]({ … })`, or a tool call written as JSON. Such functions do not exist here, so the author is told
 * the call to write instead. Which tool a string names is not decided here.
 */

import type { AnyNode, CallExpression, ObjectExpression, Property } from "acorn";
import { defined } from "../../domain/index.ts";
import type { Program } from "../../domain/index.ts";
import { withoutChain } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";
import { staticName, withoutParens } from "../read-tree.ts";

type Spelled = NonNullable<Program["spelled"]>[number];

const TOOL_KEYS = setOf("name tool toolname method function operation");
const SERVER_KEYS = setOf("server servername namespace provider mcpserver");
const ARGUMENT_KEYS = setOf("arguments args input params parameters toolinput toolargs toolarguments payload");
/** Members of the global `glovebox`. */
const OWN = setOf("search describe results");
/** More calls than these do not help the author. */
const MAX_CALLS = 20;
const MAX_STRINGS = 4;
const MAX_CHARS = 80;
/** Longer arguments are not repeated. */
const MAX_ARGUMENT_CHARS = 400;
const MAX_DEPTH = 3;

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** `unknown` are the globals that do not exist. Empty if the program may define globals itself. */
export function findSpelled(syntax: ProgramSyntax, unknown: readonly string[]): readonly Spelled[] {
  const { tree, globals } = syntax;
  const literal = findRequest(syntax);
  if (literal) return [literal];
  if (globals.mentions.has("globalThis") || globals.outerThis.length > 0) return [];
  const roots = new Set([...unknown.filter((name) => !isTested(name, syntax)), "glovebox"]);
  const found: Spelled[] = [];
  for (const node of tree.nodes) {
    if (node.type !== "CallExpression") continue;
    const call = readCall(node, roots, syntax) ?? readOwnCall(node, syntax);
    if (call) found.push(call);
    if (found.length >= MAX_CALLS) break;
  }
  return found;
}

/** `typeof mcp` handles the absence of the global. */
function isTested(name: string, { globals, tree }: ProgramSyntax): boolean {
  const mentions = globals.mentions.get(name) ?? [];
  return mentions.some((mention) => tree.parentOf(mention)?.type === "UnaryExpression");
}

function readCall(node: CallExpression, roots: ReadonlySet<string>, syntax: ProgramSyntax): Spelled | undefined {
  const chain = readChain(node.callee, syntax);
  const [root, ...members] = chain ?? [];
  if (!chain || root === undefined || !roots.has(root)) return undefined;
  if (root === "glovebox" && (members.length === 0 || OWN.has(members[0] ?? ""))) return undefined;
  const given = readArguments(node);
  const isPlain = given.strings.length === 0 && node.callee.type === "MemberExpression" && !node.callee.computed;
  // `gihub.listIssues()` is a misspelled server.
  if (isPlain && chain.length === 2 && !chain.some((name) => name.includes("_"))) return undefined;
  const texts = [...joinAll(given.strings), ...given.strings, ...joinChain(chain, given.strings)];
  const named = given.strings.length > 0 ? texts : [...texts, chain.slice(-2).join("."), chain.at(-1) ?? ""];
  return toSpelled(node, { ...given, texts: named, callee: chain.join(".") }, syntax);
}

/** Methods that a server does not have and that take the name of a tool. */
const CALLERS = setOf("callTool call invoke invokeTool execute executeTool runTool useTool request");

/** `memory.callTool("readGraph", { … })`. */
function readOwnCall(node: CallExpression, syntax: ProgramSyntax): Spelled | undefined {
  const chain = readChain(node.callee, syntax);
  const [root = "", method = "", ...others] = chain ?? [];
  const isOurs = syntax.namespaces.has(root) && others.length === 0 && CALLERS.has(method);
  if (!chain || !isOurs || syntax.toolsOf(root).length === 0 || syntax.toolsOf(root).includes(method)) return undefined;
  const given = readArguments(node);
  if (given.strings.length === 0) return undefined;
  const texts = [...given.strings.map((text) => `${root}.${text}`), ...given.strings];
  return { ...toSpelled(node, { ...given, texts, callee: chain.join(".") }, syntax), isOwn: true };
}

function toSpelled(
  { start, end }: AnyNode,
  { texts, callee, args, strings }: SpelledParts & { readonly texts: readonly string[]; readonly callee: string },
  { source, toAuthor }: ProgramSyntax,
): Spelled {
  const written = args && source.slice(toAuthor(args.start), toAuthor(args.end));
  const text = args && decode(args, written);
  return defined({
    start: toAuthor(start),
    end: toAuthor(end),
    callee: callee.slice(0, MAX_CHARS),
    texts: texts.filter((one) => one.length <= MAX_CHARS),
    isNamed: strings.length > 0,
    args: text !== undefined && text.length <= MAX_ARGUMENT_CHARS ? text : undefined,
    hasArgs: args !== undefined,
  });
}

/** Some clients send the arguments as JSON in a string. */
function decode(args: AnyNode, written: string | undefined): string | undefined {
  const text = staticName(args, true);
  return text?.trimStart().startsWith("{") ? text : written;
}

/** `["mcp", "servers", "memory"]` for `mcp.servers["memory"]`; `undefined` if it has a computed part or a local root. */
function readChain(callee: AnyNode, { globals }: ProgramSyntax): readonly string[] | undefined {
  const names: string[] = [];
  let node = withoutChain(callee);
  while (node.type === "MemberExpression") {
    const name = staticName(node.property, node.computed);
    if (name === undefined || names.length > MAX_STRINGS) return undefined;
    names.unshift(name);
    node = withoutChain(node.object);
  }
  return node.type === "Identifier" && !globals.bindingOf(node) ? [node.name, ...names] : undefined;
}

interface SpelledParts {
  readonly strings: readonly string[];
  readonly args?: AnyNode;
}

function readArguments(call: CallExpression): SpelledParts {
  const strings: string[] = [];
  for (const argument of call.arguments) {
    const text = staticName(argument, true);
    if (text === undefined) {
      const object = withoutParens(argument);
      const request = object.type === "ObjectExpression" && strings.length === 0 ? readRequest(object) : undefined;
      if (request) return request;
      return { strings, args: argument };
    }
    if (strings.length < MAX_STRINGS) strings.push(text);
  }
  return { strings };
}

/** `{ name: "read", arguments: { … } }`, also inside `params` or `function`; `undefined` for any other object. */
function readRequest(object: ObjectExpression, depth = 0): SpelledParts | undefined {
  const fields = new Map<string, AnyNode>();
  for (const part of object.properties) {
    const name = part.type === "Property" ? keyOf(part) : undefined;
    if (part.type === "Property" && name !== undefined) fields.set(name, withoutParens(part.value));
  }
  for (const key of depth < MAX_DEPTH ? ["params", "function"] : []) {
    const inner = fields.get(key);
    const request = inner?.type === "ObjectExpression" ? readRequest(inner, depth + 1) : undefined;
    if (request) return request;
  }
  const find = (keys: ReadonlySet<string>): AnyNode | undefined =>
    [...fields].find(([key, value]) => keys.has(key) && staticName(value, true) !== undefined)?.[1];
  const tool = find(TOOL_KEYS);
  const args = [...fields].find(([key]) => ARGUMENT_KEYS.has(key))?.[1];
  const name = tool && staticName(tool, true);
  if (name === undefined || (!args && !find(SERVER_KEYS))) return undefined;
  const server = find(SERVER_KEYS);
  const serverName = server && staticName(server, true);
  return defined({ strings: serverName === undefined ? [name] : [serverName, name], args });
}

function keyOf({ key, computed }: Property): string | undefined {
  return staticName(key, computed)?.toLowerCase().replaceAll("_", "");
}

/** `server.tool` for each pair of strings. */
function joinAll(strings: readonly string[]): readonly string[] {
  return strings.flatMap((one, at) => strings.slice(at + 1).map((other) => `${one}.${other}`));
}

/** `memory.readGraph` for `mcp.servers.memory.callTool("readGraph")`. */
function joinChain(chain: readonly string[], strings: readonly string[]): readonly string[] {
  return strings.flatMap((text) => chain.slice(1).map((name) => `${name}.${text}`));
}

/** A program that is only a tool call in JSON, alone or in an array. */
function findRequest(syntax: ProgramSyntax): Spelled | undefined {
  const [only, ...others] = syntax.tree.root.body.filter(({ type }) => type !== "EmptyStatement");
  if (only?.type !== "ExpressionStatement" || others.length > 0) return undefined;
  const expression = withoutParens(only.expression);
  const first = expression.type === "ArrayExpression" ? expression.elements[0] : expression;
  const object = first && withoutParens(first);
  const request = object?.type === "ObjectExpression" ? readRequest(object) : undefined;
  if (!request?.args) return undefined;
  return toSpelled(
    expression,
    { ...request, texts: [...joinAll(request.strings), ...request.strings], callee: "" },
    syntax,
  );
}

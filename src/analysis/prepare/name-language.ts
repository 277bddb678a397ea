/**
 * Names the language of a source that is not JavaScript or TypeScript, so that its author knows what to do. It is asked
 * only after the source did not parse, so a program that can run is never mistaken for another language.
 */

import type { Namespace } from "../../domain/index.ts";
import type { AnyNode } from "acorn";
import { calledNamespace } from "../program-syntax.ts";
import type { ProgramSyntax } from "../program-syntax.ts";

/** Only the beginning is read. */
const MAX_LINES = 200;
const MAX_LINE_CHARS = 300;

const PYTHON = [
  /^(?:async )?def \w+\s*\(.*\)\s*(?:->.*)?:/,
  /^(?:for .+ in .+|while .+|if .+|elif .+|else|try|finally|except\b.*|with .+|class \w+.*):\s*(?:#.*)?$/,
  /^import \w+(?:\s+as \w+)?$/,
  /^from [\w.]+ import /,
  /\[.* for \w+ in .*\]/,
  /\bf"[^"]*\{|\b(?:None|True|False)\b.*$/,
];
const COMMANDS =
  /^(?:\$ )?(?:sudo )?(?:awk|bash|cat|cd|chmod|cp|curl|docker|echo|export|find|git|grep|head|jq|kubectl|ls|mkdir|mv|node|npm|npx|pip3?|python3?|rm|sed|sh|sort|ssh|tail|touch|wc|wget)\s+[\w./~"'$-]/;
const SQL = [
  /^select\b[^]*\bfrom\b/i,
  /^insert\s+into\b/i,
  /^update\s+\S+\s+set\b/i,
  /^delete\s+from\b/i,
  /^(?:create|drop|alter)\s+(?:table|view|index)\b/i,
  /^with\s+\w+\s+as\s*\(/i,
];
/** By a line that only this language has. */
const OTHERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Go", /^(?:package \w+|func (?:\(\w+ \*?\w+\) )?\w+\(.*\).*\{|import \()$/],
  ["Go", /^func main\(\)/],
  ["Rust", /^(?:(?:pub )?fn \w+.*\{|use \w+(?:::\w+)+;|let mut \w+.*;)$/],
  ["Java", /^(?:import java[\w.]*;|public (?:static |final )*(?:class|void|int) .*)$/],
  ["C#", /^(?:using System[\w.]*;|namespace [\w.]+;?)$/],
  ["PowerShell", /^(?:\$\w+ = .*|(?:Get|Set|Invoke|Write|New|Remove|Import)-[A-Z]\w+.*)$/],
  ["Lua", /^local (?:function )?\w+.*(?:=|\().*$/],
  ["Ruby", /^(?:require ['"][\w/]+['"]|puts .+|def \w+[^:]*|.+\bdo \|\w+.*\||.+\.each \{ ?\|.*)$/],
];
const TAGS = /^<(?:\w+:)?(?:function_calls|invoke|tool_call|tool_use|use_mcp_tool)\b/;

/** A name with its article, for "This is …"; `undefined` if nothing is certain. */
export function nameLanguage(source: string): string | undefined {
  const text = source.trimStart();
  const lines = text
    .split("\n", MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_CHARS).trim())
    .filter((line) => line !== "");
  if (TAGS.test(text)) return "a tool call in XML";
  if (text.startsWith("<?php")) return "PHP";
  if (SQL.some((pattern) => pattern.test(text.slice(0, MAX_LINE_CHARS)))) return "SQL";
  if (text.startsWith("#!/") || lines.some((line) => COMMANDS.test(line))) {
    return PYTHON.slice(0, 2).some((pattern) => lines.some((line) => pattern.test(line))) ? "Python" : "a shell script";
  }
  if (lines.some((line) => PYTHON.some((pattern) => pattern.test(line)))) return "Python";
  return OTHERS.find(([, pattern]) => lines.some((line) => pattern.test(line)))?.[0];
}

/** Whether the source begins with a command that parses as JavaScript, such as `cat /a/b | jq .c`, and can only fail. */
export function isCommand(source: string, unknownNames: readonly string[]): boolean {
  const [first = ""] = source.trimStart().slice(0, MAX_LINE_CHARS).split("\n", 1);
  return COMMANDS.test(first) && unknownNames.includes(first.split(/\s/u, 1)[0] ?? "");
}

/** What to write instead, with the first tools that the source names in the spelling of its own language. */
export function explainLanguage(language: string, source: string, namespaces: readonly Namespace[]): string {
  const calls = findMentions(source, namespaces).map((address) => `await ${address}({ … })`);
  const example = calls.length > 0 ? calls.join(", ") : "await server.tool({ name: value })";
  return `This is ${language}, and programs here are TypeScript, with calls such as ${example}`;
}

export const LANGUAGE_HINT =
  "Write the same steps in TypeScript, with one object of arguments for each tool, and return the result";

const MAX_MENTIONS = 3;

function findMentions(source: string, namespaces: readonly Namespace[]): readonly string[] {
  const found = new Set<string>();
  for (const [, name = "", tool = ""] of source.slice(0, MAX_LINES * MAX_LINE_CHARS).matchAll(/\b(\w+)\.(\w+)\(/g)) {
    const namespace = namespaces.find((one) => one.name === name);
    const method = namespace?.tools.find((one) => fold(one) === fold(tool));
    if (method !== undefined && found.size < MAX_MENTIONS) found.add(`${name}.${method}`);
  }
  return [...found];
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll("_", "");
}

/** `files.read(path="a")`: in JavaScript an assignment to a name that nothing declares, which always throws. */
export function findKeywordArgument(syntax: ProgramSyntax): AnyNode | undefined {
  return syntax.tree.nodes.find((node) => {
    if (node.type !== "CallExpression" || calledNamespace(node, syntax) === undefined) return false;
    return node.arguments.some(
      (argument) =>
        argument.type === "AssignmentExpression" &&
        argument.operator === "=" &&
        argument.left.type === "Identifier" &&
        !syntax.globals.bindingOf(argument.left),
    );
  });
}

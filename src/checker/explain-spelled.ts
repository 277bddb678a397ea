/** Explains calls that name a tool in a string, and what to write instead of a wrong name or line. */

import { toPrintable } from "../analysis/index.ts";
import type { Program, ToolGuide } from "../domain/index.ts";
import type { Fix, Mistake } from "./wire.ts";

type NamedCall = NonNullable<Program["spelled"]>[number];

const NEAREST = 3;
const FIXED_LINE_CHARS = 200;
/** A function of this name takes the name of a tool, so its string is one. */
const CALLER = /call|invoke|execute|request|tool|mcp/i;

interface ExplainedCall extends Pick<NamedCall, "start" | "end"> {
  readonly message: string;
  readonly hint: string;
}

/** Only calls that mean a tool: a function that does not exist may be anything else. */
export function explainSpelled({ source, spelled = [] }: Program, guide: ToolGuide): readonly ExplainedCall[] {
  return spelled.flatMap((call): ExplainedCall[] => {
    const { start, end, callee, texts } = call;
    const tool = guide.find(texts);
    const message = toMessage(call);
    if (tool !== undefined) return [{ start, end, message, hint: toCall(call, tool, { source, guide }) }];
    const [likeliest] = texts;
    if (callee === "" || !call.isNamed || !CALLER.test(callee) || likeliest === undefined) return [];
    return [
      { start, end, message: `${message}, and the API has no tool ${likeliest}`, hint: suggest(likeliest, guide) },
    ];
  });
}

function toMessage({ callee, isOwn }: NamedCall): string {
  if (callee === "") return "This is a tool call in JSON, not a program";
  if (isOwn) return `The API has no tool ${callee}`;
  const [root = ""] = callee.split(".", 1);
  return root === callee || root === "glovebox"
    ? `The sandbox has no function ${callee}`
    : `The sandbox has no global ${root}, so no ${callee}`;
}

function toCall(
  { start, end, callee, args, hasArgs }: NamedCall,
  tool: string,
  { source, guide }: { readonly source: string; readonly guide: ToolGuide },
): string {
  const signature = guide.call(tool);
  const text = `${tool}(${args ?? (hasArgs ? "{ … }" : "")})`;
  const line = callee === "" ? `await ${text}` : fixedLines(source, [{ start, end, text }]);
  const written = line.endsWith("…") ? cut(text, FIXED_LINE_CHARS) : line;
  const shown = `Write: ${written}`;
  const more = signature === undefined ? "" : `\nThe call is ${signature}`;
  return `${callee === "" ? "JSON is not run. " : ""}${shown}${more}`;
}

/** The line with the name of the tool that differs only in case and separators: `memory.read_graph()`. */
export function respell({ kind, name, start }: Mistake, source: string, guide: ToolGuide): string | undefined {
  const written = name.slice(name.lastIndexOf(".") + 1);
  const tool = kind === "unknown-tool" ? guide.find([name]) : undefined;
  const isSame = tool !== undefined && tool.startsWith(name.slice(0, name.length - written.length));
  // The nearest one is not deprecated.
  if (!isSame || guide.nearest(name)[0] !== tool || !source.startsWith(written, start)) return undefined;
  const fix = { start, end: start + written.length, text: tool.slice(tool.lastIndexOf(".") + 1) };
  const line = fixedLines(source, [fix]);
  return line.endsWith("…") ? undefined : `Write: ${line}\nThe call is ${guide.call(tool) ?? tool}`;
}

/** Suggests names; never replaces what the author wrote. */
export function suggest(name: string, guide: ToolGuide): string {
  const nearest = guide.nearest(name).slice(0, NEAREST);
  const [first] = nearest;
  if (first === undefined) return "Use search to find tools";
  return `Did you mean ${nearest.join(", ")}?\n${guide.signature(first) ?? ""}`.trimEnd();
}

/** The corrected lines, one after the other. The fixes are in source order. */
export function fixedLines(source: string, fixes: readonly Fix[]): string {
  const lines = new Map<number, string>();
  for (const { start, end, text } of fixes.toReversed()) {
    const from = source.lastIndexOf("\n", start - 1) + 1;
    const lineEnd = source.indexOf("\n", end);
    const to = lineEnd < 0 ? source.length : lineEnd;
    const line = lines.get(from) ?? source.slice(from, to);
    lines.set(from, line.slice(0, start - from) + text + line.slice(end - from));
  }
  const ordered = [...lines].toSorted(([a], [b]) => a - b);
  return ordered.map(([, line]) => cut(line.trim(), FIXED_LINE_CHARS)).join("\n");
}

/** Shortens text that contains names and types of the program. */
export function cut(text: string, chars: number): string {
  const line = toPrintable(text.replace(/\s+/gu, " "));
  return line.length > chars ? `${line.slice(0, chars - 1).toWellFormed()}…` : line;
}

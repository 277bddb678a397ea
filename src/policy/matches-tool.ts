/**
 * The pattern language for tools: `*`, `github.*`, `github.createIssue`, and names with stars: `github.delete*` or
 * `*.delete*`. It is small, so that an operator can predict every match. Server and tool are named as in programs, or by
 * the names that the operator and the server gave them.
 */

import type { Tool } from "../domain/index.ts";
import { matchWildcard } from "../text/index.ts";

/** How a pattern can name a tool. `null` for what is unknown, as in old records. */
export interface ToolNames {
  readonly address: string;
  /** The operator's name of the upstream. */
  readonly server: string | null;
  /** The server's name of the tool. */
  readonly remoteName: string | null;
  readonly plainName?: string | undefined;
}

/**
 * All patterns that match one tool. The doubtful ones may mean another tool, such as the one that has the plain name:
 * they make stricter, never looser.
 */
export interface ToolForms {
  /** From narrow to broad: the tool, its server, everything. */
  readonly certain: readonly (readonly string[])[];
  readonly doubtful: readonly string[];
  /** For patterns with a star in the tool's name. The certain ones come first in each list. */
  readonly servers: readonly string[];
  readonly names: readonly string[];
  readonly certainServers: number;
  readonly certainNames: number;
}

/** A pattern with a star in the tool's name, or for a tool of any server. */
interface WildPattern {
  readonly text: string;
  /** `*` for every server. */
  readonly server: string;
  readonly tool: string;
}

interface ToolPatterns {
  readonly exact: ReadonlySet<string>;
  readonly wild: readonly WildPattern[];
}

export type ToolMatch = "yes" | "no" | "unclear";

export function toForms({ address, server, remoteName, plainName }: ToolNames): ToolForms {
  const dot = address.lastIndexOf(".");
  const [namespace, name] = [address.slice(0, dot), address.slice(dot + 1)];
  const servers = server === null || server === namespace ? [namespace] : [namespace, server];
  const isOwnNameCertain = remoteName !== null && remoteName !== plainName && !remoteName.includes("*");
  const own = isOwnNameCertain && remoteName !== name ? [remoteName] : [];
  // `a.b.c` is `c` of the server `a.b`, or `b.c` of the server `a`.
  const plainServers = servers.filter((one) => one === namespace || !one.includes("."));
  const combine = (left: readonly string[], right: readonly string[]): readonly string[] =>
    left.flatMap((one) => right.map((other) => `${one}.${other}`));
  const certain = combine(plainServers, [name, ...own]);
  const names = [name, ...own, ...(remoteName === null ? [] : [remoteName]), ...(plainName ? [plainName] : [])];
  return {
    certain: [certain, combine(servers, ["*"]), ["*"]],
    doubtful: combine(servers, names).filter((form) => !certain.includes(form)),
    servers: [...plainServers, ...servers],
    names,
    certainServers: plainServers.length,
    certainNames: 1 + own.length,
  };
}

/** Tools are immutable, and every call asks for the forms of its tool. */
const known = new WeakMap<MatchedTool, ToolForms>();

type MatchedTool = Pick<Tool, "address" | "origin" | "plainName">;

export function formsOf(tool: MatchedTool): ToolForms {
  const made = known.get(tool);
  if (made) return made;
  const { address, origin, plainName } = tool;
  const forms = toForms({ address, server: origin.connector, remoteName: origin.remoteName, plainName });
  known.set(tool, forms);
  return forms;
}

export function matchTool(patterns: readonly string[], forms: ToolForms): ToolMatch {
  const { exact, wild } = compilePatterns(patterns);
  const { certain, doubtful } = forms;
  if (certain.some((level) => level.some((form) => exact.has(form)))) return "yes";
  const found = wild.map((pattern) => matchWild(pattern, forms));
  if (found.includes("yes")) return "yes";
  return found.includes("unclear") || doubtful.some((form) => exact.has(form)) ? "unclear" : "no";
}

const compiled = new WeakMap<object, ToolPatterns>();

/** Settings are immutable, and every call asks for them. */
function compilePatterns(patterns: readonly string[] | ReadonlyMap<string, unknown>): ToolPatterns {
  const known = compiled.get(patterns);
  if (known) return known;
  const all = isMap(patterns) ? [...patterns.keys()] : patterns;
  const made = { exact: new Set(all), wild: all.flatMap((text) => parseWild(text) ?? []) };
  compiled.set(patterns, made);
  return made;
}

function isMap(patterns: readonly string[] | ReadonlyMap<string, unknown>): patterns is ReadonlyMap<string, unknown> {
  return patterns instanceof Map;
}

/** `github.*` and `*` are not among them: they name a server, or everything. */
function parseWild(text: string): WildPattern | undefined {
  const dot = text.lastIndexOf(".");
  const [server, tool] = [text.slice(0, dot), text.slice(dot + 1)];
  if (dot < 1 || tool === "" || tool === "*") return undefined;
  const isWild = server === "*" || (tool.includes("*") && !server.includes("*"));
  return isWild ? { text, server, tool } : undefined;
}

function matchWild({ server, tool }: WildPattern, forms: ToolForms): ToolMatch {
  const serverAt = server === "*" ? 0 : forms.servers.indexOf(server);
  const nameAt = forms.names.findIndex((name) => matchWildcard(tool, name));
  if (serverAt < 0 || nameAt < 0) return "no";
  return serverAt < forms.certainServers && nameAt < forms.certainNames ? "yes" : "unclear";
}

/**
 * Returns the value of the narrowest pattern, of equals the strictest; of a doubtful one only if it is stricter. From
 * narrow to broad: the tool, `github.delete*`, `github.*`, `*.delete*`, `*`.
 */
export function pickByTool<Value>(
  values: ReadonlyMap<string, Value>,
  forms: ToolForms,
  { usual, rank }: { readonly usual: Value; readonly rank: (value: Value) => number },
): Value | undefined {
  const strictest = (patterns: readonly string[]): Value | undefined =>
    patterns
      .flatMap((pattern) => values.get(pattern) ?? [])
      .reduce<Value | undefined>((best, one) => (best === undefined || rank(one) > rank(best) ? one : best), undefined);
  const { wild } = compilePatterns(values);
  const wildBy = (match: ToolMatch, isWanted: (pattern: WildPattern) => boolean): readonly string[] =>
    wild.filter((pattern) => isWanted(pattern) && matchWild(pattern, forms) === match).map(({ text }) => text);
  const [tool = [], server = [], every = []] = forms.certain;
  const ofServer = wildBy("yes", (pattern) => pattern.server !== "*");
  const ofAll = wildBy("yes", (pattern) => pattern.server === "*");
  const sure = [tool, ofServer, server, ofAll, every].map(strictest).find((value) => value !== undefined);
  const unsure = strictest([...forms.doubtful, ...wildBy("unclear", () => true)]);
  return unsure !== undefined && rank(unsure) > rank(sure ?? usual) ? unsure : sure;
}

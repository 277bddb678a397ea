/**
 * The pattern language for tools: `*`, `github.*` or `github.createIssue`. It is small, so that an operator can predict
 * every match. Server and tool are named as in programs, or by the names that the operator and the server gave them.
 */

import type { Tool } from "../domain/index.ts";

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
  const all = combine(servers, [name, ...(remoteName === null ? [] : [remoteName]), ...(plainName ? [plainName] : [])]);
  return {
    certain: [certain, combine(servers, ["*"]), ["*"]],
    doubtful: all.filter((form) => !certain.includes(form)),
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

export function matchTool(patterns: ReadonlySet<string>, { certain, doubtful }: ToolForms): ToolMatch {
  if (certain.some((forms) => forms.some((form) => patterns.has(form)))) return "yes";
  return doubtful.some((form) => patterns.has(form)) ? "unclear" : "no";
}

/** Returns the value of the narrowest pattern, of equals the strictest; of a doubtful one only if it is stricter. */
export function pickByTool<Value>(
  values: ReadonlyMap<string, Value>,
  { certain, doubtful }: ToolForms,
  { usual, rank }: { readonly usual: Value; readonly rank: (value: Value) => number },
): Value | undefined {
  const strictest = (forms: readonly string[]): Value | undefined =>
    forms
      .flatMap((form) => values.get(form) ?? [])
      .reduce<Value | undefined>((best, one) => (best === undefined || rank(one) > rank(best) ? one : best), undefined);
  const sure = certain.map(strictest).find((value) => value !== undefined);
  const unsure = strictest(doubtful);
  return unsure !== undefined && rank(unsure) > rank(sure ?? usual) ? unsure : sure;
}

/** Compares the calls of replays with other data with those of a replay with the recorded data. Pure functions. */

import { canonicalJson, defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Approval, Json } from "../../domain/index.ts";

import type { MadeCall } from "./replay-round.ts";

export type ReplayEvidence = NonNullable<Approval["evidence"]>;
type ComparedReplays = Extract<ReplayEvidence, { readonly kind: "compared" }>;
export type ReplacedSource = ComparedReplays["sources"][number];
type DifferenceCause = NonNullable<ComparedReplays["control"]>;
type ArgumentFinding = ComparedReplays["args"][number];

/** A replay: the sources that were replaced in it, and its calls. */
export interface Round {
  readonly replaced: readonly ReplacedSource[];
  readonly calls: readonly MadeCall[];
}

export interface Comparison {
  /** The number of the call that is asked about. */
  readonly seq: number;
  /** The calls of the replay with the recorded data. */
  readonly usual: readonly MadeCall[];
  readonly rounds: readonly Round[];
  readonly wanted: number;
  readonly sources: readonly ReplacedSource[];
  /** Arguments that the call plan proves to be constants. */
  readonly constants: ReadonlySet<string>;
  /** The recorded reply of a source, as JSON. */
  readonly textOf: (source: ReplacedSource) => string;
  readonly hadRead: boolean;
  /** The program: names of arguments that it does not contain are data. */
  readonly program: string;
}

/** Shown in place of a name that the program has computed. */
const COMPUTED_NAME = "(a computed name)";

export function compareRounds(comparison: Comparison): ReplayEvidence {
  const { seq, usual, rounds, wanted, sources, hadRead } = comparison;
  const target = usual[seq - 1];
  if (!target) return { kind: "none", reason: "the replay did not repeat the call" };
  const compared = rounds.map((round) => ({ round, call: findCounterpart(target, seq, usual, round.calls) }));
  const moved = compared.filter(({ round, call }) => !call || isMoved(target.tool, seq, usual, round.calls));
  return {
    kind: "compared",
    rounds: rounds.length,
    wanted,
    made: compared.filter(({ call }) => call).length,
    sources,
    ...defined({ control: moved.length > 0 ? findCause(moved.map(({ round }) => round)) : undefined }),
    args: compareArguments(target, compared, comparison),
    hadRead,
  };
}

/** The call of the same number, else the one that is as far down the list of calls of its tool. */
function findCounterpart(
  { tool }: MadeCall,
  seq: number,
  usual: readonly MadeCall[],
  calls: readonly MadeCall[],
): MadeCall | undefined {
  const same = calls[seq - 1];
  if (same?.tool === tool) return same;
  const before = usual.slice(0, seq - 1).filter((call) => call.tool === tool).length;
  return calls.filter((call) => call.tool === tool)[before];
}

/** Whether other calls come before it, or it is made another number of times. */
function isMoved(tool: string, seq: number, usual: readonly MadeCall[], calls: readonly MadeCall[]): boolean {
  const order = (list: readonly MadeCall[]): string =>
    list
      .slice(0, seq)
      .map((call) => call.tool)
      .join("\n");
  const times = (list: readonly MadeCall[]): number => list.filter((call) => call.tool === tool).length;
  return order(usual) !== order(calls) || times(usual) !== times(calls);
}

/** What was replaced alone in one of the rounds; else the fewest that were replaced together. */
function findCause(rounds: readonly Round[]): DifferenceCause {
  const alone = rounds.filter(({ replaced }) => replaced.length === 1).flatMap(({ replaced }) => replaced);
  if (alone.length > 0) return { sources: unique(alone), isOneOf: false };
  const [fewest] = rounds.toSorted((a, b) => a.replaced.length - b.replaced.length);
  return { sources: fewest?.replaced ?? [], isOneOf: true };
}

function unique(sources: readonly ReplacedSource[]): readonly ReplacedSource[] {
  return [...new Map(sources.map((source) => [source.seq, source])).values()].toSorted((a, b) => a.seq - b.seq);
}

function compareArguments(
  target: MadeCall,
  compared: readonly { readonly round: Round; readonly call: MadeCall | undefined }[],
  { constants, sources, textOf, program }: Comparison,
): readonly ArgumentFinding[] {
  const args = toArguments(target);
  const others = compared.flatMap(({ round, call }) => (call ? [{ round, args: toArguments(call) }] : []));
  const names = new Set([...args.keys(), ...others.flatMap((other) => [...other.args.keys()])]);
  const found = [...names].map((name): ArgumentFinding => {
    const shown = name !== "" && program.includes(name) ? name : COMPUTED_NAME;
    const changed = others.filter((other) => !isSame(args.get(name), other.args.get(name))).map(({ round }) => round);
    if (changed.length === 0)
      return { name: shown, finding: constants.has(name) ? ("constant" as const) : ("unchanged" as const) };
    const text = toText(name, args.get(name));
    const contains = sources.filter((source) => sharesText(text, textOf(source)));
    return { name: shown, finding: "changed", cause: findCause(changed), contains };
  });
  return dropRepeats(found);
}

/** Names that only replays have are all called the same. */
function dropRepeats(found: readonly ArgumentFinding[]): readonly ArgumentFinding[] {
  const computed = found.filter(({ name }) => name === COMPUTED_NAME);
  const strongest = computed.find(({ finding }) => finding === "changed") ?? computed[0];
  return [...found.filter(({ name }) => name !== COMPUTED_NAME), ...(strongest ? [strongest] : [])];
}

function toArguments({ args }: MadeCall): ReadonlyMap<string, Json> {
  const value = args === "" ? {} : parseJson(args);
  return new Map(isJsonObject(value) ? Object.entries(value) : value === undefined ? [] : [["arguments", value]]);
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

/** The strings of an argument and its name, which may be data, too. */
function toText(name: string, value: Json | undefined): string {
  return `${name}\n${value === undefined ? "" : JSON.stringify(value)}`.slice(0, MAX_TEXT_CHARS);
}

/** Text in common that is shorter may be by chance. */
const SHARED_CHARS = 12;
const MAX_TEXT_CHARS = 16 * 1024;
const MAX_SOURCE_CHARS = 128 * 1024;

/** Whether a part of the text, or a whole short string of the source, is in the other. Both are JSON. */
function sharesText(text: string, source: string): boolean {
  const parts = new Set<string>();
  for (let at = 0; at + SHARED_CHARS <= text.length; at += 1) parts.add(text.slice(at, at + SHARED_CHARS));
  const searched = source.slice(0, MAX_SOURCE_CHARS);
  for (let at = 0; at + SHARED_CHARS <= searched.length; at += 1)
    if (parts.has(searched.slice(at, at + SHARED_CHARS))) return true;
  return false;
}

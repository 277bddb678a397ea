/** What is remembered of one principal, and how that is kept as text. Names of tools and numbers, nothing else. */

import { isJsonObject } from "../../domain/index.ts";
import type { Instant, Json, JsonObject } from "../../domain/index.ts";
import { EMPTY_BASELINE, MEASURES } from "./baseline.ts";
import type { Baseline, Counts, MeasureName, UsualValue } from "./baseline.ts";

export interface Profile {
  /** Since the epoch. */
  minute: number;
  /** Of that minute. */
  counts: Counts;
  baseline: Baseline;
  /** When each kind of burst was last told. */
  readonly toldAt: Map<MeasureName, Instant>;
  /** Destructive tools that it has used, the oldest first. */
  readonly tools: Set<string>;
}

/** Of a principal that was never seen. */
export function createProfile(): Profile {
  const counts = { requests: 0, failures: 0, outputBytes: 0 };
  return { minute: 0, counts, baseline: EMPTY_BASELINE, toldAt: new Map(), tools: new Set() };
}

export function toProfilesText(profiles: ReadonlyMap<string, Profile>): string {
  const entries = [...profiles].map(([principal, { minute, counts, baseline, toldAt, tools }]) => [
    principal,
    { minute, counts, baseline, toldAt: Object.fromEntries(toldAt), tools: [...tools] },
  ]);
  return JSON.stringify(entries);
}

/** What cannot be read is left out, so that a damaged row costs what was learned and nothing more. */
export function parseProfilesText(text: string): readonly (readonly [string, Profile])[] {
  const raw = parseJson(text);
  if (!Array.isArray(raw)) return [];
  return raw.flatMap((entry: Json): readonly (readonly [string, Profile])[] => {
    if (!Array.isArray(entry)) return [];
    const [principal, profile]: readonly (Json | undefined)[] = entry;
    return typeof principal === "string" && isJsonObject(profile) ? [[principal, parseProfile(profile)]] : [];
  });
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function parseProfile({ minute, counts, baseline, toldAt, tools }: JsonObject): Profile {
  const told = MEASURES.flatMap((measure): [MeasureName, Instant][] => {
    const at = isJsonObject(toldAt) ? toldAt[measure] : undefined;
    return typeof at === "number" ? [[measure, at]] : [];
  });
  const names = Array.isArray(tools) ? tools.filter((tool: Json) => typeof tool === "string") : [];
  return {
    minute: toNumber(minute),
    counts: forEach((measure) => toNumber(isJsonObject(counts) ? counts[measure] : undefined)),
    baseline: isJsonObject(baseline) ? parseBaseline(baseline) : EMPTY_BASELINE,
    toldAt: new Map(told),
    tools: new Set(names),
  };
}

function parseBaseline({ minutes, usual }: JsonObject): Baseline {
  const parse = (measure: MeasureName): UsualValue => {
    const found = isJsonObject(usual) ? usual[measure] : undefined;
    if (!isJsonObject(found)) return { mean: 0, variance: 0 };
    return { mean: toNumber(found["mean"]), variance: toNumber(found["variance"]) };
  };
  return { minutes: toNumber(minutes), usual: forEach(parse) };
}

function forEach<Value>(make: (measure: MeasureName) => Value): Readonly<Record<MeasureName, Value>> {
  return { requests: make("requests"), failures: make("failures"), outputBytes: make("outputBytes") };
}

function toNumber(raw: Json | undefined): number {
  return typeof raw === "number" && raw >= 0 ? raw : 0;
}

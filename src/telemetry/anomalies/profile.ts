/** What is stored about one principal: names of tools and numbers, nothing else. */

import { isJsonObject } from "../../domain/index.ts";
import type { Instant, Json, JsonObject } from "../../domain/index.ts";
import { EMPTY_BASELINE, MEASURES } from "./baseline.ts";
import type { Baseline, Counts, MeasureName, UsualValue } from "./baseline.ts";

export interface Profile {
  /** Minutes since the epoch. */
  minute: number;
  /** The counts of that minute. */
  counts: Counts;
  baseline: Baseline;
  /** When each kind of burst was last reported. */
  readonly reportedAt: Map<MeasureName, Instant>;
  /** The destructive tools that it has used, oldest first. */
  readonly tools: Set<string>;
}

/** Returns the profile of a new principal. */
export function createProfile(): Profile {
  const counts = { requests: 0, failures: 0, outputBytes: 0 };
  return { minute: 0, counts, baseline: EMPTY_BASELINE, reportedAt: new Map(), tools: new Set() };
}

/** The stored name `toldAt` must not change. */
export function toProfilesText(profiles: Iterable<readonly [string, Profile]>): string {
  const entries = [...profiles].map(([principal, { minute, counts, baseline, reportedAt, tools }]) => [
    principal,
    { minute, counts, baseline, toldAt: Object.fromEntries(reportedAt), tools: [...tools] },
  ]);
  return JSON.stringify(entries);
}

/** Skips what cannot be parsed, so that a damaged row costs only what was learned. */
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
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parseProfile({ minute, counts, baseline, toldAt, tools }: JsonObject): Profile {
  const reported = MEASURES.flatMap((measure): [MeasureName, Instant][] => {
    const at = isJsonObject(toldAt) ? toldAt[measure] : undefined;
    return typeof at === "number" ? [[measure, at]] : [];
  });
  const names = Array.isArray(tools) ? tools.filter((tool: Json) => typeof tool === "string") : [];
  return {
    minute: toNumber(minute),
    counts: forEach((measure) => toNumber(isJsonObject(counts) ? counts[measure] : undefined)),
    baseline: isJsonObject(baseline) ? parseBaseline(baseline) : EMPTY_BASELINE,
    reportedAt: new Map(reported),
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

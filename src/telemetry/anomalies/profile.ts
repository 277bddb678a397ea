/**
 * What is stored about one principal: names of tools, and the mean and variance of its active minutes, exponentially
 * weighted. Minutes without requests do not count, so that a quiet night does not make the next morning look like a
 * burst.
 */

import { z } from "zod";

import { parseJson } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { MINUTE_MS } from "../../timing/index.ts";

/** What is compared per minute. */
export const MEASURES = ["requests", "failures", "outputBytes"] as const;
export type MeasureName = (typeof MEASURES)[number];
export type Counts = Readonly<Record<MeasureName, number>>;

interface UsualValue {
  readonly mean: number;
  readonly variance: number;
}

interface Baseline {
  /** The number of minutes it was learned from. */
  readonly minutes: number;
  readonly usual: Readonly<Record<MeasureName, UsualValue>>;
}

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

export const WINDOW_MS = MINUTE_MS;
/** With fewer minutes, fixed ceilings apply. */
export const LEARN_MINUTES = 10;

const WEIGHT = 0.1;
const DEVIATIONS = 4;
const TIMES = 3;
const MIB = 1024 * 1024;
/** Less than this is never a burst. */
export const FLOORS: Counts = { requests: 120, failures: 50, outputBytes: 4 * MIB };
/** For principals without a baseline. Only quotas limit their request rate. */
export const FIRST_CEILINGS: Counts = { requests: Infinity, failures: 50, outputBytes: 64 * MIB };

export const NO_COUNTS: Counts = { requests: 0, failures: 0, outputBytes: 0 };

/** Returns the limit above which a minute is a burst. */
export function limitOf({ minutes, usual }: Baseline, measure: MeasureName): number {
  if (minutes < LEARN_MINUTES) return FIRST_CEILINGS[measure];
  const { mean, variance } = usual[measure];
  return Math.max(FLOORS[measure], TIMES * mean, mean + DEVIATIONS * Math.sqrt(variance));
}

/** Learns values above the limit as the limit, so that a burst does not become usual at once. */
export function learn(baseline: Baseline, counts: Counts): Baseline {
  const learnOne = (measure: MeasureName): UsualValue => {
    const value = Math.min(counts[measure], limitOf(baseline, measure));
    if (baseline.minutes === 0) return { mean: value, variance: 0 };
    const { mean, variance } = baseline.usual[measure];
    const difference = value - mean;
    return { mean: mean + WEIGHT * difference, variance: (1 - WEIGHT) * (variance + WEIGHT * difference * difference) };
  };
  return { minutes: Math.min(baseline.minutes + 1, LEARN_MINUTES), usual: forEachMeasure(learnOne) };
}

export function forEachMeasure<Value>(make: (measure: MeasureName) => Value): Readonly<Record<MeasureName, Value>> {
  return { requests: make("requests"), failures: make("failures"), outputBytes: make("outputBytes") };
}

/** Replaces what cannot be parsed, so that a damaged row costs only what was learned. */
const amount = z.number().min(0).catch(0);
const usual = z.object({ mean: amount, variance: amount }).catch({ mean: 0, variance: 0 });
const usuals = z.object(forEachMeasure(() => usual));
const instants = z.object(forEachMeasure(() => z.number().optional().catch(undefined)));
const profileSchema = z.object({
  minute: amount,
  counts: z.object(forEachMeasure(() => amount)).catch(NO_COUNTS),
  baseline: z
    .object({ minutes: amount, usual: usuals.catch(() => usuals.parse({})) })
    .catch(() => ({ minutes: 0, usual: usuals.parse({}) })),
  /** The stored name must not change. */
  toldAt: instants.catch({}),
  tools: z.array(z.unknown()).catch([]),
});

/** Returns the profile of a new principal, or the one with these stored fields. */
export function createProfile(stored: object = {}): Profile {
  const { toldAt, tools, ...rest } = profileSchema.parse(stored);
  const reported = MEASURES.flatMap((measure): [MeasureName, Instant][] => {
    const at = toldAt[measure];
    return at === undefined ? [] : [[measure, at]];
  });
  return { ...rest, reportedAt: new Map(reported), tools: new Set(tools.filter((tool) => typeof tool === "string")) };
}

export function toProfilesText(profiles: Iterable<readonly [string, Profile]>): string {
  const entries = [...profiles].map(([principal, { minute, counts, baseline, reportedAt, tools }]) => [
    principal,
    { minute, counts, baseline, toldAt: Object.fromEntries(reportedAt), tools: [...tools] },
  ]);
  return JSON.stringify(entries);
}

/** Skips what is not a profile. */
export function parseProfilesText(text: string): readonly (readonly [string, Profile])[] {
  const entry = z.tuple([z.string(), z.looseObject({})]).rest(z.unknown());
  const entries = z.array(z.unknown()).catch([]).parse(parseJson(text));
  return entries
    .map((raw) => entry.safeParse(raw).data)
    .filter((one) => one !== undefined)
    .map(([principal, profile]) => [principal, createProfile(profile)]);
}

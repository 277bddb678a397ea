/**
 * The baseline of one principal: exponentially weighted mean and variance of its active minutes. Pure functions.
 * Minutes without requests do not count, so that a quiet night does not make the next morning look like a burst.
 */

import { MINUTE_MS } from "../../timing/index.ts";

/** What is compared per minute. */
export const MEASURES = ["requests", "failures", "outputBytes"] as const;
export type MeasureName = (typeof MEASURES)[number];
export type Counts = Readonly<Record<MeasureName, number>>;

export interface UsualValue {
  readonly mean: number;
  readonly variance: number;
}

export interface Baseline {
  /** The number of minutes it was learned from. */
  readonly minutes: number;
  readonly usual: Readonly<Record<MeasureName, UsualValue>>;
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

const NOTHING: UsualValue = { mean: 0, variance: 0 };

export const EMPTY_BASELINE: Baseline = {
  minutes: 0,
  usual: { requests: NOTHING, failures: NOTHING, outputBytes: NOTHING },
};

/** Returns the limit above which a minute is a burst. */
export function limitOf({ minutes, usual }: Baseline, measure: MeasureName): number {
  if (minutes < LEARN_MINUTES) return FIRST_CEILINGS[measure];
  const { mean, variance } = usual[measure];
  return Math.max(FLOORS[measure], TIMES * mean, mean + DEVIATIONS * Math.sqrt(variance));
}

/** Learns values above the limit as the limit, so that a burst does not become usual at once. */
export function learn(baseline: Baseline, counts: Counts): Baseline {
  const learned = (measure: MeasureName): UsualValue => {
    const value = Math.min(counts[measure], limitOf(baseline, measure));
    return baseline.minutes === 0 ? { mean: value, variance: 0 } : weigh(baseline.usual[measure], value);
  };
  const usual = {
    requests: learned("requests"),
    failures: learned("failures"),
    outputBytes: learned("outputBytes"),
  };
  return { minutes: Math.min(baseline.minutes + 1, LEARN_MINUTES), usual };
}

function weigh({ mean, variance }: UsualValue, value: number): UsualValue {
  const difference = value - mean;
  return { mean: mean + WEIGHT * difference, variance: (1 - WEIGHT) * (variance + WEIGHT * difference * difference) };
}

/**
 * What is usual for one principal: exponentially weighted mean and variance of its own active minutes. Pure.
 * Minutes without a request teach nothing, so that a quiet night does not make the next morning look like a burst.
 */

/** What is compared with the past, minute by minute. */
export const MEASURES = ["requests", "failures", "outputBytes"] as const;
export type MeasureName = (typeof MEASURES)[number];
export type Counts = Readonly<Record<MeasureName, number>>;

/** What earlier minutes taught about one measure. */
export interface UsualValue {
  readonly mean: number;
  readonly variance: number;
}

export interface Baseline {
  /** How many minutes it was learned from. */
  readonly minutes: number;
  readonly usual: Readonly<Record<MeasureName, UsualValue>>;
}

export const WINDOW_MS = 60_000;
/** Before that there is no past to compare with. */
export const LEARN_MINUTES = 10;

const WEIGHT = 0.1;
const DEVIATIONS = 4;
const TIMES = 3;
const MIB = 1024 * 1024;
/** Below this nothing is a burst, however quiet the past was. */
export const FLOORS: Counts = { requests: 120, failures: 50, outputBytes: 4 * MIB };
/** For principals without a past. Their rate is held by quotas alone. */
export const FIRST_CEILINGS: Counts = { requests: Infinity, failures: 50, outputBytes: 64 * MIB };

const NOTHING: UsualValue = { mean: 0, variance: 0 };

export const EMPTY_BASELINE: Baseline = {
  minutes: 0,
  usual: { requests: NOTHING, failures: NOTHING, outputBytes: NOTHING },
};

/** More than this in one minute is a burst. */
export function limitOf({ minutes, usual }: Baseline, measure: MeasureName): number {
  if (minutes < LEARN_MINUTES) return FIRST_CEILINGS[measure];
  const { mean, variance } = usual[measure];
  return Math.max(FLOORS[measure], TIMES * mean, mean + DEVIATIONS * Math.sqrt(variance));
}

/** What is beyond the limit is learned as the limit: a burst must not become usual at once. */
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

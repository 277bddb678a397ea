/** Compares what principals do with their baselines. Has no clock: events carry their time. */

import { HOUR_MS, createRecent } from "../../timing/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { CallTelemetry, TelemetryEvent } from "../event.ts";
import { MEASURES, NO_COUNTS, WINDOW_MS, createProfile, forEachMeasure, learn, limitOf } from "./profile.ts";
import type { Counts, MeasureName, Profile } from "./profile.ts";

/** Something unusual that one principal did. */
export type Anomaly =
  | {
      readonly kind: "burst";
      readonly principal: string;
      readonly measure: MeasureName;
      readonly measured: number;
      readonly usual: number;
      readonly limit: number;
    }
  | { readonly kind: "firstUse"; readonly principal: string; readonly tool: string };

export interface Detector {
  observe(event: TelemetryEvent): readonly Anomaly[];
  /** Returns the profiles by principal, the one that was active last at the end. */
  profiles(): Iterable<readonly [string, Profile]>;
}

const MAX_PRINCIPALS = 200;
const MAX_TOOLS = 100;
/** The same burst of the same principal is reported once in this time. */
const QUIET_MS = HOUR_MS;

/** Takes ownership of the profiles in `start`. */
export function createDetector(start: Iterable<readonly [string, Profile]> = []): Detector {
  const profiles = createRecent<string, Profile>(MAX_PRINCIPALS);
  for (const [principal, profile] of start) profiles.set(principal, profile);
  return {
    profiles: () => profiles.entries(),
    observe(event) {
      if (event.kind === "commit") return [];
      const { principal, endedAt } = event;
      const profile = profiles.getOr(principal, createProfile);
      enterMinute(profile, Math.floor(endedAt / WINDOW_MS));
      const bursts = addCounts(profile, event).filter((measure) => mayReport(profile, measure, endedAt));
      const found = bursts.map((measure) => describeBurst(principal, profile, measure));
      const tool = event.kind === "call" ? destructiveToolOf(event) : undefined;
      if (tool === undefined || !isNew(profile, tool)) return found;
      return [...found, { kind: "firstUse", principal, tool }];
    },
  };
}

/** Ignores a clock that was set back. */
function enterMinute(profile: Profile, minute: number): void {
  if (minute <= profile.minute) return;
  if (profile.counts.requests > 0) profile.baseline = learn(profile.baseline, profile.counts);
  profile.minute = minute;
  profile.counts = NO_COUNTS;
}

/** Counts the event and returns the measures above their limits. */
function addCounts(profile: Profile, event: Exclude<TelemetryEvent, { kind: "commit" }>): readonly MeasureName[] {
  const isFailure = event.kind === "call" ? event.outcome !== "ok" : event.state === "failed";
  const outputBytes = event.kind === "call" ? 0 : event.stats.outputBytes;
  const more: Counts = { requests: 1, failures: isFailure ? 1 : 0, outputBytes };
  const { counts } = profile;
  profile.counts = forEachMeasure((measure) => counts[measure] + more[measure]);
  return MEASURES.filter((measure) => profile.counts[measure] > limitOf(profile.baseline, measure));
}

function mayReport(profile: Profile, measure: MeasureName, now: Instant): boolean {
  const last = profile.reportedAt.get(measure);
  if (last !== undefined && now - last < QUIET_MS) return false;
  profile.reportedAt.set(measure, now);
  return true;
}

function describeBurst(principal: string, { counts, baseline }: Profile, measure: MeasureName): Anomaly {
  const usual = Math.round(baseline.usual[measure].mean);
  const limit = Math.round(limitOf(baseline, measure));
  return { kind: "burst", principal, measure, measured: counts[measure], usual, limit };
}

/** Returns the address of a destructive tool that was really called. */
function destructiveToolOf({ tool, outcome, code }: CallTelemetry): string | undefined {
  if (tool?.effect !== "destroy" || outcome === "denied" || outcome === "pending") return undefined;
  return code === "LIMIT_QUOTA" ? undefined : tool.address;
}

function isNew({ tools }: Profile, tool: string): boolean {
  if (tools.has(tool)) return false;
  tools.add(tool);
  const [oldest] = tools;
  if (tools.size > MAX_TOOLS && oldest !== undefined) tools.delete(oldest);
  return true;
}

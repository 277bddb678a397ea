/** Compares what principals do with what each of them usually does. It has no clock: events carry their time. */

import type { Instant } from "../../domain/index.ts";
import type { CallTelemetry, TelemetryEvent } from "../event.ts";
import { MEASURES, WINDOW_MS, learn, limitOf } from "./baseline.ts";
import type { Counts, MeasureName } from "./baseline.ts";
import { createProfile } from "./profile.ts";
import type { Profile } from "./profile.ts";

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
  /** By principal, the one that was active last at the end. */
  readonly profiles: ReadonlyMap<string, Profile>;
}

const MOST_PRINCIPALS = 200;
const MOST_TOOLS = 100;
/** The same burst of the same principal is told once in this time. */
const QUIET_MS = 3_600_000;

/** Goes on from `start`, which is its own from now on. */
export function createDetector(start: Iterable<readonly [string, Profile]> = []): Detector {
  const profiles = new Map(start);
  const find = (principal: string): Profile => {
    const profile = profiles.get(principal) ?? createProfile();
    profiles.delete(principal);
    profiles.set(principal, profile);
    const [oldest] = profiles.keys();
    if (profiles.size > MOST_PRINCIPALS && oldest !== undefined) profiles.delete(oldest);
    return profile;
  };
  return {
    profiles,
    observe(event) {
      if (event.kind === "commit") return [];
      const { principal, endedAt } = event;
      const profile = find(principal);
      enterMinute(profile, Math.floor(endedAt / WINDOW_MS));
      const bursts = addCounts(profile, toCounts(event)).filter((measure) => mayTell(profile, measure, endedAt));
      const found = bursts.map((measure) => describeBurst(principal, profile, measure));
      const tool = event.kind === "call" ? destructiveToolOf(event) : undefined;
      if (tool === undefined || !isNew(profile, tool)) return found;
      return [...found, { kind: "firstUse", principal, tool }];
    },
  };
}

/** A clock that was set back goes on in the minute that it was in. */
function enterMinute(profile: Profile, minute: number): void {
  if (minute <= profile.minute) return;
  if (profile.counts.requests > 0) profile.baseline = learn(profile.baseline, profile.counts);
  profile.minute = minute;
  profile.counts = { requests: 0, failures: 0, outputBytes: 0 };
}

function toCounts(event: Exclude<TelemetryEvent, { kind: "commit" }>): Counts {
  const isFailure = event.kind === "call" ? event.outcome !== "ok" : event.state === "failed";
  const outputBytes = event.kind === "call" ? 0 : event.stats.outputBytes;
  return { requests: 1, failures: isFailure ? 1 : 0, outputBytes };
}

/** Answers which measures are beyond their limits now. */
function addCounts(profile: Profile, more: Counts): readonly MeasureName[] {
  const { counts } = profile;
  profile.counts = {
    requests: counts.requests + more.requests,
    failures: counts.failures + more.failures,
    outputBytes: counts.outputBytes + more.outputBytes,
  };
  return MEASURES.filter((measure) => profile.counts[measure] > limitOf(profile.baseline, measure));
}

function mayTell(profile: Profile, measure: MeasureName, now: Instant): boolean {
  const last = profile.toldAt.get(measure);
  if (last !== undefined && now - last < QUIET_MS) return false;
  profile.toldAt.set(measure, now);
  return true;
}

function describeBurst(principal: string, { counts, baseline }: Profile, measure: MeasureName): Anomaly {
  const usual = Math.round(baseline.usual[measure].mean);
  const limit = Math.round(limitOf(baseline, measure));
  return { kind: "burst", principal, measure, measured: counts[measure], usual, limit };
}

/** The address, when a tool that destroys was really called: what was refused never reached it. */
function destructiveToolOf({ tool, outcome, code }: CallTelemetry): string | undefined {
  if (tool?.effect !== "destroy" || outcome === "denied" || outcome === "pending") return undefined;
  return code === "LIMIT_QUOTA" ? undefined : tool.address;
}

function isNew({ tools }: Profile, tool: string): boolean {
  if (tools.has(tool)) return false;
  tools.add(tool);
  const [oldest] = tools;
  if (tools.size > MOST_TOOLS && oldest !== undefined) tools.delete(oldest);
  return true;
}

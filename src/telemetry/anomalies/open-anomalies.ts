/** Listens for what is unusual, writes it into the ledger, and remembers what is usual over restarts. */

import type { Ledger } from "../../ledger/index.ts";
import { isJsonObject } from "../../domain/index.ts";
import type { Instant, Json, JsonObject } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import type { Feed } from "../feed.ts";
import { WINDOW_MS } from "./baseline.ts";
import { createDetector } from "./detector.ts";
import type { Anomaly, Detector } from "./detector.ts";
import { createProfile, parseProfilesText, toProfilesText } from "./profile.ts";
import type { Profile } from "./profile.ts";

export interface AnomaliesOptions {
  readonly feed: Feed;
  readonly store: Pick<Store, "meta" | "ledger">;
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  /** Hears that a record was written. Must not throw. */
  readonly onSeen: () => void;
  /** Hears of a record or a memory that could not be written; watching goes on. */
  readonly report: (thrown: unknown) => unknown;
}

export interface Anomalies extends AsyncDisposable {
  /** Since the start. */
  readonly seen: number;
}

/** The action of every record that this room writes. */
export const ANOMALY_SEEN = "anomaly.seen";

const MEMORY = "anomalies";
const SAVE_MS = 10_000;
const HOUR_MS = 3_600_000;
/** Records in an hour, of all principals together; what goes beyond is counted in the next one. */
const MOST_PER_HOUR = 20;
/** How many past records teach which destructive tools are in use, when there is no memory yet. */
const PAST_RECORDS = 5_000;

/** Reads what was learned before. Disposing it writes down what it still knows. */
export async function openAnomalies(options: AnomaliesOptions): Promise<Anomalies> {
  const { feed, store, ledger, now, onSeen, report } = options;
  const kept = await store.meta.get(MEMORY);
  const detector = createDetector(kept === undefined ? await readPast(store) : parseProfilesText(kept));
  const pace = createPace(now);
  const writes = new Set<Promise<unknown>>();
  let seen = 0;
  const follow = (work: Promise<unknown>): void => {
    const done = work.catch(report).finally(() => writes.delete(done));
    writes.add(done);
  };
  const { save, stop } = keepMemory(store, detector, follow);
  const tell = async (anomaly: Anomaly): Promise<void> => {
    const suppressed = pace.take();
    if (suppressed === undefined) return;
    seen += 1;
    const { principal: subject } = anomaly;
    const detail = { ...toDetail(anomaly), ...(suppressed > 0 && { suppressed }) };
    await ledger.write({ actor: "gateway", action: ANOMALY_SEEN, subject, detail });
    onSeen();
  };
  const forget = feed.listen((event) => {
    const found = detector.observe(event);
    for (const anomaly of found) follow(tell(anomaly));
    if (found.length > 0) save();
  });
  return {
    get seen() {
      return seen;
    },
    async [Symbol.asyncDispose]() {
      feed.drain();
      forget();
      stop();
      save();
      await Promise.all(writes);
    },
  };
}

/** At once for what must not be told twice, and every few seconds for the rest. */
function keepMemory({ meta }: Pick<Store, "meta">, detector: Detector, follow: (work: Promise<unknown>) => void) {
  let saved = "";
  const save = (): void => {
    const text = toProfilesText(detector.profiles);
    if (text === saved) return;
    saved = text;
    follow(meta.set(MEMORY, text));
  };
  const timer = setInterval(save, SAVE_MS);
  timer.unref();
  return { save, stop: () => clearInterval(timer) };
}

/** Answers how many were held back since the last that was let through, or `undefined` for one that is held back. */
function createPace(now: () => Instant): { take(): number | undefined } {
  let passed: Instant[] = [];
  let suppressed = 0;
  return {
    take() {
      passed = passed.filter((at) => now() - at < HOUR_MS);
      if (passed.length >= MOST_PER_HOUR) {
        suppressed += 1;
        return undefined;
      }
      passed.push(now());
      const before = suppressed;
      suppressed = 0;
      return before;
    },
  };
}

function toDetail(anomaly: Anomaly): JsonObject {
  switch (anomaly.kind) {
    case "burst": {
      const { kind, measure, measured, usual, limit } = anomaly;
      return { kind, measure, measured, usual, limit, windowMs: WINDOW_MS };
    }
    case "firstUse":
      return { kind: anomaly.kind, tool: anomaly.tool };
    default:
      return anomaly satisfies never;
  }
}

/** Turned on for the first time, it does not call everything new that has been in use for months. */
async function readPast({ ledger }: Pick<Store, "ledger">): Promise<ReadonlyMap<string, Profile>> {
  const profiles = new Map<string, Profile>();
  const last = (await ledger.last())?.seq ?? 0;
  const records = await ledger.read({ from: Math.max(1, last - PAST_RECORDS + 1), limit: PAST_RECORDS });
  for (const { actor, action, subject, detail } of records) {
    if (action !== "call.intended" || !isAllowedDestruction(detail)) continue;
    const profile = profiles.get(actor) ?? createProfile();
    profile.tools.add(subject);
    profiles.set(actor, profile);
  }
  return profiles;
}

function isAllowedDestruction(detailText: string): boolean {
  const detail = parseDetail(detailText);
  return isJsonObject(detail) && detail["effect"] === "destroy" && detail["decision"] === "allow";
}

function parseDetail(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

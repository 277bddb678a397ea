/** Detects anomalies, records them in the ledger, and stores the baselines across restarts. */

import { parseDetail } from "../../ledger/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { HOUR_MS, SECOND_MS, pollEvery } from "../../timing/index.ts";
import { defined } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import type { Feed } from "../feed.ts";
import { createDetector } from "./detector.ts";
import type { Anomaly } from "./detector.ts";
import { WINDOW_MS, createProfile, parseProfilesText, toProfilesText } from "./profile.ts";
import type { Profile } from "./profile.ts";

export interface AnomaliesOptions {
  readonly feed: Feed;
  readonly store: Pick<Store, "meta" | "ledger">;
  readonly ledger: Pick<Ledger, "write">;
  readonly now: () => Instant;
  /** Called after an anomaly was recorded. Must not throw. */
  readonly onSeen: () => void;
  /** Called with the error of a record or baseline that could not be written. */
  readonly report: (thrown: unknown) => unknown;
}

export interface Anomalies extends AsyncDisposable {
  /** The number of anomalies since the start. */
  readonly seen: number;
}

/** The action of every record about an anomaly. */
export const ANOMALY_SEEN = "anomaly.seen";

const BASELINES = "anomalies";
const SAVE_MS = 10 * SECOND_MS;
/** The maximum number of records per hour of all principals. The next record counts the suppressed ones. */
const MAX_PER_HOUR = 20;
/** How many past records are read for the destructive tools in use if no baselines are stored. */
const PAST_RECORDS = 5_000;

/** Loads the baselines, saves them at once after a report and every few seconds otherwise. Disposing it stores them. */
export async function openAnomalies(options: AnomaliesOptions): Promise<Anomalies> {
  const { feed, store, ledger, now, onSeen, report } = options;
  const stored = await store.meta.get(BASELINES);
  const detector = createDetector(stored === undefined ? await readPast(store) : parseProfilesText(stored));
  const takeTurn = createRateLimit(now);
  const writes = new Set<Promise<unknown>>();
  let saved = "";
  const follow = (work: Promise<unknown>): void => {
    const done = work.catch(report).finally(() => writes.delete(done));
    writes.add(done);
  };
  const save = (): void => {
    const text = toProfilesText(detector.profiles());
    if (text === saved) return;
    saved = text;
    follow(store.meta.set(BASELINES, text));
  };
  const record = async ({ principal: subject, ...anomaly }: Anomaly): Promise<void> => {
    const suppressed = takeTurn();
    if (suppressed === undefined) return;
    anomalies.seen += 1;
    const windowMs = anomaly.kind === "burst" ? WINDOW_MS : undefined;
    const detail = defined({ ...anomaly, windowMs, suppressed: suppressed || undefined });
    await ledger.write({ actor: "gateway", action: ANOMALY_SEEN, subject, detail });
    onSeen();
  };
  const polling = pollEvery(SAVE_MS, async () => save());
  const forget = feed.listen((event) => {
    const found = detector.observe(event);
    for (const anomaly of found) follow(record(anomaly));
    if (found.length > 0) save();
  });
  const anomalies = {
    seen: 0,
    async [Symbol.asyncDispose]() {
      feed.drain();
      forget();
      await polling[Symbol.asyncDispose]();
      save();
      await Promise.all(writes);
    },
  };
  return anomalies;
}

/** Returns the number suppressed since the last record, or `undefined` if this one is suppressed. */
function createRateLimit(now: () => Instant): () => number | undefined {
  let passed: Instant[] = [];
  let suppressed = 0;
  return () => {
    passed = passed.filter((at) => now() - at < HOUR_MS);
    if (passed.length >= MAX_PER_HOUR) {
      suppressed += 1;
      return undefined;
    }
    passed.push(now());
    const before = suppressed;
    suppressed = 0;
    return before;
  };
}

/** When first turned on, learns from the ledger which destructive tools have been in use. */
async function readPast({ ledger }: Pick<Store, "ledger">): Promise<ReadonlyMap<string, Profile>> {
  const profiles = new Map<string, Profile>();
  const last = (await ledger.last())?.seq ?? 0;
  const records = await ledger.read({ from: Math.max(1, last - PAST_RECORDS + 1), limit: PAST_RECORDS });
  for (const { actor, action, subject, detail } of records) {
    if (action !== "call.intended") continue;
    const { effect, decision } = parseDetail(detail);
    if (effect !== "destroy" || decision !== "allow") continue;
    const profile = profiles.get(actor) ?? createProfile();
    profile.tools.add(subject);
    profiles.set(actor, profile);
  }
  return profiles;
}

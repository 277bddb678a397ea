/** Counters of quotas. Each take is one transaction, so that processes with the same file share the counts. */

import type { Instant } from "../../../domain/index.ts";
import type { PlaceClaim, QuotaClaim, QuotaOutcome, QuotaStore, TakenUnits, WindowClaim } from "../../quotas.ts";

import type { Connection } from "../connection.ts";
import { createReservations } from "./reservations.ts";
import { integerOf } from "../row.ts";

interface Window {
  readonly startedAt: Instant;
  readonly used: number;
}

export function createQuotas(connection: Connection): QuotaStore {
  const { database, commit } = connection;
  const { reserve, ...reservations } = createReservations(connection);
  const find = database.prepare("SELECT started_at, used FROM quota_windows WHERE key = ?");
  const put = database.prepare("INSERT OR REPLACE INTO quota_windows VALUES (?, ?, ?)");
  const expire = database.prepare("DELETE FROM quota_places WHERE until <= ?");
  const places = database.prepare("SELECT COUNT(*) AS used, MIN(until) AS until FROM quota_places WHERE key = ?");
  const enter = database.prepare("INSERT INTO quota_places VALUES (?, ?, ?)");

  const windowOf = ({ key, windowMs }: WindowClaim, now: Instant): Window => {
    const row = find.get(key);
    if (!row) return { startedAt: now, used: 0 };
    const [startedAt, used] = [integerOf(row, "started_at"), integerOf(row, "used")];
    if (now >= startedAt + windowMs) return { startedAt: now, used: 0 };
    if (now >= startedAt) return { startedAt, used };
    // The clock was set back: used units stay used, and the window ends at most one length from now.
    put.run(key, now, used);
    return { startedAt: now, used };
  };
  const findFull = (claim: QuotaClaim, now: Instant): QuotaOutcome | undefined => {
    if (claim.kind === "place") {
      const row = places.get(claim.key) ?? {};
      const used = integerOf(row, "used");
      return used < claim.limit ? undefined : { kind: "full", claim, used, freeAt: integerOf(row, "until") };
    }
    const { startedAt, used } = windowOf(claim, now);
    const isShort = claim.limit - used < claim.least;
    return isShort ? { kind: "full", claim, used, freeAt: startedAt + claim.windowMs } : undefined;
  };
  const takeWindow = (claim: WindowClaim, now: Instant): TakenUnits => {
    const { startedAt, used } = windowOf(claim, now);
    const amount = Math.min(claim.amount, claim.limit - used);
    put.run(claim.key, startedAt, used + amount);
    const units = { key: claim.key, startedAt, amount };
    if (claim.holder !== undefined) reserve(claim.holder, units, now);
    return units;
  };
  const takePlace = ({ key, holder, until }: PlaceClaim): void => void enter.run(key, holder, until);

  return {
    take: (claims, now) =>
      commit((): QuotaOutcome => {
        if (claims.some(({ kind }) => kind === "place")) expire.run(now);
        for (const claim of claims) {
          const full = findFull(claim, now);
          if (full) return full;
        }
        for (const claim of claims) if (claim.kind === "place") takePlace(claim);
        const windows = claims.filter((claim) => claim.kind === "window");
        return { kind: "taken", units: windows.map((claim) => takeWindow(claim, now)) };
      }),
    ...reservations,
  };
}

/** Counters of quotas. Each take is one transaction, so that processes with the same file share the counts. */

import type { Instant } from "../../../domain/index.ts";
import type { QuotaClaim, QuotaOutcome, QuotaStore, TakenUnits, WindowClaim } from "../../quotas.ts";
import { integer, nullable, readColumn, text } from "../../row.ts";
import type { RawRow } from "../../row.ts";

import type { Connection } from "../connection.ts";

/** Sorts after every key of a family. */
const LAST_CHARACTER = "\u{10FFFF}";

export function createQuotas(connection: Connection): QuotaStore {
  const { database, commit } = connection;
  const { reserve, ...reservations } = createReservations(connection);
  const find = database.prepare("SELECT started_at, used FROM quota_windows WHERE key = ?");
  const forget = database.prepare("DELETE FROM quota_windows WHERE key > ? AND key < ? AND started_at <= ?");
  const put = database.prepare("INSERT OR REPLACE INTO quota_windows VALUES (?, ?, ?)");
  const expire = database.prepare("DELETE FROM quota_places WHERE until <= ?");
  const places = database.prepare("SELECT COUNT(*) AS used, MIN(until) AS until FROM quota_places WHERE key = ?");
  const enter = database.prepare("INSERT INTO quota_places VALUES (?, ?, ?)");

  const windowOf = ({ key, windowMs }: WindowClaim, now: Instant) => {
    const row = find.get(key);
    if (!row) return { startedAt: now, used: 0 };
    const [startedAt, used] = [readColumn(row, "started_at", integer), readColumn(row, "used", integer)];
    if (now >= startedAt + windowMs) return { startedAt: now, used: 0 };
    if (now >= startedAt) return { startedAt, used };
    // The clock was set back: used units stay used, and the window ends at most one length from now.
    put.run(key, now, used);
    return { startedAt: now, used };
  };
  const findFull = (claim: QuotaClaim, now: Instant): QuotaOutcome | undefined => {
    if (claim.kind === "place") {
      const row = places.get(claim.key);
      const used = readColumn(row, "used", integer);
      return used < claim.limit ? undefined : { kind: "full", claim, used, freeAt: readColumn(row, "until", integer) };
    }
    const { startedAt, used } = windowOf(claim, now);
    const isShort = claim.limit - used < claim.least;
    return isShort ? { kind: "full", claim, used, freeAt: startedAt + claim.windowMs } : undefined;
  };
  const takeWindow = (claim: WindowClaim, now: Instant): TakenUnits => {
    // A new session pays for those that have ended: otherwise their counters would fill the store.
    if (claim.family !== undefined && !find.get(claim.key))
      forget.run(claim.family, `${claim.family}${LAST_CHARACTER}`, now - claim.windowMs);
    const { startedAt, used } = windowOf(claim, now);
    const amount = Math.min(claim.amount, claim.limit - used);
    put.run(claim.key, startedAt, used + amount);
    const units = { key: claim.key, startedAt, amount };
    if (claim.holder !== undefined) reserve(claim.holder, units, now);
    return units;
  };

  return {
    list: createList(connection),
    take: (claims, now) =>
      commit((): QuotaOutcome => {
        if (claims.some(({ kind }) => kind === "place")) expire.run(now);
        for (const claim of claims) {
          const full = findFull(claim, now);
          if (full) return full;
        }
        for (const claim of claims) if (claim.kind === "place") enter.run(claim.key, claim.holder, claim.until);
        const windows = claims.filter((claim) => claim.kind === "window");
        return { kind: "taken", units: windows.map((claim) => takeWindow(claim, now)) };
      }),
    ...reservations,
  };
}

function createList({ database, read }: Connection): QuotaStore["list"] {
  const windows = database.prepare("SELECT key, started_at, used FROM quota_windows ORDER BY started_at DESC LIMIT ?");
  const places = database.prepare("SELECT key, COUNT(*) AS used FROM quota_places GROUP BY key LIMIT ?");
  const toCount = (row: RawRow) => ({
    key: readColumn(row, "key", text),
    used: readColumn(row, "used", integer),
  });
  return (limit) =>
    read(() => [
      ...windows.all(limit).map((row) => ({ ...toCount(row), startedAt: readColumn(row, "started_at", integer) })),
      ...places.all(limit).map(toCount),
    ]);
}

/** Returns units only to the window that they came from. */
const GIVE_BACK = `UPDATE quota_windows SET used = MAX(0, used - MAX(0, held.amount - $used))
  FROM quota_reservations AS held WHERE held.holder = $holder
  AND held.key = quota_windows.key AND held.started_at = quota_windows.started_at`;
const SEE = "UPDATE quota_reservations SET seen_at = $now WHERE holder IN (SELECT value FROM json_each($holders))";

interface Reservations extends Omit<QuotaStore, "list" | "take"> {
  /** Call it in the transaction that takes. What the holder held before of that window counts as used. */
  readonly reserve: (holder: string, units: TakenUnits, now: Instant) => void;
}

/** Units that running executions hold: each row is returned once, by the process that deletes it. */
function createReservations({ database, read, commit }: Connection): Reservations {
  const reserve = database.prepare("INSERT OR REPLACE INTO quota_reservations VALUES (?, ?, ?, ?, ?, ?)");
  const giveBack = database.prepare(GIVE_BACK);
  const release = database.prepare("DELETE FROM quota_reservations WHERE holder = ?");
  const leave = database.prepare("DELETE FROM quota_places WHERE lease = ?");
  const see = database.prepare(SEE);
  const heldFor = database.prepare("SELECT MAX(seen_at - taken_at) AS held FROM quota_reservations WHERE holder = ?");
  const restoreHold = database.prepare("UPDATE quota_reservations SET taken_at = ?, seen_at = ? WHERE holder = ?");

  return {
    reserve: (holder, { key, startedAt, amount }, now) => void reserve.run(holder, key, startedAt, amount, now, now),
    giveBack: (holder, used) =>
      commit(() => {
        giveBack.run({ holder, used });
        release.run(holder);
        leave.run(holder);
      }),
    noteHeld: (holders, now) => commit(() => void see.run({ now, holders: JSON.stringify(holders) })),
    heldFor: (holder) =>
      read(() => {
        const heldMs = readColumn(heldFor.get(holder), "held", nullable(integer));
        return heldMs === null ? undefined : Math.max(0, heldMs);
      }),
    restoreHold: (holder, heldMs, now) => commit(() => void restoreHold.run(now - heldMs, now, holder)),
  };
}

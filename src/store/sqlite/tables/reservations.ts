/** Units that running executions hold: each row is returned once, by the process that deletes it. */

import type { Instant } from "../../../domain/index.ts";
import type { QuotaStore, TakenUnits } from "../../quotas.ts";

import type { Connection } from "../connection.ts";
import { integerOf } from "../row.ts";

/** Returns units only to the window that they came from. */
const GIVE_BACK = `UPDATE quota_windows SET used = MAX(0, used - MAX(0, held.amount - $used))
  FROM quota_reservations AS held WHERE held.holder = $holder
  AND held.key = quota_windows.key AND held.started_at = quota_windows.started_at`;
const SEE = "UPDATE quota_reservations SET seen_at = $now WHERE holder IN (SELECT value FROM json_each($holders))";

export interface Reservations extends Pick<QuotaStore, "giveBack" | "noteHeld" | "heldFor" | "restoreHold"> {
  /** Call it in the transaction that takes. What the holder held before of that window counts as used. */
  readonly reserve: (holder: string, units: TakenUnits, now: Instant) => void;
}

export function createReservations({ database, read, commit }: Connection): Reservations {
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
        const row = heldFor.get(holder) ?? {};
        return row["held"] === null ? undefined : Math.max(0, integerOf(row, "held"));
      }),
    restoreHold: (holder, heldMs, now) => commit(() => void restoreHold.run(now - heldMs, now, holder)),
  };
}

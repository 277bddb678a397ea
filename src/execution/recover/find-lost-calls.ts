/** Compares what the ledger says that left with what the journal says that was answered. */

import type { Recording } from "../journal/events.ts";
import type { LedgerCall } from "./read-trail.ts";

/**
 * Calls that left, or may have, and whose answer is in no journal: to make them again could change something twice.
 * Reads, and what its server calls repeatable, are not among them.
 */
export function findLostCalls(calls: readonly LedgerCall[], recording: Recording): readonly LedgerCall[] {
  const isSafe = ({ effect, isRepeatable, decision, outcome, dryRun }: LedgerCall): boolean =>
    dryRun === true || effect === "read" || isRepeatable || decision !== "allow" || outcome === "denied";
  return unanswered(calls, recording).filter((call) => !isSafe(call));
}

/** For one that was put away: everything that ended was given to it, and kept, before that. */
export function findMissingCalls(calls: readonly LedgerCall[], recording: Recording): readonly LedgerCall[] {
  return unanswered(calls, recording).filter(({ hasEnd }) => hasEnd);
}

function unanswered(calls: readonly LedgerCall[], { deliveries }: Recording): readonly LedgerCall[] {
  const answered = new Set(deliveries.map(({ call }) => call?.record.seq));
  return calls.filter(({ seq }) => !answered.has(seq));
}

/** Compares what the ledger says that left with what the journal says that was answered. */

import type { ExecutionId } from "../domain/index.ts";

import type { Recording } from "./journal/events.ts";
import { readCalls } from "./recover.ts";
import type { KnownCall, RecoverRooms } from "./recover.ts";

/**
 * Calls that left, or may have, and whose answer is in no journal: to make them again could change something twice.
 * Reads, and what its server calls repeatable, are not among them.
 */
export async function findLost(
  id: ExecutionId,
  recording: Recording,
  rooms: Pick<RecoverRooms, "store">,
): Promise<readonly KnownCall[]> {
  const answered = new Set(recording.given.map(({ call }) => call?.record.seq));
  const isSafe = ({ effect, isRepeatable, decision, outcome, dryRun }: KnownCall): boolean =>
    dryRun === true || effect === "read" || isRepeatable || decision !== "allow" || outcome === "denied";
  return (await readCalls(id, rooms)).filter((call) => !isSafe(call) && !answered.has(call.seq));
}

/** For one that was put away: everything that ended was given to it, and kept, before that. */
export async function findMissing(
  id: ExecutionId,
  recording: Recording,
  rooms: Pick<RecoverRooms, "store">,
): Promise<readonly KnownCall[]> {
  const answered = new Set(recording.given.map(({ call }) => call?.record.seq));
  return (await readCalls(id, rooms)).filter(({ seq, hasEnd }) => hasEnd && !answered.has(seq));
}

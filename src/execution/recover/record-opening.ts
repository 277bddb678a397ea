/** Gives an execution its first record whose process was killed between the store and the ledger. */

import type { Execution } from "../../domain/index.ts";
import type { JournaledRequest } from "../journal/events.ts";
import type { Journals } from "../journal/open-journals.ts";
import type { Trail } from "./read-trail.ts";

export interface OpeningDeps {
  readonly journals: Pick<Journals, "read">;
  /** Writes down that it was opened, and that this comes late. */
  recordOpening(execution: Execution, request: Pick<JournaledRequest, "dryRun">): Promise<unknown>; // audit
}

/** Whoever goes on with it or ends it calls this first: nothing of it left before it was opened in the ledger, and nothing will. */
export async function recordOpeningOnce(
  execution: Execution,
  { isOpened }: Pick<Trail, "isOpened">,
  rooms: OpeningDeps,
): Promise<void> {
  if (isOpened) return;
  const recording = await rooms.journals.read(execution.id).catch(() => undefined);
  await rooms.recordOpening(execution, recording?.request ?? {});
}

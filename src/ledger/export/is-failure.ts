/** Tells the records that somebody should look at from the usual ones. */

import { isJsonObject } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";

const ACTIONS: ReadonlySet<unknown> = new Set(["ledger.suspect", "secret.refused", "tool.held", "upstream.failed"]);
const OUTCOMES: ReadonlySet<unknown> = new Set(["error", "failed", "deny", "denied", "suspended"]);

/** For the severity that a log system wants to have. */
export function isFailure({ action, detail }: JsonObject): boolean {
  if (ACTIONS.has(action)) return true;
  return isJsonObject(detail) && ["outcome", "state", "decision"].some((name) => OUTCOMES.has(detail[name]));
}

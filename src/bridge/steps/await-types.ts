/**
 * The step that holds a call back while the program's types are still checked. Only what reads and needs no
 * approval may leave before the verdict. A request of the program's own `fetch` may not, whatever its method is: it can
 * lend a secret, and no server has declared that it only reads.
 */

import { untilAborted } from "../../timing/index.ts";

import type { Crossing } from "../crossing.ts";

/** Rejects with PROGRAM_TYPES if the program is wrong, and with the reason of `signal` if it ends first. */
export function awaitTypes(crossing: Crossing): Promise<void> | undefined {
  const { signal, whenChecked } = crossing.bridge.options;
  const checked = whenChecked && !isFree(crossing) ? whenChecked() : undefined;
  return checked && untilAborted(checked, signal);
}

/** A builtin that rules apply to is more than a read of what the product itself offers. */
function isFree({ verdict, target }: Crossing): boolean {
  const isJudged = target.answer !== undefined && target.judge !== undefined;
  return verdict.isPlainRead && !isJudged;
}

/**
 * The input requests that a program waits for in memory. It runs meanwhile, so its client is told of them by the answer to
 * a request: the state is `running`, with the questions.
 */

import type { Approval, ApprovalId } from "../domain/index.ts";

export type InputWaits = ReturnType<typeof createInputWaits>;

/** `cover` hides secrets in what is listed. */
export function createInputWaits(cover: (approval: Approval) => Approval) {
  const open = new Map<ApprovalId, Approval>();
  let due = new AbortController();
  return {
    /** Those that wait, the oldest first. */
    list: (): readonly Approval[] => [...open.values()],
    /** Fires when one waits that the client cannot show to its user, until all are settled. */
    due: (): AbortSignal => due.signal,
    /** Lists the request until `work` settles. It is due after `dueMs`; never if the client shows it to its user. */
    async during<Value>(approval: Approval, dueMs: number | undefined, work: () => Promise<Value>): Promise<Value> {
      open.set(approval.id, cover(approval));
      const timer = dueMs === undefined ? undefined : setTimeout(() => due.abort(), dueMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        open.delete(approval.id);
        if (open.size === 0 && due.signal.aborted) due = new AbortController();
      }
    },
  };
}

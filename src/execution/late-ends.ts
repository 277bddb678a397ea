/**
 * Ends of executions that the store refused, for example because the disk is full. They are kept in memory and written
 * when the store accepts them, so that a program that has run is neither lost nor run again.
 */

import { defined } from "../domain/index.ts";
import type { Execution, ExecutionId, ExecutionResult } from "../domain/index.ts";

import { MINUTE_MS, settlesWithin } from "../timing/index.ts";

import type { ExecutionDeps } from "./deps.ts";
import { describeEnd } from "./execution-log.ts";
import type { ExecutionLog } from "./execution-log.ts";
import { readTrail } from "./ledger-trail.ts";
import { isRefusal, untilWritten } from "./recover/until-written.ts";
import type { UntilWrittenOptions } from "./recover/until-written.ts";

interface LateEndDeps extends UntilWrittenOptions, Pick<ExecutionDeps, "ledger" | "log"> {
  readonly store: {
    readonly executions: Pick<ExecutionDeps["store"]["executions"], "close" | "findHead">;
    readonly ledger: ExecutionDeps["store"]["ledger"];
  };
  readonly now: ExecutionDeps["now"];
  /** How long `close` waits before it rejects. The end is still written later. */
  readonly waitMs?: number;
  /** Called when the end of a suspended execution was written late: a decision may have come before. */
  readonly onSuspended: (id: ExecutionId) => void;
}

/** Disposing waits for the last attempt to write each. */
interface LateEnds extends AsyncDisposable {
  /** The same log, but `close` of an end that is refused waits until it is written. */
  readonly log: ExecutionLog;
}

/** How many are kept at most, and their size in total. Others are recovered when this process has ended. */
const MOST_ENDS = 100;
const MOST_CHARS = 32 * 1024 * 1024;
/** Longer than clients wait for a result: they get the state `running` and the id, and ask again. */
const WAIT_MS = MINUTE_MS;

export function createLateEnds({ waitMs = WAIT_MS, ...deps }: LateEndDeps): LateEnds {
  const { log, onSuspended, report } = deps;
  const waiting = new Set<Promise<void>>();
  let chars = 0;

  const writeLater = (execution: Execution, result: ExecutionResult, size: number): Promise<void> => {
    const written = untilWritten(() => writeMissing(execution, result, deps), deps).finally(() => {
      chars -= size;
      waiting.delete(written);
    });
    chars += size;
    waiting.add(written);
    written.then(() => void (result.state === "paused" && onSuspended(execution.id)), report);
    return written;
  };
  return {
    log: {
      ...log,
      close: (execution, result) =>
        log.close(execution, result).catch(async (refusal: unknown) => {
          if (!isRefusal(refusal)) throw refusal;
          const size = JSON.stringify(result).length;
          if (waiting.size >= MOST_ENDS || chars + size > MOST_CHARS) throw refusal;
          const written = writeLater(execution, result, size);
          if (!(await settlesWithin(written, waitMs))) throw refusal;
          await written;
        }),
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(waiting);
    },
  };
}

/** The store and the ledger usually accept or refuse both; a power cut or a fault of the disk can separate them. */
async function writeMissing(execution: Execution, result: ExecutionResult, deps: LateEndDeps): Promise<void> {
  const { id, principal, owner } = execution;
  const { store, ledger, log, now } = deps;
  const { state, error } = result;
  const head = await store.executions.findHead(id);
  // It was dropped, or another process has recovered it.
  if (!head || head.owner !== owner) return;
  const { closing } = await readTrail(id, { store });
  if (!head.ending && !closing) return log.close(execution, result);
  const text = JSON.stringify(result);
  const ending = { endedAt: now(), state, result: text, ...defined({ errorCode: error?.code }) };
  if (!head.ending) await store.executions.close(id, ending);
  if (closing || state === "paused") return;
  const detail = { ...describeEnd(result, text), late: true };
  await ledger.write({ actor: principal, action: "execution.closed", subject: id, detail });
}

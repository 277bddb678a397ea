/**
 * The executions that this process runs now: who asked, what came of them so far, how to wait for their end and how to
 * bring it about.
 */

import type {
  CallRecord,
  ExecutionEvent,
  ExecutionId,
  ExecutionResult,
  LogLine,
  PrincipalId,
} from "../../domain/index.ts";

import { toCancelReason } from "./name-cancel.ts";

/** One that goes on. */
export interface RunningExecution {
  readonly principal: PrincipalId;
  readonly logs: readonly LogLine[];
  readonly calls: readonly CallRecord[];
  /** Rejects when the execution could not be recorded. */
  readonly ended: Promise<ExecutionResult>;
}

/** Who started it, who can stop it, and who perhaps watches it too. */
export interface Asker {
  readonly principal: PrincipalId;
  readonly signal: AbortSignal;
  readonly onEvent?: ((event: ExecutionEvent) => void) | undefined;
}

/** What the work is to tell, and what tells it to end. */
export interface Followed {
  readonly onEvent: (event: ExecutionEvent) => void;
  readonly signal: AbortSignal;
}

/** Work that is an execution, and how its result is told from what it comes to. */
export interface FollowedWork<Done> {
  readonly run: (followed: Followed) => Promise<Done>;
  readonly resultOf: (done: Done) => ExecutionResult | undefined;
}

export interface RunningTable {
  /** Runs the work and can be asked about it from the moment it is opened until it ends. */
  follow<Done>(asker: Asker, work: FollowedWork<Done>): Promise<Done>;
  find(id: ExecutionId): RunningExecution | undefined;
  /** Tells it to end, and by whom that was wanted; what does not run here hears nothing. */
  cancel(id: ExecutionId, by: string): void;
  isIdle(): boolean;
}

export function createRunningTable(): RunningTable {
  const running = new Map<ExecutionId, RunningExecution & { readonly own: AbortController }>();
  return {
    async follow({ principal, signal, onEvent: watch }, { run, resultOf }) {
      const logs: LogLine[] = [];
      const calls: CallRecord[] = [];
      const own = new AbortController();
      const { promise: ended, resolve, reject } = Promise.withResolvers<ExecutionResult>();
      ended.catch(() => undefined); // whoever started it sees the failure
      let id: ExecutionId | undefined;
      const onEvent = (event: ExecutionEvent): void => {
        if (event.kind === "opened") running.set((id = event.execution), { principal, logs, calls, ended, own });
        else if (event.kind === "log") logs.push(event.line);
        else if (event.kind === "answered") calls.push(event.record);
        watch?.(event);
      };
      try {
        const done = await run({ onEvent, signal: AbortSignal.any([signal, own.signal]) });
        const result = resultOf(done);
        if (result) resolve(result);
        return done;
      } catch (thrown) {
        reject(thrown);
        throw thrown;
      } finally {
        if (id !== undefined) running.delete(id);
      }
    },
    find: (id) => running.get(id),
    cancel: (id, by) => running.get(id)?.own.abort(toCancelReason(by)),
    isIdle: () => running.size === 0,
  };
}

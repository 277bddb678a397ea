/** The executions that this process runs now: who asked, what came of them so far, and how to wait for their end. */

import type {
  CallRecord,
  ExecutionEvent,
  ExecutionId,
  ExecutionResult,
  LogLine,
  PrincipalId,
} from "../domain/index.ts";

/** One that goes on. */
export interface RunningExecution {
  readonly principal: PrincipalId;
  readonly logs: readonly LogLine[];
  readonly calls: readonly CallRecord[];
  /** Rejects when the execution could not be recorded. */
  readonly ended: Promise<ExecutionResult>;
}

/** Who started it, and perhaps watches it too. */
export interface Asker {
  readonly principal: PrincipalId;
  readonly onEvent?: ((event: ExecutionEvent) => void) | undefined;
}

export interface Running {
  /** Runs `work` and can be asked about it from the moment it is opened until it ends. */
  follow<Result extends ExecutionResult | undefined>(
    asker: Asker,
    work: (onEvent: (event: ExecutionEvent) => void) => Promise<Result>,
  ): Promise<Result>;
  find(id: ExecutionId): RunningExecution | undefined;
}

export function followRunning(): Running {
  const running = new Map<ExecutionId, RunningExecution>();
  return {
    async follow({ principal, onEvent: watch }, work) {
      const logs: LogLine[] = [];
      const calls: CallRecord[] = [];
      const { promise: ended, resolve, reject } = Promise.withResolvers<ExecutionResult>();
      ended.catch(() => undefined); // whoever started it sees the failure
      let id: ExecutionId | undefined;
      const onEvent = (event: ExecutionEvent): void => {
        if (event.kind === "opened") running.set((id = event.execution), { principal, logs, calls, ended });
        else if (event.kind === "log") logs.push(event.line);
        else if (event.kind === "answered") calls.push(event.record);
        watch?.(event);
      };
      try {
        const result = await work(onEvent);
        if (result) resolve(result);
        return result;
      } catch (thrown) {
        reject(thrown);
        throw thrown;
      } finally {
        if (id !== undefined) running.delete(id);
      }
    },
    find: (id) => running.get(id),
  };
}

/** A past execution as it can be shown again: what its program was given, and how it ended. */

import { GloveboxError } from "../../domain/index.ts";
import type { Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import type { JournaledStart, Recording } from "../journal/events.ts";
import type { Journals } from "../journal/open-journals.ts";

/** A program that began, so that there is something to show. */
export type StartedRecording = Recording & { readonly started: JournaledStart };

export interface KeptExecution {
  readonly execution: Execution;
  readonly recording: StartedRecording;
  /** Left out when it has not ended. */
  readonly result?: ExecutionResult;
  /** True when secrets were taken out of what was given: arguments that depend on it may differ from the first time. */
  readonly isMasked: boolean;
}

export interface KeptDeps {
  readonly store: { readonly executions: Pick<Store["executions"], "find"> };
  readonly journals: Pick<Journals, "read">;
}

/** Throws `REQUEST_NOT_FOUND` for what does not exist or is not kept any more, `REQUEST_INVALID` for what never began. */
export async function findKept(id: ExecutionId, { store, journals }: KeptDeps): Promise<KeptExecution> {
  const stored = await store.executions.find(id);
  if (!stored) {
    throw new GloveboxError("REQUEST_NOT_FOUND", `There is no execution ${id}`, {
      hint: "Take the id from the result, or from `glovebox executions`",
    });
  }
  const recording = await journals.read(id);
  if (!recording?.isWhole) throw gone(id, recording);
  const { started } = recording;
  if (!started) throw neverBegan(stored);
  const { principal, source, startedAt, ending } = stored;
  const execution = { id, principal, source, startedAt };
  const result = ending && parseResult(ending.result);
  return { execution, recording: { ...recording, started }, ...(result && { result }), isMasked: false };
}

function gone(id: ExecutionId, recording: Recording | undefined): GloveboxError {
  const why = recording ? "was too much to keep (journal.executionBytes)" : "is not kept any more";
  return new GloveboxError("REQUEST_NOT_FOUND", `What the program of ${id} was given ${why}`, {
    hint: "journal.keepMs and journal.totalBytes say how long journals are kept; an export can be kept for ever",
  });
}

function neverBegan({ id, ending }: StoredExecution): GloveboxError {
  const why = ending?.errorCode === undefined ? "" : ` (${ending.errorCode})`;
  return new GloveboxError("REQUEST_INVALID", `${id} ran no program${why}, so there is nothing to show again`, {
    hint: "`glovebox executions show` tells how it ended",
  });
}

/** Written by `createExecutionLog`. */
function parseResult(text: string): ExecutionResult {
  return JSON.parse(text) as ExecutionResult;
}

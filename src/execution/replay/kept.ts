/** A past execution that can be replayed: its journal and its result. */

import { GloveboxError } from "../../domain/index.ts";
import type { Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { Store, StoredExecution } from "../../store/index.ts";

import type { Journals, JournaledStart, Recording } from "../journal.ts";
import { parseStoredResult } from "../journal-schema.ts";

/** The recording of a program that started. */
export type StartedRecording = Recording & { readonly started: JournaledStart };

export interface KeptExecution {
  readonly execution: Execution;
  readonly recording: StartedRecording;
  /** Absent while it has not ended. */
  readonly result?: ExecutionResult;
  /** True when secrets were removed from the deliveries: arguments that depend on them may differ. */
  readonly isMasked: boolean;
}

export interface KeptDeps {
  readonly store: { readonly executions: Pick<Store["executions"], "find"> };
  readonly journals: Pick<Journals, "read">;
}

/** Throws `REQUEST_NOT_FOUND` if it does not exist or its journal is gone, `REQUEST_INVALID` if no program started. */
export async function findKept(id: ExecutionId, { store, journals }: KeptDeps): Promise<KeptExecution> {
  const stored = await store.executions.find(id);
  if (!stored) {
    throw new GloveboxError("REQUEST_NOT_FOUND", `The execution ${id} does not exist`, {
      hint: "Use the id in a result, or run `glovebox executions`",
    });
  }
  const recording = await journals.read(id);
  if (!recording?.isWhole) throw gone(id, recording);
  const { started } = recording;
  if (!started) throw neverStarted(stored);
  const { principal, source, startedAt, ending } = stored;
  const execution = { id, principal, source, startedAt };
  const result = ending && parseStoredResult(id, ending.result);
  return { execution, recording: { ...recording, started }, ...(result && { result }), isMasked: false };
}

function gone(id: ExecutionId, recording: Recording | undefined): GloveboxError {
  const why = recording ? "was too large (journal.executionBytes)" : "is no longer kept";
  return new GloveboxError("REQUEST_NOT_FOUND", `The journal of ${id} ${why}`, {
    hint: "Raise journal.keepMs or journal.totalBytes, or keep an export of important executions",
  });
}

function neverStarted({ id, ending }: StoredExecution): GloveboxError {
  const why = ending?.errorCode === undefined ? "" : ` (${ending.errorCode})`;
  return new GloveboxError("REQUEST_INVALID", `${id} did not start a program${why}, so it cannot be replayed`, {
    hint: "Run `glovebox executions show` to see how it ended",
  });
}

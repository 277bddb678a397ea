/** A past execution that can be replayed: its journal and its result. */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Execution, ExecutionId, ExecutionResult } from "../../domain/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import type { Store } from "../../store/index.ts";

import type { Journals, JournaledStart, Recording } from "../journal.ts";
import { parseStoredResult } from "../journal-schema.ts";

export interface KeptExecution {
  readonly execution: Execution;
  /** Of a program that started. */
  readonly recording: Recording & { readonly started: JournaledStart };
  /** Absent while it has not ended. */
  readonly result?: ExecutionResult;
  /** True when secrets were removed from the deliveries: arguments that depend on them may differ. */
  readonly isMasked: boolean;
}

interface KeptDeps {
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
  const { principal, source, startedAt, ending } = stored;
  const recording = await journals.read(id);
  if (!recording?.isWhole) {
    const why = recording ? "was too large (journal.executionBytes)" : "is no longer kept";
    throw new GloveboxError("REQUEST_NOT_FOUND", `The journal of ${id} ${why}`, {
      hint: "Raise journal.keepMs or journal.totalBytes, or keep an export of important executions",
    });
  }
  const { started } = recording;
  if (!started) {
    const why = ending?.errorCode === undefined ? "" : ` (${ending.errorCode})`;
    throw new GloveboxError("REQUEST_INVALID", `${id} did not start a program${why}, so it cannot be replayed`, {
      hint: "Run `glovebox executions show` to see how it ended",
    });
  }
  const execution = { id, principal, source, startedAt };
  const result = ending ? parseStoredResult(id, ending.result) : undefined;
  return { execution, recording: { ...recording, started }, ...defined({ result }), isMasked: false };
}

/** Who looks at a recording, and what for. */
interface RecordingAccess {
  readonly actor: string;
  readonly action: "execution.exported" | "execution.replayed";
}

/** Finds a recording and writes to the ledger who looked, before it is returned. Throws as `findKept`. */
export async function findRecording(
  id: ExecutionId,
  { actor, action }: RecordingAccess,
  { ledger, ...deps }: KeptDeps & { readonly ledger: Pick<Ledger, "write"> },
): Promise<KeptExecution> {
  const kept = await findKept(id, deps);
  await ledger.write({ actor, action, subject: id, detail: { source: kept.execution.source } });
  return kept;
}

/** A finished execution as the example of a skill: what it called, what it was told and what it returned. */

import { GloveboxError, defined, parseJson } from "../../domain/index.ts";
import type { ChildKeeper, ExecutionId, Json, Namespace, PrincipalId } from "../../domain/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import type { Store } from "../../store/index.ts";
import { answersOf } from "../journal.ts";
import type { Journals } from "../journal.ts";
import { findRecording } from "./kept.ts";
import type { KeptExecution } from "./kept.ts";
import { showReplay } from "./show-replay.ts";
import type { ShowReplayOptions } from "./show-replay.ts";

export interface RecordedRun {
  readonly execution: ExecutionId;
  readonly principal: PrincipalId;
  readonly source: string;
  readonly input?: Json;
  /** What the program could call. */
  readonly namespaces: readonly Namespace[];
  /** In the order in which it made them. */
  readonly calls: readonly { readonly tool: string; readonly args: Json; readonly result: Json }[];
  readonly value: Json;
  /** Its seed and its clock. */
  readonly start: { readonly seed: readonly number[]; readonly atMs: number };
}

export interface RunReaderOptions extends Pick<ShowReplayOptions, "node" | "createSeed" | "report" | "hide"> {
  readonly openKeeper: () => ChildKeeper & AsyncDisposable;
  readonly sandbox: Pick<ShowReplayOptions, "isolation">;
  readonly analysis: Omit<ShowReplayOptions["analysis"], "timebox">;
  readonly timebox: NonNullable<ShowReplayOptions["analysis"]["timebox"]>;
  readonly openJournals: () => Promise<Pick<Journals, "read">>;
  readonly store: Pick<Store, "executions">;
  readonly ledger: Pick<Ledger, "write">;
  readonly now: ShowReplayOptions["now"];
}

/** Who reads a recording, which has everything that its program was told. */
interface RunAccess {
  /** Written to the ledger. */
  readonly actor: string;
  /** For this principal, other executions do not exist. */
  readonly owner?: PrincipalId;
}

export type ReadRun = (id: ExecutionId, access: RunAccess) => Promise<RecordedRun>;

/** Opens a sandbox for each recording, and nothing else. */
export function createRunReader({
  openKeeper,
  sandbox,
  openJournals,
  store,
  ledger,
  ...options
}: RunReaderOptions): ReadRun {
  return async (id, { actor, owner }) => {
    const head = await store.executions.findHead(id);
    if (owner !== undefined && head?.principal !== owner) throw unknown(id);
    const journals = await openJournals();
    const kept = await findRecording(id, { actor, action: "execution.replayed" }, { store, ledger, journals });
    checkUsable(kept);
    await using keeper = openKeeper();
    const analysis = { ...options.analysis, timebox: options.timebox };
    const signal = new AbortController().signal;
    const requests = new Map<number, string>();
    const request = { signal, onRequest: (seq: number, text: string) => requests.set(seq, text) };
    const { difference } = await showReplay(kept, request, { ...options, ...sandbox, analysis, keeper });
    if (difference !== undefined) throw refuse(kept, `cannot be repeated: ${difference}`);
    return toRun(kept, requests, options);
  };
}

/** Throws REQUEST_INVALID for an execution that cannot be repeated from its recording. */
function checkUsable(kept: KeptExecution): void {
  const { recording, result } = kept;
  if (result?.state !== "completed") throw refuse(kept, `is ${result?.state ?? "not over"}`);
  if (result.truncated) throw refuse(kept, "has a result that is too large for a test");
  if (recording.request.dryRun) throw refuse(kept, "was a dry run");
  if (recording.started.secrets) throw refuse(kept, "uses secrets");
  const own = result.calls.find(({ tool }) => tool.startsWith("glovebox."));
  if (own) throw refuse(kept, `calls ${own.tool}, which a test cannot answer`);
  const failed = result.calls.find(({ outcome, under }) => outcome !== "ok" && under === undefined);
  if (failed) throw refuse(kept, `has a failed call: ${failed.tool} (call ${failed.seq})`);
}

/** Throws REQUEST_INVALID for one that contains a secret. */
function toRun(
  kept: KeptExecution,
  requests: ReadonlyMap<number, string>,
  { hide }: Pick<RunReaderOptions, "hide">,
): RecordedRun {
  const { execution, recording, result } = kept;
  const { request, started, deliveries } = recording;
  const answers = [...answersOf(deliveries)].toSorted(([a], [b]) => a - b);
  const calls = answers.map(([seq, { delivery, call }]) => ({
    tool: call.record.tool,
    args: readArguments(requests.get(seq)),
    result: parseJson(delivery.text) ?? null,
  }));
  const run = { source: request.source, ...defined({ input: request.input }), calls, value: result?.value ?? null };
  const text = JSON.stringify(run);
  if (hide(text) !== text) throw refuse(kept, "contains the value of a secret");
  const { id, principal } = execution;
  return { ...run, execution: id, principal, namespaces: started.namespaces, start: started.start };
}

function unknown(id: ExecutionId): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", `The execution ${id} does not exist`, {
    hint: "Use the id in a result of execute",
  });
}

/** After the address. */
function readArguments(text = ""): Json {
  return parseJson(text.slice(text.indexOf("\n") + 1)) ?? {};
}

function refuse({ execution }: KeptExecution, problem: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `${execution.id} ${problem}, so it cannot become a skill`, {
    hint: "Use an execution that completed, whose calls all succeeded, and that returned a small result",
  });
}

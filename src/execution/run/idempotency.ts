/** Requests that a client may repeat: with the same key they are one execution, so no call takes effect twice. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Digest, ExecutionResult, ExecutionView, Limits, PrincipalId } from "../../domain/index.ts";
import type { KeyHolder, RequestKey } from "../../store/index.ts";
import { digestLarge } from "../../text/index.ts";
import { ownerOf, runInSlices } from "../../timing/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

import type { ExecutionLog, ExecutionOpening } from "../execution-log.ts";
import type { ExecutionRequest } from "../requests.ts";
import type { StartedExecution } from "../running-table.ts";
import type { Admission } from "./admit-request.ts";

/** Longer than the ids that clients use. */
const MAX_KEY_CHARS = 256;
const POLL_MS = 250;

export interface IdempotentRequest {
  readonly request: ExecutionRequest;
  readonly key: string;
  /** The limits that the client asked for; the operator's limits may change between two requests. */
  readonly wanted: Partial<Limits>;
  /** Asks whether it may be opened. Called when no execution holds the key, or one that did nothing. */
  readonly admit: () => Promise<Admission>;
  /** Runs the program. Called at most once for each request. */
  readonly start: (opening: ExecutionOpening, admission: Admitted) => StartedExecution;
}

type Admitted = Extract<Admission, { ok: true }>;

export interface IdempotencyDeps {
  findHolder(principal: PrincipalId, key: string): Promise<KeyHolder | undefined>;
  readonly log: Pick<ExecutionLog, "openOnce">;
  /** Waits for an execution for a while and returns its state. */
  view(principal: PrincipalId, holder: KeyHolder, signal: AbortSignal): Promise<ExecutionView>;
}

/**
 * Returns a function that starts the first request with a key. Later ones wait for its execution, in this process or
 * another. The store decides which request is the first.
 */
export function createIdempotency(deps: IdempotencyDeps): (request: IdempotentRequest) => Promise<StartedExecution> {
  return async (keyed) => {
    const { request } = keyed;
    refuseBadKey(keyed.key);
    const key = { key: keyed.key, request: await runInSlices(digestRequest(keyed), ownerOf(request.principal)) };
    const first = await openUnlessHeld(keyed, key, deps);
    if ("done" in first) return first;
    const admit = (holder: KeyHolder): KeyHolder => {
      if (holder.request !== key.request) throw conflict();
      request.onEvent?.({ kind: "opened", execution: holder.execution });
      return holder;
    };
    let holder = admit(first.holder);
    let id = holder.execution;
    const wait = async (): Promise<ExecutionResult> => {
      for (;;) {
        const result = await untilEnded(request, holder, deps);
        if (!isHarmless(result)) return result;
        const next = await openUnlessHeld(keyed, { ...key, insteadOf: holder.execution }, deps);
        if ("done" in next) {
          id = next.id;
          return next.done;
        }
        holder = admit(next.holder);
        id = holder.execution;
      }
    };
    const done = wait();
    return {
      get id() {
        return id;
      },
      done,
    };
  };
}

/** A request whose key is held takes no quota. A refused one does not take the key: a later one with it may run. */
async function openUnlessHeld(
  { request, admit, start }: IdempotentRequest,
  key: RequestKey,
  deps: IdempotencyDeps,
): Promise<StartedExecution | { readonly holder: KeyHolder }> {
  const known = await deps.findHolder(request.principal.id, key.key);
  if (known && known.execution !== key.insteadOf) return { holder: known };
  const admission = await admit();
  if (!admission.ok) return { id: admission.result.execution, done: Promise.resolve(admission.result) };
  const first = await deps.log.openOnce(request, key, admission.id).catch(async (thrown: unknown) => {
    await admission.abandon();
    throw thrown;
  });
  if ("opening" in first) return start(first.opening, admission);
  await admission.abandon();
  return first;
}

/** Polls the execution of another request until it has ended. */
async function untilEnded(
  { principal, signal }: ExecutionRequest,
  holder: KeyHolder,
  deps: IdempotencyDeps,
): Promise<ExecutionResult> {
  for (;;) {
    const view = await deps.view(principal.id, holder, signal);
    if (view.state !== "running") return { ...view, state: view.state };
    await sleep(POLL_MS, undefined, { signal }).catch(() => {
      throw new GloveboxError("REQUEST_CANCELLED", "The request was cancelled while another one with its key ran");
    });
  }
}

/** It ended before it called anything, for a reason that may be gone: the same key may run again. */
function isHarmless({ state, calls, error }: ExecutionResult): boolean {
  if (calls.length > 0) return false;
  return state === "cancelled" || (state === "failed" && error?.retry === true);
}

function digestRequest({ request, wanted }: IdempotentRequest): SlicedWork<Digest> {
  const { source, input = null, analysis = true, types = true, networkPolicy, dryRun = false } = request;
  const optional = defined({ network: networkPolicy && JSON.stringify(networkPolicy), dryRun: dryRun || undefined });
  return digestLarge({ source, input, limits: { ...wanted }, analysis, types, ...optional });
}

function refuseBadKey(key: string): void {
  if (key.length > 0 && key.length <= MAX_KEY_CHARS) return;
  throw new GloveboxError("REQUEST_INVALID", `An idempotencyKey must have 1 to ${MAX_KEY_CHARS} characters`);
}

function conflict(): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", "This idempotencyKey belongs to another request", {
    hint: "Send the same code, input, limits and dryRun with it, or use a new key",
  });
}

/** Requests that a client may repeat: with the same key they are one execution, so no call takes effect twice. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Digest, ExecutionResult, ExecutionView, Limits, PrincipalId } from "../../domain/index.ts";
import type { KeyHolder } from "../../store/index.ts";
import { digestOf } from "../../text/index.ts";

import type { ExecutionLog, ExecutionOpening } from "../execution-log.ts";
import type { ExecutionRequest } from "../requests.ts";
import type { StartedExecution } from "../running-table.ts";

/** Longer than the ids that clients use. */
const MAX_KEY_CHARS = 256;
const POLL_MS = 250;

export interface IdempotentRequest {
  readonly request: ExecutionRequest;
  readonly key: string;
  /** The limits that the client asked for; the operator's limits may change between two requests. */
  readonly wanted: Partial<Limits>;
  /** Runs the program. Called at most once for each request. */
  readonly start: (opening: ExecutionOpening) => StartedExecution;
}

export interface IdempotencyDeps {
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
    const { request, start } = keyed;
    refuseBadKey(keyed.key);
    const key = { key: keyed.key, request: digestRequest(keyed) };
    const first = await deps.log.openOnce(request, key);
    if ("opening" in first) return start(first.opening);
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
        const next = await deps.log.openOnce(request, { ...key, insteadOf: holder.execution });
        if ("opening" in next) {
          const started = start(next.opening);
          id = started.id;
          return started.done;
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

function digestRequest({ request, wanted }: IdempotentRequest): Digest {
  const { source, input = null, analysis = true, types = true, networkPolicy, dryRun = false } = request;
  const optional = defined({ network: networkPolicy && JSON.stringify(networkPolicy), dryRun: dryRun || undefined });
  return digestOf({ source, input, limits: { ...wanted }, analysis, types, ...optional });
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

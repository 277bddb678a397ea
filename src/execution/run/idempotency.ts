/** Requests that a client may repeat: with the same key they are one execution, so no call takes effect twice. */

import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Digest, ExecutionResult, ExecutionView, Limits, PrincipalId } from "../../domain/index.ts";
import type { KeyHolder } from "../../store/index.ts";
import { digestOf } from "../../text/index.ts";

import type { ExecutionLog, ExecutionOpening } from "../execution-log.ts";
import type { ExecutionRequest } from "../requests.ts";
import { unlessCancelled } from "../running-table.ts";
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

/** The first of several requests with one key in this process. */
interface Leader {
  readonly digest: Digest;
  readonly opened: Promise<StartedExecution>;
}

/** Returns a function that starts the first request with a key; later ones get the same execution. */
export function createIdempotency(deps: IdempotencyDeps): (request: IdempotentRequest) => Promise<StartedExecution> {
  const leaders = new Map<string, Leader>();

  const open = async (keyed: IdempotentRequest): Promise<StartedExecution> => {
    refuseBadKey(keyed.key);
    const digest = digestRequest(keyed);
    const name = `${keyed.request.principal.id}\n${keyed.key}`;
    const leader = leaders.get(name);
    if (leader && leader.digest !== digest) throw conflict();
    if (leader) return follow(leader, keyed);
    const opened = lead(keyed, digest, deps);
    leaders.set(name, { digest, opened });
    const forget = (): void => void leaders.delete(name);
    // Registered before any follower waits, so that a follower that tries again becomes the leader.
    opened.then(({ done }) => done.then(forget, forget), forget);
    return opened;
  };

  const follow = async (leader: Leader, keyed: IdempotentRequest): Promise<StartedExecution> => {
    const { signal, onEvent } = keyed.request;
    let current = await unlessCancelled(leader.opened, signal);
    onEvent?.({ kind: "opened", execution: current.id });
    const wait = async (): Promise<ExecutionResult> => {
      const result = await unlessCancelled(current.done, signal);
      if (!isHarmless(result)) return result;
      current = await open(keyed);
      return current.done;
    };
    return toStarted(() => current.id, wait());
  };
  return open;
}

/** Opens the execution, or waits for the one that another process opened with the same key. */
async function lead(keyed: IdempotentRequest, digest: Digest, deps: IdempotencyDeps): Promise<StartedExecution> {
  const { request, start } = keyed;
  const key = { key: keyed.key, request: digest };
  const first = await deps.log.openOnce(request, key);
  if ("opening" in first) return start(first.opening);
  const admit = (holder: KeyHolder): KeyHolder => {
    if (holder.request !== digest) throw conflict();
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
  return toStarted(() => id, wait());
}

function toStarted(idOf: () => StartedExecution["id"], done: StartedExecution["done"]): StartedExecution {
  return {
    get id() {
      return idOf();
    },
    done,
  };
}

/** Polls an execution of another process until it has ended. */
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
  const network = networkPolicy && JSON.stringify(networkPolicy);
  const optional = { ...defined({ network }), ...(dryRun && { dryRun }) };
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

/**
 * Requests that a client may send twice: with the same key they are one execution, however often they arrive, so that
 * no call which took effect is made again.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { digestOf } from "../../text/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type {
  Digest,
  ExecutionEvent,
  ExecutionId,
  ExecutionResult,
  ExecutionView,
  Limits,
  PrincipalId,
} from "../../domain/index.ts";
import type { KeyHolder } from "../../store/index.ts";

import type { ExecutionLog } from "./execution-log.ts";
import { unlessCancelled } from "./execute.ts";
import type { ExecutionRequest } from "./execute.ts";

/** As long as a client's own ids are, with room to spare. */
const MAX_KEY_CHARS = 256;
const POLL_MS = 250;

export interface KeyedRequest extends ExecutionRequest {
  readonly idempotencyKey: string;
  /** The limits as they were asked for; what the operator's own make of them may change between two requests. */
  readonly wanted: Partial<Limits>;
}

export interface KeyRooms {
  readonly claim: ExecutionLog["claim"];
  /** How an execution stands; one that runs in this process is waited for. */
  view(principal: PrincipalId, holder: KeyHolder, signal: AbortSignal): Promise<ExecutionView>;
}

export interface Keyed {
  /** `work` runs for the first request with its key; the others get what came of it. */
  once(request: KeyedRequest, work: Work): Promise<ExecutionResult>;
}

type Work = (opened: ExecutionRequest) => Promise<ExecutionResult>;

/** The first of several requests with one key. */
interface Leader {
  readonly request: Digest;
  /** Settles when it has one, which may be another process's. */
  readonly execution: Promise<ExecutionId>;
  readonly result: Promise<ExecutionResult>;
}

export function createKeyed(rooms: KeyRooms): Keyed {
  const underWay = new Map<string, Leader>();

  const lead = async (request: KeyedRequest, digest: Digest, work: Work): Promise<ExecutionResult> => {
    const key = { key: request.idempotencyKey, request: digest };
    let claimed = await rooms.claim(request, key);
    for (;;) {
      if ("opening" in claimed) return work({ ...request, opening: claimed.opening });
      const { holder } = claimed;
      if (holder.request !== digest) throw conflict();
      request.onEvent?.({ kind: "opened", execution: holder.execution });
      const result = await untilEnded(request, holder, rooms);
      if (!isHarmless(result)) return result;
      claimed = await rooms.claim(request, { ...key, insteadOf: holder.execution });
    }
  };

  return {
    async once(request, work) {
      refuseBadKey(request.idempotencyKey);
      const digest = digestRequest(request);
      const name = `${request.principal.id}\n${request.idempotencyKey}`;
      for (let first = underWay.get(name); first; first = underWay.get(name)) {
        if (first.request !== digest) throw conflict();
        void first.execution.then((execution) => request.onEvent?.({ kind: "opened", execution }));
        const result = await unlessCancelled(first.result, request.signal);
        if (!isHarmless(result)) return result;
      }
      const { promise: execution, resolve } = Promise.withResolvers<ExecutionId>();
      const onEvent = (event: ExecutionEvent): void => {
        if (event.kind === "opened") resolve(event.execution);
        request.onEvent?.(event);
      };
      const result = lead({ ...request, onEvent }, digest, work);
      underWay.set(name, { request: digest, execution, result });
      try {
        return await result;
      } finally {
        underWay.delete(name);
      }
    },
  };
}

/** Another process runs it; how it stands is read until it has ended. */
async function untilEnded(request: KeyedRequest, holder: KeyHolder, rooms: KeyRooms): Promise<ExecutionResult> {
  for (;;) {
    const view = await rooms.view(request.principal.id, holder, request.signal);
    if (view.state !== "running") return { ...view, state: view.state };
    await sleep(POLL_MS, undefined, { signal: request.signal }).catch(() => {
      throw new GloveboxError("REQUEST_CANCELLED", "The request was cancelled while another one with its key ran");
    });
  }
}

/** It ended before it called anything, for a reason that may be gone: it may be tried again under the same key. */
function isHarmless({ state, calls, error }: ExecutionResult): boolean {
  if (calls.length > 0) return false;
  return state === "cancelled" || (state === "failed" && error?.retry === true);
}

function digestRequest(request: KeyedRequest): Digest {
  const { source, input = null, wanted, analysis = true, types = true, networkPolicy, dryRun = false } = request;
  const network = networkPolicy === undefined ? {} : { network: JSON.stringify(networkPolicy) };
  return digestOf({ source, input, limits: { ...wanted }, analysis, types, ...network, ...(dryRun && { dryRun }) });
}

function refuseBadKey(key: string): void {
  if (key.length > 0 && key.length <= MAX_KEY_CHARS) return;
  throw new GloveboxError("REQUEST_INVALID", `An idempotencyKey has 1 to ${MAX_KEY_CHARS} characters`);
}

function conflict(): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", "This idempotencyKey belongs to another request", {
    hint: "Send the same code, input, limits and dryRun with it, or take a new key",
  });
}

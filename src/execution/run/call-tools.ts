/**
 * Calls tools without a program: for clients that call tools one by one. It is an execution like any other, with the
 * same bridge, record and limits, only that nothing runs in a sandbox.
 */

import { parseToolAddress } from "../../domain/index.ts";
import type { ExecutionResult, Json, JsonObject, PublicError, Reply } from "../../domain/index.ts";

import type { OpenedExecution } from "./execution-log.ts";
import { unlessCancelled } from "./execute.ts";
import type { ExecutionRequest, ExecutionDeps } from "./execute.ts";
import { hideInExecution } from "./hide-in-result.ts";
import { withCancelReason } from "./name-cancel.ts";
import { keepLarge } from "../results/keep-large.ts";
import { cleanMessage, emptyResult, settleFailure } from "./settle.ts";
import { runWithinQuotas } from "./within-quotas.ts";

/** One tool and what it is given. */
export interface PlainCall {
  readonly address: string;
  readonly args: JsonObject;
}

export interface CallRequest extends Omit<ExecutionRequest, "source" | "input" | "analysis"> {
  /** Made at the same time. */
  readonly calls: readonly PlainCall[];
}

/** The execution, and the answer to each call in the order of the request; none when it failed as a whole. */
export interface ToolCallsResult {
  readonly result: ExecutionResult;
  readonly replies: readonly Reply[];
}

/** The record shows the calls as the program that would make them. */
export async function callTools(request: CallRequest, rooms: ExecutionDeps): Promise<ToolCallsResult> {
  const whole: ExecutionRequest = { ...request, source: toSource(request.calls) };
  const opening = rooms.open(whole);
  const { execution, opened } = opening;
  request.onEvent?.({ kind: "opened", execution: execution.id });
  const { principal, limits: asked } = request;
  const called = await runWithinQuotas({ execution: execution.id, principal, limits: asked }, rooms.admit, {
    run: (limits) => attempt({ ...request, limits }, rooms, { opening, whole: { ...whole, limits } }),
    wallMsOf: ({ result }) => result.stats.wallMs,
  }).catch((thrown: unknown): ToolCallsResult => ({ result: settleFailure(execution, thrown, rooms), replies: [] }));
  await opened;
  const result = withCancelReason(called.result, request.signal);
  await rooms.close(execution, result);
  return { ...called, result };
}

type Opened = { readonly opening: OpenedExecution; readonly whole: ExecutionRequest };

async function attempt(
  request: CallRequest,
  rooms: ExecutionDeps,
  { opening, whole }: Opened,
): Promise<ToolCallsResult> {
  const { execution } = opening;
  const startedAt = performance.now();
  const snapshot = await unlessCancelled(rooms.snapshot(request.principal), request.signal);
  const ended = new AbortController();
  const signal = AbortSignal.any([request.signal, ended.signal]);
  const bridge = rooms.bridge(opening, snapshot, whole, { signal });
  const made = request.calls.map(({ address, args }) => bridge.call(address, JSON.stringify(args)));
  const replies = await Promise.all(made).finally(() => ended.abort());
  await bridge.recorded();
  const failed = replies.find((reply) => !reply.ok);
  const value = toValue(replies);
  const calls = bridge.records();
  const labels = bridge.labels();
  const wallMs = Math.round((performance.now() - startedAt) * 10) / 10;
  const outputBytes = replies.reduce((sum, reply) => sum + (reply.ok ? Buffer.byteLength(reply.json) : 0), 0);
  const result: ExecutionResult = {
    ...emptyResult(execution, failed ? stateOf(failed.error) : "completed", rooms),
    ...(failed ? { error: { ...failed.error, message: cleanMessage(failed.error.message, rooms) } } : { value }),
    calls,
    ...(labels.length > 0 && { labels }),
    stats: { queueMs: 0, wallMs, cpuMs: 0, peakMemoryBytes: 0, calls: calls.length, outputBytes },
  };
  const owner = { principal: request.principal.id, execution: execution.id, labels };
  const shown = hideInExecution(result, rooms.hide);
  return { result: await keepLarge(shown, request.limits, (large) => rooms.keepValue(owner, large)), replies };
}

function stateOf({ code }: PublicError): ExecutionResult["state"] {
  return code === "REQUEST_CANCELLED" ? "cancelled" : "failed";
}

/** One call has its own answer, several have a list. */
function toValue(replies: readonly Reply[]): Json {
  const values = replies.map((reply) => (reply.ok ? parseReply(reply.json) : null));
  return values.length === 1 ? (values[0] ?? null) : values;
}

/** The bridge made it. */
export function parseReply(json: string): Json {
  return JSON.parse(json) as Json;
}

function toSource(calls: readonly PlainCall[]): string {
  return calls.map(({ address, args }) => `await ${nameOf(address)}(${JSON.stringify(args)});`).join("\n");
}

/** Only what can be a tool's address is written as code. */
function nameOf(address: string): string {
  return parseToolAddress(address) ?? JSON.stringify(address.slice(0, 260));
}

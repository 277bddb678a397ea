/**
 * Calls tools without a program, for clients that call tools one by one. It is an execution like any other, with the
 * same bridge, records and limits, but without a sandbox.
 */

import { defined, parseToolAddress } from "../../domain/index.ts";
import type { ExecutionResult, Json, PublicError, Reply } from "../../domain/index.ts";

import { readJson, redactResult } from "../../text/index.ts";
import { ownerOf, runInSlices } from "../../timing/index.ts";
import type { SlicedWork } from "../../timing/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import type { ExecutionOpening } from "../execution-log.ts";
import { keepLarge } from "../kept-results.ts";
import { runWithinQuotas } from "../quotas.ts";
import type { ExecutionRequest, PlainCall } from "../requests.ts";
import { unlessCancelled } from "../running-table.ts";
import { emptyResult, settleFailure, toMismatchFindings, toTenths, withCancelReason } from "../settle.ts";
import type { SettleDeps } from "../settle.ts";
import { createSkillCaller } from "./call-skill.ts";

/** The execution, and the reply to each call in the order of the request; no replies when it failed as a whole. */
export interface ToolCallsResult {
  readonly result: ExecutionResult;
  readonly replies: readonly Reply[];
}

type CallDeps = SettleDeps &
  Pick<ExecutionDeps, "admit" | "analyze" | "bridge" | "keepValue" | "log" | "skills" | "snapshot" | "tokensOf">;

/** Makes the calls of an execution that was opened with `toCallSource`. */
export async function callTools(
  opening: ExecutionOpening,
  { calls, ...request }: ExecutionRequest & { readonly calls: readonly PlainCall[] },
  deps: CallDeps,
): Promise<ToolCallsResult> {
  const { execution, opened } = opening;
  const { principal, limits: wanted } = request;
  const called = await runWithinQuotas({ execution: execution.id, principal, limits: wanted }, deps.admit, {
    run: (limits) => attempt(opening, { ...request, limits, calls }, deps),
    wallMsOf: ({ result }) => result.stats.wallMs,
  }).catch((thrown: unknown): ToolCallsResult => ({ result: settleFailure(execution, thrown, deps), replies: [] }));
  await opened;
  const result = withCancelReason(called.result, request.signal);
  await deps.log.close(execution, result);
  return { ...called, result };
}

async function attempt(
  opening: ExecutionOpening,
  { calls: plain, ...request }: ExecutionRequest & { readonly calls: readonly PlainCall[] },
  deps: CallDeps,
): Promise<ToolCallsResult> {
  const { execution } = opening;
  const startedAt = performance.now();
  const needed = plain.map(({ address }) => address.slice(0, address.indexOf(".")));
  const snapshot = await unlessCancelled(deps.snapshot(request.principal, needed), request.signal);
  const ended = new AbortController();
  const signal = AbortSignal.any([request.signal, ended.signal]);
  const { callSkill } = createSkillCaller(execution, request, deps);
  const bridge = deps.bridge(opening, snapshot, request, { signal, ...defined({ callSkill }) });
  const made = plain.map(({ address, args }) => bridge.call(address, JSON.stringify(args)));
  const replies = await Promise.all(made).finally(() => ended.abort());
  await bridge.recorded();
  const failed = replies.find((reply) => !reply.ok);
  const calls = bridge.records();
  const labels = bridge.labels();
  const empty = emptyResult(execution, failed ? stateOf(failed.error) : "completed", deps);
  const turns = ownerOf(request.principal);
  const outputBytes = replies.reduce((sum, reply) => sum + (reply.ok ? Buffer.byteLength(reply.json) : 0), 0);
  const result: ExecutionResult = {
    ...empty,
    ...(failed ? { error: failed.error } : { value: await runInSlices(toValue(replies), turns) }),
    calls,
    findings: toMismatchFindings(bridge.mismatches(), []),
    ...defined({ labels: labels.length > 0 ? labels : undefined }),
    stats: { ...empty.stats, wallMs: toTenths(performance.now() - startedAt), calls: calls.length, outputBytes },
  };
  const owner = { principal: request.principal.id, execution: execution.id, labels };
  const options = { foreignPaths: deps.maskPaths ?? "all" } as const;
  const shown = await runInSlices(redactResult(result, deps.hide, options), turns);
  return { result: await keepLarge(shown, request.limits, (large) => deps.keepValue(owner, large)), replies };
}

function stateOf({ code }: PublicError): ExecutionResult["state"] {
  return code === "REQUEST_CANCELLED" ? "cancelled" : "failed";
}

/** One call has its value, several have an array. */
function* toValue(replies: readonly Reply[]): SlicedWork<Json> {
  const values: Json[] = [];
  for (const reply of replies) values.push(reply.ok ? ((yield* readJson(reply.json)) ?? null) : null);
  return values.length === 1 ? (values[0] ?? null) : values;
}

/** The calls as the program that would make them, which is what the records show. */
export function toCallSource(calls: readonly PlainCall[]): string {
  return calls.map(({ address, args }) => `await ${nameOf(address)}(${JSON.stringify(args)});`).join("\n");
}

/** An invalid address is quoted and never becomes code. */
function nameOf(address: string): string {
  return parseToolAddress(address) ?? JSON.stringify(address.slice(0, 260));
}

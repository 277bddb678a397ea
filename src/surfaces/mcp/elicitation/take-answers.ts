/** Reads a repeated request with the answers of a person: its execution and the decisions. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { isJsonObject, parseApprovalId, parseExecutionId } from "../../../domain/index.ts";
import type { ApprovalId, ExecutionId, Json, Principal } from "../../../domain/index.ts";
import type { ClientApprovals } from "../../../policy/index.ts";
import { ignoreOvertaken } from "./follow-execution.ts";
import type { Conversation } from "./follow-execution.ts";
import type { Retry } from "./person.ts";
import { parseAnswer } from "./approval-form.ts";

/**
 * Applies the decisions. Refuses a state that was sealed for another principal or another request: then no program runs
 * and nothing is decided.
 */
export async function takeAnswers(
  { rawState, rawAnswers }: Retry,
  {
    clientApprovals,
    principal,
    request,
  }: Pick<Conversation, "principal" | "request"> & {
    readonly clientApprovals: ClientApprovals | undefined;
  },
): Promise<Pick<Conversation, "left"> & { readonly execution: ExecutionId }> {
  if (!clientApprovals || typeof rawState !== "string") throw invalid();
  const round = parseRound(open(clientApprovals, principal, rawState));
  if (round.request !== request) throw invalid();
  const left = new Set<string>(round.left);
  for (const id of round.asked) {
    const answer = parseAnswer(Object.hasOwn(rawAnswers, id) ? rawAnswers[id] : undefined);
    if (answer) await clientApprovals.answer(principal, id, answer).catch(ignoreOvertaken);
    else left.add(id);
  }
  return { execution: round.execution, left };
}

function open(clientApprovals: ClientApprovals, principal: Principal, state: string): Json {
  try {
    return clientApprovals.open(principal, state);
  } catch {
    throw invalid();
  }
}

function parseRound(raw: Json) {
  const { execution: rawExecution, request, asked, left } = isJsonObject(raw) ? raw : {};
  const execution = parseExecutionId(rawExecution);
  if (!execution || typeof request !== "string") throw invalid();
  return { execution, request, asked: parseIds(asked), left: parseIds(left) };
}

function parseIds(raw: Json | undefined): readonly ApprovalId[] {
  return Array.isArray(raw) ? raw.flatMap((id) => parseApprovalId(id) ?? []) : [];
}

/** The error of the protocol (2026-07-28, basic/patterns/mrtr). */
function invalid(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
    reason: "invalid_request_state",
  });
}

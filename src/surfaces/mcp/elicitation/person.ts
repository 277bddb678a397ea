/** The person behind a client: how to ask, which depends on the client and the protocol revision, and the answers. */

import { CLIENT_CAPABILITIES_META_KEY, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Server, ServerContext } from "@modelcontextprotocol/server";

import { isJsonObject, parseApprovalId, parseExecutionId } from "../../../domain/index.ts";
import type { ApprovalId, ExecutionId, Json, JsonObject, Principal } from "../../../domain/index.ts";
import type { AnswerableApprovals } from "../../gateway.ts";
import { noteRefusal, parseAnswer } from "./approval-form.ts";
import type { ApprovalForm, InputUrl } from "./approval-form.ts";
import type { Conversation } from "./follow-execution.ts";

/** Sends a request to the client. */
export type SendElicitation = (
  request: { readonly method: "elicitation/create"; readonly params: ApprovalForm | InputUrl },
  options: { readonly signal: AbortSignal; readonly timeout: number },
) => Promise<unknown>;

/** How the person is asked. */
export type Person = { /** True when the client can show addresses, too. */ readonly hasUrls: boolean } & (
  | /** Until 2025-11-25: by a request to the client on the stream of the open request. */
    {
      readonly kind: "pushed";
      readonly ask: (question: ApprovalForm | InputUrl, signal: AbortSignal) => Promise<unknown>;
    }
  /** Since 2026-07-28: by a result that requires input; the client then repeats the request with the answers. */
  | { readonly kind: "returned" }
);

/** What a repeated request contains. The client controls all of it. */
export interface Retry {
  readonly rawState: unknown;
  readonly rawAnswers: Readonly<Record<string, unknown>>;
}

/** Returns `undefined` for a client without the capability to show forms. */
export function findPerson(server: Server, rawEnvelope: unknown, send: SendElicitation): Person | undefined {
  const modern = isJsonObject(rawEnvelope) ? rawEnvelope[CLIENT_CAPABILITIES_META_KEY] : undefined;
  const capabilities = modern ?? server.getClientCapabilities();
  if (!canShowForms(capabilities)) return undefined;
  const hasUrls = isJsonObject(capabilities["elicitation"]) && capabilities["elicitation"]["url"] !== undefined;
  if (modern !== undefined) return { kind: "returned", hasUrls };
  return {
    kind: "pushed",
    hasUrls,
    // The caller decides how long it may take.
    ask: (question, signal) =>
      send({ method: "elicitation/create", params: { ...question } }, { signal, timeout: MOST_MS }),
  };
}

/** The longest delay of a timer. */
const MOST_MS = 2_147_483_647;

/** A client without a mode supports forms. */
function canShowForms(rawCapabilities: unknown): rawCapabilities is JsonObject {
  const elicitation = isJsonObject(rawCapabilities) ? rawCapabilities["elicitation"] : undefined;
  if (!isJsonObject(elicitation)) return false;
  return elicitation["form"] !== undefined || elicitation["url"] === undefined;
}

/** Returns `undefined` for a request that is not repeated. */
export function findRetry({ mcpReq }: ServerContext): Retry | undefined {
  const rawState = mcpReq.requestState();
  const { inputResponses } = mcpReq;
  if (rawState === undefined && inputResponses === undefined) return undefined;
  return { rawState, rawAnswers: inputResponses ?? {} };
}

/**
 * Reads a repeated request and applies the decisions. Refuses a state that was sealed for another principal or another request: then no program runs
 * and nothing is decided.
 */
export async function takeAnswers(
  { rawState, rawAnswers }: Retry,
  {
    clientApprovals,
    principal,
    request,
    problems,
  }: Pick<Conversation, "principal" | "request" | "problems"> & {
    readonly clientApprovals: AnswerableApprovals | undefined;
  },
): Promise<Pick<Conversation, "left"> & { readonly execution: ExecutionId }> {
  if (!clientApprovals || typeof rawState !== "string") throw invalid();
  const round = parseRound(open(clientApprovals, principal, rawState));
  if (round.request !== request) throw invalid();
  const left = new Set<string>(round.left);
  for (const id of round.asked) {
    const rawAnswer = Object.hasOwn(rawAnswers, id) ? rawAnswers[id] : undefined;
    const answer = parseAnswer(rawAnswer, { mayApprove: !round.rejectOnly.includes(id), id });
    if (answer)
      await clientApprovals.answer(principal, id, answer).catch((thrown: unknown) => noteRefusal(thrown, id, problems));
    else left.add(id);
  }
  return { execution: round.execution, left };
}

function open(clientApprovals: AnswerableApprovals, principal: Principal, state: string): Json {
  try {
    return clientApprovals.open(principal, state);
  } catch {
    throw invalid();
  }
}

function parseRound(raw: Json) {
  const { execution: rawExecution, request, asked, rejectOnly, left } = isJsonObject(raw) ? raw : {};
  const execution = parseExecutionId(rawExecution);
  if (!execution || typeof request !== "string") throw invalid();
  return { execution, request, asked: parseIds(asked), rejectOnly: parseIds(rejectOnly), left: parseIds(left) };
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

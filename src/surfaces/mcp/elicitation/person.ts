/** How to ask the person behind a client, which depends on the client and on the protocol revision. */

import { CLIENT_CAPABILITIES_META_KEY } from "@modelcontextprotocol/server";
import type { Server, ServerContext } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../../domain/index.ts";
import type { ApprovalForm } from "./approval-form.ts";

/** How the person is asked. */
export type Person =
  /** Until 2025-11-25: by a request to the client on the stream of the open request. */
  | { readonly kind: "pushed"; readonly ask: (question: ApprovalForm, signal: AbortSignal) => Promise<unknown> }
  /** Since 2026-07-28: by a result that requires input; the client then repeats the request with the answers. */
  | { readonly kind: "returned" };

/** What a repeated request contains. The client controls all of it. */
export interface Retry {
  readonly rawState: unknown;
  readonly rawAnswers: Readonly<Record<string, unknown>>;
}

/** Returns `undefined` for a client without the capability to show forms. */
export function findPerson(server: Server, { mcpReq }: ServerContext): Person | undefined {
  const modern = isJsonObject(mcpReq.envelope) ? mcpReq.envelope[CLIENT_CAPABILITIES_META_KEY] : undefined;
  if (modern !== undefined) return canShowForms(modern) ? { kind: "returned" } : undefined;
  if (!canShowForms(server.getClientCapabilities())) return undefined;
  return {
    kind: "pushed",
    // The caller decides how long it may take.
    ask: (question, signal) =>
      mcpReq.send({ method: "elicitation/create", params: { ...question } }, { signal, timeout: MOST_MS }),
  };
}

/** The longest delay of a timer. */
const MOST_MS = 2_147_483_647;

/** A client without a mode supports forms. */
function canShowForms(rawCapabilities: unknown): boolean {
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

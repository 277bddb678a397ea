/** Whether and how the person behind a client can be asked; it depends on the client and on the protocol's revision. */

import { CLIENT_CAPABILITIES_META_KEY } from "@modelcontextprotocol/server";
import type { Server, ServerContext } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../../domain/index.ts";

import type { ApprovalForm } from "./approval-form.ts";

/** A way to ask. */
export type Person =
  /** Until 2025-11-25: by a request of ours on the stream of the one that is open. */
  | { readonly kind: "pushed"; readonly ask: (question: ApprovalForm, signal: AbortSignal) => Promise<unknown> }
  /** Since 2026-07-28: by an answer that asks; then the same request comes again with what the person said. */
  | { readonly kind: "returned" };

/** What came along with a request that was answered with questions before. All of it is the client's word. */
export interface Retry {
  readonly rawState: unknown;
  readonly rawAnswers: Readonly<Record<string, unknown>>;
}

/** Nothing for a client that did not say that it can show forms. */
export function findPerson(server: Server, { mcpReq }: ServerContext): Person | undefined {
  const modern = readField(mcpReq.envelope, CLIENT_CAPABILITIES_META_KEY);
  if (modern !== undefined) return canShowForms(modern) ? { kind: "returned" } : undefined;
  if (!canShowForms(server.getClientCapabilities())) return undefined;
  return {
    kind: "pushed",
    // How long it may take is decided by whoever asks.
    ask: (question, signal) =>
      mcpReq.send({ method: "elicitation/create", params: { ...question } }, { signal, timeout: MOST_MS }),
  };
}

/** The longest that a timer of the platform takes. */
const MOST_MS = 2_147_483_647;

/** A client that names no mode has forms. */
function canShowForms(rawCapabilities: unknown): boolean {
  const elicitation = readField(rawCapabilities, "elicitation");
  if (!isJsonObject(elicitation)) return false;
  return elicitation["form"] !== undefined || elicitation["url"] === undefined;
}

function readField(raw: unknown, name: string): unknown {
  return isJsonObject(raw) ? raw[name] : undefined;
}

/** Left out for a request that comes for the first time. */
export function findRetry({ mcpReq }: ServerContext): Retry | undefined {
  const rawState = mcpReq.requestState();
  const { inputResponses } = mcpReq;
  if (rawState === undefined && inputResponses === undefined) return undefined;
  return { rawState, rawAnswers: inputResponses ?? {} };
}

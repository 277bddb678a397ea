/** The form that MCP clients show for a call that needs approval, and the parser of the answer. */

import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";

import { cleanText } from "../../../text/index.ts";
import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Approval, Effect, LabelSource } from "../../../domain/index.ts";
import type { ApprovalDesk } from "../../../policy/index.ts";

/** A form with one choice, valid in every protocol revision that has forms. */
export type ApprovalForm = Pick<ElicitRequestFormParams, "message" | "requestedSchema">;

/** The values are readable, because not every client shows titles. None is preselected. */
const CHOICES: ReadonlyMap<string, NonNullable<Approval["scope"]> | "reject"> = new Map([
  ["this call", "call"],
  ["all calls of this tool in this execution", "execution"],
  ["the same call for this session", "session"],
  ["reject", "reject"],
]);

const EFFECTS: Readonly<Record<Effect, string>> = {
  read: "reads",
  write: "changes something",
  destroy: "destroys something",
  unknown: "may change something",
};

const MAX_ARGUMENT_BYTES = 2_000;
const MAX_REASON_BYTES = 500;

/** Arguments and reasons stay on one line each, so they cannot imitate another line of the form. */
export function toApprovalForm(approval: Approval): ApprovalForm {
  const { id, execution, tool, effect, args, reason, labels } = approval;
  const message = [
    `A program wants to call ${tool}, which ${EFFECTS[effect]} (${effect}).`,
    `Arguments: ${toLine(JSON.stringify(args), MAX_ARGUMENT_BYTES)}`,
    `Why you are asked: ${toLine(reason, MAX_REASON_BYTES)}`,
    ...describeLabels(labels),
    `Approval ${id}, execution ${execution}`,
  ].join("\n");
  const decision = { type: "string" as const, title: "Allow", enum: [...CHOICES.keys()] };
  return { message, requestedSchema: { type: "object", properties: { decision }, required: ["decision"] } };
}

function toLine(text: string, maxBytes: number): string {
  return cleanText(text, { maxBytes }).replaceAll(/\s+/gu, " ");
}

function describeLabels(labels: readonly LabelSource[]): readonly string[] {
  if (labels.length === 0) return [];
  return [`It has read: ${labels.map(({ label, tool }) => `${label} data (${tool})`).join(", ")}`];
}

/**
 * Parses what the client sent as the answer of the person. Declining the form rejects the call. Returns `undefined` for
 * anything else without a clear decision, such as a closed form: the call keeps waiting.
 */
export function parseAnswer(raw: unknown): Parameters<ApprovalDesk["decide"]>[1] | undefined {
  const { action, content } = isJsonObject(raw) ? raw : {};
  if (action === "decline") return { verdict: "reject", note: "declined" };
  if (action !== "accept" || !isJsonObject(content)) return undefined;
  const { decision } = content;
  const chosen = typeof decision === "string" ? CHOICES.get(decision) : undefined;
  if (chosen === undefined) return undefined;
  return chosen === "reject" ? { verdict: "reject" } : { verdict: "approve", scope: chosen };
}

/** The first decision counts, and it may have come from another person. */
export function ignoreOvertaken(thrown: unknown): void {
  if (!(thrown instanceof GloveboxError) || thrown.code !== "REQUEST_CONFLICT") throw thrown;
}

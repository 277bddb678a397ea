/** The form that MCP clients show for a call that needs approval, and the parser of the answer. */

import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";

import { cleanText, toPlainJson, toVisible } from "../../../text/index.ts";
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

/** The most that a person can be expected to read in a form: arguments and reason together, as they are shown. */
export const MAX_SHOWN_BYTES = 4_000;
const MAX_REASON_BYTES = 500;

/**
 * Shows the whole call, or offers no approval. Arguments and reasons stay on one line each, with invisible characters
 * written out, so they can neither imitate another line of the form nor hide in their own.
 */
export function toApprovalForm(approval: Approval): ApprovalForm {
  const { id, execution, tool, effect, labels } = approval;
  const shown = showWhole(approval);
  const message = [
    `A program wants to call ${tool}, which ${EFFECTS[effect]} (${effect}).`,
    ...(shown ?? showPart(approval)),
    ...describeLabels(labels),
    `Approval ${id}, execution ${execution}`,
  ].join("\n");
  const choices = shown ? [...CHOICES.keys()] : ["reject"];
  const decision = { type: "string" as const, title: shown ? "Allow" : "Decide", enum: choices };
  return { message, requestedSchema: { type: "object", properties: { decision }, required: ["decision"] } };
}

/** Returns true if the form shows the whole call, so that its answer may approve. */
export function canApprove(approval: Approval): boolean {
  return showWhole(approval) !== undefined;
}

/** Returns `undefined` if it is too long for a form. */
function showWhole({ args, argsShown, reason }: Approval): readonly string[] | undefined {
  if (argsShown !== undefined) return undefined;
  const [shownArgs, shownReason] = [toPlainJson(args), toLine(reason)];
  if (Buffer.byteLength(shownArgs) + Buffer.byteLength(shownReason) > MAX_SHOWN_BYTES) return undefined;
  return [`Arguments: ${shownArgs}`, `Why you are asked: ${shownReason}`];
}

function showPart({ id, reason }: Approval): readonly string[] {
  return [
    "Arguments: too long for this form, which can only reject the call.",
    `To see all of them and to approve, run: glovebox approvals show ${id}`,
    `Why you are asked: ${cleanText(toLine(reason), { maxBytes: MAX_REASON_BYTES })}`,
  ];
}

function toLine(text: string): string {
  return toVisible(text)
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\t", String.raw`\t`);
}

function describeLabels(labels: readonly LabelSource[]): readonly string[] {
  if (labels.length === 0) return [];
  return [`It has read: ${labels.map(({ label, tool }) => `${label} data (${tool})`).join(", ")}`];
}

/**
 * Parses what the client sent as the answer of the person. Declining the form rejects the call. Returns `undefined` for
 * anything else without a clear decision that was offered, such as a closed form: the call keeps waiting.
 */
export function parseAnswer(
  raw: unknown,
  { mayApprove }: { readonly mayApprove: boolean },
): Parameters<ApprovalDesk["decide"]>[1] | undefined {
  const { action, content } = isJsonObject(raw) ? raw : {};
  if (action === "decline") return { verdict: "reject", note: "declined" };
  if (action !== "accept" || !isJsonObject(content)) return undefined;
  const { decision } = content;
  const chosen = typeof decision === "string" ? CHOICES.get(decision) : undefined;
  if (chosen === undefined) return undefined;
  if (chosen === "reject") return { verdict: "reject" };
  return mayApprove ? { verdict: "approve", scope: chosen } : undefined;
}

/** The first decision counts, and it may have come from another person. */
export function ignoreOvertaken(thrown: unknown): void {
  if (!(thrown instanceof GloveboxError) || thrown.code !== "REQUEST_CONFLICT") throw thrown;
}

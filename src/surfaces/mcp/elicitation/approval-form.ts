/** The form that MCP clients show for a call that needs approval, and the parser of the answer. */

import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";

import { cleanText, toPlainJson, toVisible } from "../../../text/index.ts";
import { GloveboxError, isInputRequest, isJsonObject } from "../../../domain/index.ts";
import type { Approval, ApprovalId, Effect, LabelSource } from "../../../domain/index.ts";
import { describeEvidence } from "../../describe-evidence.ts";
import type { AnswerableApprovals } from "../../gateway.ts";

/** A form with one choice, valid in every protocol revision that has forms. */
export type ApprovalForm = Pick<ElicitRequestFormParams, "message" | "requestedSchema">;

/** The values are readable, because not every client shows titles. None is preselected. */
const CHOICES: ReadonlyMap<string, NonNullable<Approval["scope"]> | "reject"> = new Map([
  ["this call", "call"],
  ["all calls of this tool in this execution", "execution"],
  ["the same call for this session", "session"],
  ["all calls of this tool for this session", "session-tool"],
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
const MAX_EVIDENCE_BYTES = 1_500;

/**
 * Shows the whole call, or offers no approval. Arguments and reasons stay on one line each, with invisible characters
 * written out, so they can neither imitate another line of the form nor hide in their own.
 */
export function toApprovalForm(approval: Approval, { show = usualCommand(approval) }: FormGuide = {}): ApprovalForm {
  const { id, execution, tool, effect, labels } = approval;
  const shown = showWhole(approval);
  const message = [
    `A program wants to call ${tool}, which ${EFFECTS[effect]} (${effect}).`,
    ...(shown ?? showPart(approval, show)),
    ...describeLabels(labels),
    ...showEvidence(approval, show),
    `Approval ${id}, execution ${execution}`,
  ].join("\n");
  const choices = shown ? [...CHOICES.keys()] : ["reject"];
  const decision = { type: "string" as const, title: shown ? "Allow" : "Decide", enum: choices };
  return { message, requestedSchema: { type: "object", properties: { decision }, required: ["decision"] } };
}

/** Returns true if the form shows the whole call, so that its answer may approve. */
export function canApprove(approval: Approval): boolean {
  return isInputRequest(approval.id) || showWhole(approval) !== undefined;
}

export interface FormGuide {
  /** The command that shows everything. */
  readonly show?: string;
  /** Why the answer before was not sent to the server. */
  readonly problem?: string | undefined;
}

function usualCommand({ id }: Approval): string {
  return `glovebox approvals show ${id}`;
}

/** What the client shows: a decision about a call, or the question of a server. */
export function toForm(approval: Approval, guide: FormGuide = {}): ApprovalForm | InputUrl {
  const { id, args, tool } = approval;
  if (!isInputRequest(id)) return toApprovalForm(approval, guide);
  const { mode, server, message, schema, url } = isJsonObject(args) ? args : {};
  const lines = [
    `The server ${toLine(textOf(server))} asks you, while a program calls ${tool}. Your answer goes to this server only.`,
    `It says: ${toLine(textOf(message))}`,
    ...(guide.problem === undefined ? [] : [`Please answer again. ${toLine(guide.problem)}`]),
    ...(asksForSecret(schema) ? ["A field looks like a password or a key. Servers must not ask for those here."] : []),
    `Input request ${id}`,
  ];
  if (mode === "url") return { mode, message: lines.join("\n"), url: textOf(url), elicitationId: id };
  return { message: lines.join("\n"), requestedSchema: trustSchema(schema) };
}

/** An address that the person opens; for clients that declare the mode `url`. */
export type InputUrl = Readonly<Record<"message" | "url" | "elicitationId", string>> & { readonly mode: "url" };

export function isUrlRequest({ id, args }: Approval): boolean {
  return isInputRequest(id) && isJsonObject(args) && args["mode"] === "url";
}

const SECRET_FIELD = /passw|passphrase|secret|token|api.?key|private.?key|credential|\bpin\b|cvv/i;

/** The protocol forbids servers to ask for secrets by a form. */
export function asksForSecret(schema: unknown): boolean {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  return fields.some(([name, field]) => {
    const { title, description } = isJsonObject(field) ? field : {};
    return SECRET_FIELD.test(`${name} ${textOf(title)} ${textOf(description)}`);
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The connector has checked it: an object of plain fields. */
function trustSchema(schema: unknown): ApprovalForm["requestedSchema"] {
  return JSON.parse(JSON.stringify(schema));
}

/** Returns `undefined` if it is too long for a form. */
function showWhole({ args, argsShown, reason }: Approval): readonly string[] | undefined {
  if (argsShown !== undefined) return undefined;
  const [shownArgs, shownReason] = [toPlainJson(args), toLine(reason)];
  if (Buffer.byteLength(shownArgs) + Buffer.byteLength(shownReason) > MAX_SHOWN_BYTES) return undefined;
  return [`Arguments: ${shownArgs}`, `Why you are asked: ${shownReason}`];
}

/** In one line, or as the command that shows it. */
function showEvidence({ evidence }: Approval, show: string): readonly string[] {
  if (!evidence) return [];
  const text = toLine(describeEvidence(evidence).join("; "));
  const isShort = Buffer.byteLength(text) <= MAX_EVIDENCE_BYTES;
  return [`Evidence: ${isShort ? text : `too long for this form; run: ${show}`}`];
}

function showPart({ reason }: Approval, show: string): readonly string[] {
  return [
    "Arguments: too long for this form, which can only reject the call.",
    `To see all of them and to approve, run: ${show}`,
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
  { mayApprove, id }: { readonly mayApprove: boolean; readonly id?: ApprovalId },
): Parameters<AnswerableApprovals["answer"]>[2] | undefined {
  const { action, content } = isJsonObject(raw) ? raw : {};
  if (action === "decline") return { verdict: "reject", note: "declined" };
  if (id !== undefined && isInputRequest(id))
    return action === "accept" ? { verdict: "approve", content: isJsonObject(content) ? content : {} } : undefined;
  if (action !== "accept" || !isJsonObject(content)) return undefined;
  const { decision } = content;
  const chosen = typeof decision === "string" ? CHOICES.get(decision) : undefined;
  if (chosen === undefined) return undefined;
  if (chosen === "reject") return { verdict: "reject" };
  return mayApprove ? { verdict: "approve", scope: chosen } : undefined;
}

/** Why the last answers of a person were not sent to the server, by input request. */
export type AnswerProblems = Map<string, readonly string[]>;

/**
 * The first decision counts, and it may have come from another person. Values that do not fit a form decide nothing: then
 * the person is told why when the form is shown again.
 */
export function noteRefusal(thrown: unknown, id: ApprovalId, problems: AnswerProblems): void {
  const isExpected = thrown instanceof GloveboxError && /^REQUEST_(CONFLICT|INVALID)$/.test(thrown.code);
  if (!isExpected) throw thrown;
  const isWrong = thrown.code === "REQUEST_INVALID" && isInputRequest(id);
  if (isWrong) problems.set(id, [...(problems.get(id) ?? []), thrown.message]);
}

/** Prints a waiting call for a reviewer. No part of it can hide, overwrite or imitate other output on a terminal. */

import { cleanText, toPlainJson, toVisible } from "../../../text/index.ts";
import { isInputRequest } from "../../../domain/index.ts";
import type { Approval, HeldChange, Instant, LabelSource } from "../../../domain/index.ts";
import type { ApprovalDesk } from "../../../policy/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../timing/index.ts";
import { describeEvidence } from "../../describe-evidence.ts";
import { formatPlan } from "../print.ts";

type Review = Awaited<ReturnType<ApprovalDesk["show"]>>;

const SUMMARY_BYTES = 160;
/** A longer program is shown only around the marked lines. */
const WHOLE_LINES = 120;
const AROUND_LINES = 12;

/** Two lines: the call and its arguments. */
export function summarizeApproval(approval: Approval, now: Instant): string {
  const { id, tool, effect, principal, execution, seq, reason } = approval;
  const call = `${tool} (${effect}) for ${principal} in ${execution}, call ${seq}`;
  const args = cleanText(toArguments(approval), { maxBytes: SUMMARY_BYTES });
  return `${id} ${describeState(approval, now)}: ${call}: ${inLine(reason)}\n  ${args}`;
}

/** Everything that a reviewer needs, the call first. */
export function formatReview(review: Review, now: Instant): readonly string[] {
  const { approval, execution, calls, change } = review;
  const { id, tool, effect, rule, reason, principal, session, seq } = approval;
  const asker = session === undefined ? principal : `${principal}, session ${inLine(session)}`;
  return [
    `${id}: ${describeState(approval, now)}`,
    `tool: ${tool} (${effect}), definition ${approval.definition}`,
    ...(change ? formatChange(change) : []),
    `rule: ${inLine(rule)}`,
    `reason: ${inLine(reason)}`,
    `asked by: ${asker}, execution ${approval.execution} (${execution?.state ?? "no longer known"}), call ${seq}`,
    `has read: ${approval.labels.map(formatLabel).join(", ") || "nothing labeled"}`,
    ...indent(
      isInputRequest(approval.id) ? "asks (text of the server):" : "arguments:",
      toArguments(approval, 2).split("\n"),
    ),
    ...(approval.evidence ? indent("evidence:", describeEvidence(approval.evidence).map(inLine)) : []),
    ...formatProgram(review),
    ...indent("can call:", approval.plan ? formatPlan(approval.plan).map(inLine) : ["not known"]),
    ...indent("did so far:", calls.length > 0 ? calls.map(formatCall) : ["nothing"]),
  ];
}

/** Printed first, because a person may know the tool by its former definition. */
function formatChange({ server, seenAt }: HeldChange): readonly string[] {
  const since = new Date(seenAt).toISOString();
  return [
    `warning: since ${since} the server ${inLine(server)} defines this tool differently, which is withheld`,
    "  The approval is for the former definition; `glovebox servers` shows the difference",
  ];
}

function toArguments({ args, argsShown, argsDigest }: Approval, indentation?: number): string {
  switch (argsShown) {
    case "hidden":
      return "only reviewers see them";
    case "dropped":
      return `no longer kept; their digest is ${argsDigest}`;
    case "damaged":
      return "damaged in the store: it cannot be approved";
    case "beginning":
      return typeof args === "string" ? toVisible(args) : toPlainJson(args, indentation);
    case undefined:
      return toPlainJson(args, indentation);
    default:
      return argsShown satisfies never;
  }
}

function describeState({ state, expiresAt, scope, decidedBy, decidedAt, note }: Approval, now: Instant): string {
  if (state === "pending") return `pending, expires in ${formatSpan(expiresAt - now)}`;
  const who = decidedBy === undefined ? "" : ` by ${decidedBy}`;
  const when = decidedAt === undefined ? "" : ` at ${new Date(decidedAt).toISOString()}`;
  const how = scope === undefined || scope === "call" ? "" : ` for this ${scope}`;
  return `${state}${how}${who}${when}${note === undefined ? "" : `: ${inLine(note)}`}`;
}

function formatLabel({ label, tool, execution, seq }: LabelSource): string {
  return `${label} (${tool}, call ${seq} of ${execution})`;
}

function formatCall({ seq, tool, effect, decision, outcome }: Review["calls"][number]): string {
  return inLine(`${seq} ${tool} (${effect}): ${decision}, ${outcome}`);
}

function formatProgram({ execution, places }: Review): readonly string[] {
  const source = execution?.source ?? "";
  if (source === "") return ["program: none, or no longer known"];
  const marked = new Set(places.map(({ line }) => line));
  const lines = source.split(/\r\n|[\n\r\u2028\u2029]/);
  const isShort = lines.length <= WHOLE_LINES || marked.size === 0;
  const isShown = (line: number): boolean =>
    isShort ? line <= WHOLE_LINES : [...marked].some((mark) => Math.abs(mark - line) <= AROUND_LINES);
  const numbered = lines.map((text, index) => ({ line: index + 1, text }));
  const shown = numbered.filter(({ line }) => isShown(line));
  const left = lines.length - shown.length;
  return [
    `program: ${describeMarks(places.length)}`,
    ...shown.map(({ line, text }) => `${marked.has(line) ? ">" : " "} ${String(line).padStart(4)}  ${toVisible(text)}`),
    ...(left > 0 ? [`  ${left} lines are omitted; --json has all`] : []),
  ];
}

function describeMarks(places: number): string {
  if (places === 0) return "the line of this call is not certain";
  return places === 1 ? "the marked line makes this call" : "one of the marked places makes this call";
}

/** Keeps line breaks of a text from imitating another field. */
function inLine(text: string): string {
  return toVisible(text).replaceAll("\n", String.raw`\n`);
}

function indent(title: string, lines: readonly string[]): readonly string[] {
  return [title, ...lines.map((line) => `  ${line}`)];
}

const UNITS = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["min", MINUTE_MS],
  ["s", SECOND_MS],
] as const;

/** The two largest units: `6 d 23 h`. */
function formatSpan(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first === -1) return "less than 1 s";
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? "" : `${count} ${unit}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}

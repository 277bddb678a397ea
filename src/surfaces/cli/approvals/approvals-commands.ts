/** `glovebox approvals`, `approve` and `reject`: an operator decides waiting calls, with or without a running gateway. */

import { setTimeout as sleep } from "node:timers/promises";

import { Option } from "commander";
import type { Command } from "commander";

import { APPROVAL_SCOPES, GloveboxError, defined, isInputRequest, parseExecutionId } from "../../../domain/index.ts";
import type { Approval, ExecutionResult } from "../../../domain/index.ts";
import type { ApprovalDesk } from "../../../policy/index.ts";
import { ALWAYS_SCOPES } from "../../gateway.ts";
import { DESCRIBED_SCOPES } from "../../describe-scope.ts";
import type { DecidedScope } from "../../describe-scope.ts";
import { parseCount } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import type { OperatorRecords } from "../../operator-records.ts";
import type { CliPowers } from "../powers.ts";
import { askYesNo, printLine } from "../print.ts";
import { formatReview, summarizeApproval } from "./print-approval.ts";
import { readAnswer } from "./read-answer.ts";

interface ListFlags {
  readonly all?: boolean;
  readonly execution?: string;
  readonly limit?: number;
}

interface DecideFlags {
  readonly scope?: DecidedScope;
  readonly note?: string;
  readonly yes?: boolean;
}

/** The part of an invocation that decisions need. */
export interface Decider extends Pick<Invocation, "principal" | "print" | "terminal"> {
  readonly powers: Pick<CliPowers, "now">;
  openWithoutPolicy(): Promise<Pick<OperatorRecords, "openDesk"> & AsyncDisposable>;
}

/** Gateways poll about twice a second; this covers a few polls. */
const RESUME_MS = 1_200;
const POLL_MS = 250;

const SCOPE = "scope: this call, every such call in this execution, the same call or all of this tool in this session";

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export function addApprovals(program: Command, { addJsonCommand }: Commands): void {
  const approvals = addJsonCommand(program, "approvals", "list calls that wait for approval", listApprovals)
    .option("--all", "include decided, expired and revoked ones")
    .option("--execution <id>", "only those of one execution")
    .option("--limit <number>", "maximum number (default 50)", parseCount);
  addJsonCommand(approvals, "show <id>", "show one call with everything that a reviewer needs", showApproval);
  addJsonCommand(approvals, "revoke <id>", "withdraw a remembered decision or a waiting approval", revokeApproval);
  addJsonCommand(program, "approve <id>", "show a waiting call and approve it", approveCommand)
    .addOption(new Option("--scope <scope>", `${SCOPE}, or always`).choices([...APPROVAL_SCOPES, ...ALWAYS_SCOPES]))
    .option("--note <text>", "the reason, for the ledger")
    .option("--yes", "do not show it and do not ask");
  addJsonCommand(program, "reject <id>", "reject a waiting call; its program can catch the error", rejectCommand)
    .addOption(new Option("--scope <scope>", SCOPE).choices(APPROVAL_SCOPES))
    .option("--reason <text>", "the reason, for the ledger and the program");
  addJsonCommand(
    program,
    "answer <id>",
    "answer what a server asks during a call; only that server gets it",
    answerCommand,
  )
    .option("--field <name=value>", "a value of the form; repeat it for more", collect, [])
    .option("--decline", "tell the server that you do not answer");
}

interface AnswerFlags {
  readonly field: readonly string[];
  readonly decline?: boolean;
}

/** Answers what a server asks while a call is under way. At a terminal it asks for the fields that are not given. */
async function answerCommand(invocation: Invocation<AnswerFlags>, id: string): Promise<void> {
  const { flags, terminal, principal } = invocation;
  await using records = await invocation.openWithoutPolicy();
  const desk = await records.openDesk();
  const { approval } = await desk.show(id);
  if (!isInputRequest(approval.id)) {
    throw new GloveboxError("REQUEST_INVALID", `${id} is an approval, not an input request`, {
      hint: "Decide it with `glovebox approve` or `glovebox reject`",
    });
  }
  const isAsking = flags.decline !== true && approval.state === "pending";
  const content = isAsking ? await readAnswer(approval, flags.field, terminal) : {};
  const choice = flags.decline === true ? { verdict: "reject" as const } : { verdict: "approve" as const, content };
  await printOutcome(desk, await desk.decide(id, choice, principal), invocation);
}

/** Waiting ones first. Exit 0 also if there are none. */
async function listApprovals({
  flags,
  powers,
  terminal,
  openWithoutPolicy,
  print,
}: Invocation<ListFlags>): Promise<void> {
  await using records = await openWithoutPolicy();
  const desk = await records.openDesk();
  const execution = parseExecutionId(flags.execution);
  const isPending = flags.all === true ? undefined : true;
  const isKnown = flags.execution === undefined || execution !== undefined;
  const approvals = isKnown ? await desk.list(defined({ isPending, limit: flags.limit, execution })) : [];
  // Rejects if the execution is unknown: an empty list would look like an answer.
  if (approvals.length === 0 && flags.execution !== undefined) await records.control.show(flags.execution);
  print(
    { approvals },
    approvals.map((approval) => summarizeApproval(approval, powers.now())),
  );
  if (!flags.json && approvals.length === 0) printLine(terminal.stderr, "No call waits for approval");
}

async function showApproval({ powers, openWithoutPolicy, print }: Invocation, id: string): Promise<void> {
  await using records = await openWithoutPolicy();
  const review = await (await records.openDesk()).show(id);
  print(review, formatReview(review, powers.now()));
}

async function revokeApproval(invocation: Invocation, id: string): Promise<void> {
  await using records = await invocation.openWithoutPolicy();
  const desk = await records.openDesk();
  await printOutcome(desk, await desk.revoke(id, invocation.principal), invocation);
}

/** Exit 1 if the person declines. */
function approveCommand(invocation: Invocation<DecideFlags>, id: string): Promise<number> {
  return decide(invocation, id, { ...invocation.flags, verdict: "approve" });
}

function rejectCommand(
  invocation: Invocation<{ readonly reason?: string; readonly scope?: DecidedScope }>,
  id: string,
): Promise<number> {
  const { reason: note, scope } = invocation.flags;
  return decide(invocation, id, { verdict: "reject", yes: true, ...defined({ note, scope }) });
}

/** Asks only at a terminal, so that scripts can use it. */
export async function decide(
  decider: Decider,
  id: string,
  { verdict, scope, note, yes }: DecideFlags & { readonly verdict: "approve" | "reject" },
): Promise<number> {
  await using records = await decider.openWithoutPolicy();
  const desk = await records.openDesk();
  if (yes !== true && !(await isConfirmed(desk, id, scope ?? "call", decider))) {
    printLine(decider.terminal.stderr, "Nothing was decided");
    return EXIT.failed;
  }
  const approval = await desk.decide(id, { verdict, ...defined({ scope, note }) }, decider.principal);
  if (scope !== undefined && isAlways(scope))
    printLine(
      decider.terminal.stderr,
      "A rule was written: `glovebox policy rules` lists it, `policy revoke` removes it",
    );
  await printOutcome(desk, approval, decider, scope);
  return EXIT.done;
}

/** Printed on standard error; standard output has only the outcome. */
async function isConfirmed(
  desk: ApprovalDesk,
  id: string,
  scope: DecidedScope,
  { terminal, powers, principal }: Decider,
): Promise<boolean> {
  const { stdin, stderr } = terminal;
  const review = await desk.show(id);
  for (const line of formatReview(review, powers.now())) printLine(stderr, line);
  if (isAlways(scope) && review.approval.state === "pending") {
    const { rule, file } = await desk.propose(id, scope, principal);
    for (const line of [`This rule is added to ${file}:`, JSON.stringify(rule, null, 2)]) printLine(stderr, line);
  }
  if (stdin.isTTY !== true || review.approval.state !== "pending") return true;
  return askYesNo(`Approve, for ${DESCRIBED_SCOPES[scope]}? [y/N] `, stdin, stderr);
}

function isAlways(scope: DecidedScope): scope is (typeof ALWAYS_SCOPES)[number] {
  return ALWAYS_SCOPES.some((one) => one === scope);
}

/** A decision for good is stored as one about this call, beside its rule: `chosen` is what the person said. */
async function printOutcome(
  desk: ApprovalDesk,
  approval: Approval,
  { powers, print }: Decider,
  chosen: DecidedScope | undefined = approval.scope,
): Promise<void> {
  const { id, execution } = approval;
  const until = powers.now() + RESUME_MS;
  let state: ExecutionResult["state"] | "running" | "unknown";
  let waiting: number;
  // A running gateway resumes a paused execution at once, unless another of its calls waits.
  for (;;) {
    state = (await desk.show(id)).execution?.state ?? "unknown";
    waiting = (await desk.list({ execution, isPending: true })).length;
    if (state !== "paused" || waiting > 0 || powers.now() >= until) break;
    await sleep(POLL_MS);
  }
  print({ approval, execution: { id: execution, state } }, [
    `${id}: ${describeDecision(approval, chosen)}`,
    `${execution}: ${describeState(state, waiting)}`,
  ]);
}

function describeDecision({ id, state }: Approval, scope: DecidedScope | undefined): string {
  if (isInputRequest(id)) return state === "approved" ? "answered" : state === "rejected" ? "declined" : state;
  return scope === undefined ? state : `${state} for ${DESCRIBED_SCOPES[scope]}`;
}

function describeState(state: ExecutionResult["state"] | "running" | "unknown", waiting: number): string {
  if (state === "unknown") return "is no longer known";
  if (state !== "paused") return state;
  if (waiting > 0) return `paused: ${waiting} more of its calls wait for approval`;
  return "paused: no gateway has resumed it yet; start one on this store, or run `glovebox executions resume`";
}

/** `glovebox approvals`, `approve` and `reject`: an operator decides waiting calls, with or without a running gateway. */

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { Option } from "commander";
import type { Command } from "commander";

import { APPROVAL_SCOPES, defined, parseExecutionId } from "../../../domain/index.ts";
import type { Approval, ExecutionResult } from "../../../domain/index.ts";
import type { ApprovalDesk } from "../../../policy/index.ts";
import { parseCount } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import type { CliPowers, OperatorRecords } from "../powers.ts";
import { printLine } from "../print.ts";
import { formatReview, summarizeApproval } from "./print-approval.ts";

interface ListFlags {
  readonly all?: boolean;
  readonly execution?: string;
  readonly limit?: number;
}

interface DecideFlags {
  readonly scope?: NonNullable<Approval["scope"]>;
  readonly note?: string;
  readonly yes?: boolean;
}

/** The part of an invocation that decisions need. */
export interface Decider extends Pick<Invocation, "principal" | "print" | "terminal"> {
  readonly powers: Pick<CliPowers, "now">;
  openRecords(): Promise<Pick<OperatorRecords, "openDesk"> & AsyncDisposable>;
}

/** Gateways poll about twice a second; this covers a few polls. */
const RESUME_MS = 1_200;
const POLL_MS = 250;

const SCOPE = "scope: this call, every such call in this execution, or the same call in this session";

export function addApprovals(program: Command, { addJsonCommand }: Commands): void {
  const approvals = addJsonCommand(program, "approvals", "list calls that wait for approval", listApprovals)
    .option("--all", "include decided, expired and revoked ones")
    .option("--execution <id>", "only those of one execution")
    .option("--limit <number>", "maximum number (default 50)", parseCount);
  addJsonCommand(approvals, "show <id>", "show one call with everything that a reviewer needs", showApproval);
  addJsonCommand(approvals, "revoke <id>", "withdraw a remembered decision or a waiting approval", revokeApproval);
  addJsonCommand(program, "approve <id>", "show a waiting call and approve it", approveCommand)
    .addOption(new Option("--scope <scope>", SCOPE).choices(APPROVAL_SCOPES))
    .option("--note <text>", "the reason, for the ledger")
    .option("--yes", "do not show it and do not ask");
  addJsonCommand(program, "reject <id>", "reject a waiting call; its program can catch the error", rejectCommand)
    .addOption(new Option("--scope <scope>", SCOPE).choices(APPROVAL_SCOPES))
    .option("--reason <text>", "the reason, for the ledger and the program");
}

/** Waiting ones first. Exit 0 also if there are none. */
async function listApprovals({ flags, powers, terminal, openRecords, print }: Invocation<ListFlags>): Promise<void> {
  await using records = await openRecords();
  const desk = await records.openDesk();
  const execution = parseExecutionId(flags.execution);
  const isUnknown = flags.execution !== undefined && execution === undefined;
  const isPending = flags.all === true ? undefined : true;
  const approvals = isUnknown ? [] : await desk.list(defined({ isPending, limit: flags.limit, execution }));
  print(
    { approvals },
    approvals.map((approval) => summarizeApproval(approval, powers.now())),
  );
  if (!flags.json && approvals.length === 0) printLine(terminal.stderr, "No call waits for approval");
}

async function showApproval({ powers, openRecords, print }: Invocation, id: string): Promise<void> {
  await using records = await openRecords();
  const review = await (await records.openDesk()).show(id);
  print(review, formatReview(review, powers.now()));
}

async function revokeApproval(invocation: Invocation, id: string): Promise<void> {
  await using records = await invocation.openRecords();
  const desk = await records.openDesk();
  await printOutcome(desk, await desk.revoke(id, invocation.principal), invocation);
}

/** Exit 1 if the person declines. */
function approveCommand(invocation: Invocation<DecideFlags>, id: string): Promise<number> {
  return decide(invocation, id, { ...invocation.flags, verdict: "approve" });
}

function rejectCommand(
  invocation: Invocation<{ readonly reason?: string; readonly scope?: DecideFlags["scope"] }>,
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
  await using records = await decider.openRecords();
  const desk = await records.openDesk();
  if (yes !== true && !(await isConfirmed(desk, id, scope ?? "call", decider))) {
    printLine(decider.terminal.stderr, "Nothing was decided");
    return EXIT.failed;
  }
  const approval = await desk.decide(id, { verdict, ...defined({ scope, note }) }, decider.principal);
  await printOutcome(desk, approval, decider);
  return EXIT.done;
}

/** Printed on standard error; standard output has only the outcome. */
async function isConfirmed(
  desk: ApprovalDesk,
  id: string,
  scope: NonNullable<Approval["scope"]>,
  { terminal, powers }: Decider,
): Promise<boolean> {
  const { stdin, stderr } = terminal;
  const review = await desk.show(id);
  for (const line of formatReview(review, powers.now())) printLine(stderr, line);
  if (stdin.isTTY !== true || review.approval.state !== "pending") return true;
  stderr.write(`Approve, for ${DESCRIBED[scope]}? [y/N] `);
  for await (const line of createInterface({ input: stdin })) return /^y(es)?$/i.test(line.trim());
  return false;
}

const DESCRIBED: Readonly<Record<NonNullable<Approval["scope"]>, string>> = {
  call: "this call only",
  execution: "every call of this tool under this rule in this execution",
  session: "this tool with these arguments in this session",
};

async function printOutcome(desk: ApprovalDesk, approval: Approval, { powers, print }: Decider): Promise<void> {
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
  const scope = approval.scope === undefined ? "" : ` for ${DESCRIBED[approval.scope]}`;
  print({ approval, execution: { id: execution, state } }, [
    `${id}: ${approval.state}${scope}`,
    `${execution}: ${describeState(state, waiting)}`,
  ]);
}

function describeState(state: ExecutionResult["state"] | "running" | "unknown", waiting: number): string {
  if (state === "unknown") return "is no longer known";
  if (state !== "paused") return state;
  if (waiting > 0) return `paused: ${waiting} more of its calls wait for approval`;
  return "paused: no gateway has resumed it yet; start one on this store, or run `glovebox executions resume`";
}

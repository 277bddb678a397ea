/** `glovebox approvals`, `approve` and `reject`: an operator decides waiting calls, with or without a running gateway. */

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import type { Settings } from "../../../config/index.ts";
import { parseExecutionId } from "../../../domain/index.ts";
import type { Approval, ExecutionResult, Principal } from "../../../domain/index.ts";
import type { ApprovalDesk } from "../../../policy/index.ts";
import { EXIT } from "../powers.ts";
import type { CliPowers, OperatorRecords, Terminal } from "../powers.ts";
import { formatReview, summarizeApproval } from "./print-approval.ts";
import { printJson, printLine } from "../print.ts";

interface Flags {
  readonly config?: string;
  readonly json?: boolean;
}

interface ApprovalsFlags extends Flags {
  readonly all?: boolean;
  readonly execution?: string;
  readonly limit?: number;
}

interface DecideFlags extends Flags {
  readonly verdict: "approve" | "reject";
  readonly scope?: NonNullable<Approval["scope"]>;
  readonly note?: string;
  readonly yes?: boolean;
}

type DeskRecords = Pick<OperatorRecords, "openDesk"> & AsyncDisposable;

interface Powers extends Pick<CliPowers, "terminal" | "loadSettings" | "now"> {
  openRecords(settings: Settings): Promise<DeskRecords>;
}

export interface ApprovalContext {
  readonly powers: Powers;
  /** The person at the terminal. */
  readonly principal: Principal;
}

/** Gateways poll about twice a second; this covers a few polls. */
const RESUME_MS = 1_200;
const POLL_MS = 250;

/** Waiting ones first. Exit 0 also if there are none. */
export async function approvalsCommand(flags: ApprovalsFlags, { powers }: ApprovalContext): Promise<number> {
  const { stdout, stderr } = powers.terminal;
  await using records = await openRecords(flags, powers);
  const desk = await records.openDesk();
  const execution = flags.execution === undefined ? undefined : parseExecutionId(flags.execution);
  const isUnknown = flags.execution !== undefined && execution === undefined;
  const query = {
    ...(flags.all !== true && { isPending: true }),
    ...(flags.limit !== undefined && { limit: flags.limit }),
    ...(execution !== undefined && { execution }),
  };
  const approvals = isUnknown ? [] : await desk.list(query);
  if (flags.json) printJson(stdout, { approvals });
  else for (const approval of approvals) printLine(stdout, summarizeApproval(approval, powers.now()));
  if (!flags.json && approvals.length === 0) printLine(stderr, "No call waits for approval");
  return EXIT.done;
}

export async function showApproval(id: string, flags: Flags, { powers }: ApprovalContext): Promise<number> {
  await using records = await openRecords(flags, powers);
  const desk = await records.openDesk();
  const review = await desk.show(id);
  if (flags.json) printJson(powers.terminal.stdout, review);
  else for (const line of formatReview(review, powers.now())) printLine(powers.terminal.stdout, line);
  return EXIT.done;
}

/** Asks only at a terminal, so that scripts can use it. Exit 1 if the person declines. */
export async function decideCommand(id: string, flags: DecideFlags, context: ApprovalContext): Promise<number> {
  const { powers, principal } = context;
  const { verdict, scope, note } = flags;
  await using records = await openRecords(flags, powers);
  const desk = await records.openDesk();
  if (flags.yes !== true && !(await isConfirmed(desk, id, flags, powers))) {
    printLine(powers.terminal.stderr, "Nothing was decided");
    return EXIT.failed;
  }
  const choice = { verdict, ...(scope && { scope }), ...(note !== undefined && { note }) };
  const approval = await desk.decide(id, choice, principal);
  await printOutcome(desk, approval, flags, powers);
  return EXIT.done;
}

export async function revokeApproval(id: string, flags: Flags, context: ApprovalContext): Promise<number> {
  await using records = await openRecords(flags, context.powers);
  const desk = await records.openDesk();
  await printOutcome(desk, await desk.revoke(id, context.principal), flags, context.powers);
  return EXIT.done;
}

async function openRecords({ config }: Flags, powers: Powers): Promise<DeskRecords> {
  return powers.openRecords(await powers.loadSettings(config));
}

/** Printed on standard error; standard output has only the outcome. */
async function isConfirmed(desk: ApprovalDesk, id: string, flags: DecideFlags, powers: Powers): Promise<boolean> {
  const { stdin, stderr } = powers.terminal;
  const review = await desk.show(id);
  for (const line of formatReview(review, powers.now())) printLine(stderr, line);
  if (stdin.isTTY !== true || review.approval.state !== "pending") return true;
  stderr.write(`Approve, for ${DESCRIBED[flags.scope ?? "call"]}? [y/N] `);
  return /^y(es)?$/i.test(await readAnswer(powers.terminal));
}

const DESCRIBED: Readonly<Record<NonNullable<Approval["scope"]>, string>> = {
  call: "this call only",
  execution: "every call of this tool under this rule in this execution",
  session: "this tool with these arguments in this session",
};

async function readAnswer({ stdin }: Terminal): Promise<string> {
  for await (const line of createInterface({ input: stdin })) return line.trim();
  return "";
}

async function printOutcome(desk: ApprovalDesk, approval: Approval, flags: Flags, powers: Powers): Promise<void> {
  const { stdout } = powers.terminal;
  const state = await waitUntilTaken(desk, approval, powers);
  const waiting = await desk.list({ execution: approval.execution, isPending: true });
  if (flags.json) return printJson(stdout, { approval, execution: { id: approval.execution, state } });
  const scope = approval.scope === undefined ? "" : ` for ${DESCRIBED[approval.scope]}`;
  printLine(stdout, `${approval.id}: ${approval.state}${scope}`);
  printLine(stdout, `${approval.execution}: ${describeState(state, waiting.length)}`);
}

type State = ExecutionResult["state"] | "running" | "unknown";

/** A running gateway resumes a paused execution at once, unless another of its calls waits. */
async function waitUntilTaken(desk: ApprovalDesk, { id, execution }: Approval, powers: Powers): Promise<State> {
  const until = powers.now() + RESUME_MS;
  for (;;) {
    const state = (await desk.show(id)).execution?.state ?? "unknown";
    const waiting = await desk.list({ execution, isPending: true, limit: 1 });
    if (state !== "paused" || waiting.length > 0 || powers.now() >= until) return state;
    await sleep(POLL_MS);
  }
}

function describeState(state: State, waiting: number): string {
  if (state === "running") return "running";
  if (state === "unknown") return "is no longer known";
  if (state !== "paused") return state;
  if (waiting > 0) return `paused: ${waiting} more of its calls wait for approval`;
  return "paused: no gateway has resumed it yet; start one on this store, or run `glovebox executions resume`";
}

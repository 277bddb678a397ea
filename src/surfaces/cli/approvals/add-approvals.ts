/** The words of `glovebox approvals`, `approve` and `reject`, and their options. */

import { Option } from "commander";
import type { Command } from "commander";

import { APPROVAL_SCOPES } from "../../../domain/index.ts";
import { addCommand, parseCount } from "../add-command.ts";
import { approvalsCommand, decideCommand, revokeApproval, showApproval } from "./approvals-command.ts";
import type { ApprovalContext } from "./approvals-command.ts";

/** Options may stand before or after the word of a subcommand, so each takes those of its parent too. */
export function addApprovals(program: Command, context: ApprovalContext, end: (code: number) => void): void {
  const approvals = addCommand(program, "approvals", "calls that wait for a person")
    .option("--all", "those that were decided, have expired or were taken back, too")
    .option("--execution <id>", "those of one execution")
    .option("--limit <number>", "how many at most; 50 when left out", parseCount)
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await approvalsCommand(flags, context)));
  addCommand(approvals, "show <id>", "one call with everything that a reviewer needs")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await showApproval(id, command.optsWithGlobals(), context)),
    );
  addCommand(approvals, "revoke <id>", "takes back a decision that is remembered, or a question that waits")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await revokeApproval(id, command.optsWithGlobals(), context)),
    );
  addDecisions(program, context, end);
}

const SCOPE = "how far it goes: this call, all like it in this execution, or the same call in this session";

function addDecisions(program: Command, context: ApprovalContext, end: (code: number) => void): void {
  addCommand(program, "approve <id>", "lets a call that waits be made, after showing it")
    .addOption(new Option("--scope <scope>", SCOPE).choices(APPROVAL_SCOPES))
    .option("--note <text>", "why, for the ledger")
    .option("--yes", "neither show it nor ask")
    .option("--json", "print as one JSON object")
    .action(async (id: string, flags) => end(await decideCommand(id, { ...flags, verdict: "approve" }, context)));
  addCommand(program, "reject <id>", "refuses a call that waits; its program can catch the error")
    .addOption(new Option("--scope <scope>", SCOPE).choices(APPROVAL_SCOPES))
    .option("--reason <text>", "why, for the ledger and for the program")
    .option("--json", "print as one JSON object")
    .action(async (id: string, { reason, ...flags }) =>
      end(await decideCommand(id, { ...flags, note: reason, verdict: "reject", yes: true }, context)),
    );
}

/** Defines `glovebox approvals`, `approve` and `reject`. */

import { Option } from "commander";
import type { Command } from "commander";

import { APPROVAL_SCOPES } from "../../../domain/index.ts";
import { addCommand, parseCount } from "../add-command.ts";
import { approvalsCommand, decideCommand, revokeApproval, showApproval } from "./approvals-command.ts";
import type { ApprovalContext } from "./approvals-command.ts";

/** Options may come before or after the subcommand, so each also accepts those of its parent. */
export function addApprovals(program: Command, context: ApprovalContext, end: (code: number) => void): void {
  const approvals = addCommand(program, "approvals", "list calls that wait for approval")
    .option("--all", "include decided, expired and revoked ones")
    .option("--execution <id>", "only those of one execution")
    .option("--limit <number>", "maximum number (default 50)", parseCount)
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await approvalsCommand(flags, context)));
  addCommand(approvals, "show <id>", "show one call with everything that a reviewer needs")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await showApproval(id, command.optsWithGlobals(), context)),
    );
  addCommand(approvals, "revoke <id>", "withdraw a remembered decision or a waiting approval")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await revokeApproval(id, command.optsWithGlobals(), context)),
    );
  addDecisions(program, context, end);
}

const SCOPE = "scope: this call, every such call in this execution, or the same call in this session";

function addDecisions(program: Command, context: ApprovalContext, end: (code: number) => void): void {
  addCommand(program, "approve <id>", "show a waiting call and approve it")
    .addOption(new Option("--scope <scope>", SCOPE).choices(APPROVAL_SCOPES))
    .option("--note <text>", "the reason, for the ledger")
    .option("--yes", "do not show it and do not ask")
    .option("--json", "print as one JSON object")
    .action(async (id: string, flags) => end(await decideCommand(id, { ...flags, verdict: "approve" }, context)));
  addCommand(program, "reject <id>", "reject a waiting call; its program can catch the error")
    .addOption(new Option("--scope <scope>", SCOPE).choices(APPROVAL_SCOPES))
    .option("--reason <text>", "the reason, for the ledger and the program")
    .option("--json", "print as one JSON object")
    .action(async (id: string, { reason, ...flags }) =>
      end(await decideCommand(id, { ...flags, note: reason, verdict: "reject", yes: true }, context)),
    );
}

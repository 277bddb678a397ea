/** Defines `glovebox executions`. */

import { Option } from "commander";
import type { Command } from "commander";

import { addCommand, parseCount } from "../add-command.ts";
import { addReplay } from "./add-replay.ts";
import { cancelExecutionCommand, executionsCommand, showExecutionCommand } from "./executions-command.ts";
import type { CommandContext } from "../powers.ts";
import { resumeExecutionCommand } from "./resume-command.ts";

const STATES = ["running", "completed", "failed", "paused", "cancelled"];

/** Options may come before or after the subcommand, so each also accepts those of its parent. */
export function addExecutions(program: Command, context: CommandContext, end: (code: number) => void): void {
  const executions = addCommand(program, "executions", "list executions, newest first")
    .addOption(new Option("--state <name>", "only those in this state").choices(STATES))
    .option("--limit <number>", "maximum number (default 50)", parseCount)
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await executionsCommand(flags, context)));
  addCommand(executions, "show <id>", "show one execution: source with findings, calls and result")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await showExecutionCommand(id, command.optsWithGlobals(), context)),
    );
  addCommand(executions, "cancel <id>", "cancel a running or paused execution in any gateway")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await cancelExecutionCommand(id, command.optsWithGlobals(), context)),
    );
  addCommand(executions, "resume <id>", "resume a suspended execution here, after a decision")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await resumeExecutionCommand(id, command.optsWithGlobals(), context)),
    );
  addReplay(executions, context, end);
}

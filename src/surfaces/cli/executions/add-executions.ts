/** The words of `glovebox executions` and its options. */

import { Option } from "commander";
import type { Command } from "commander";

import { addCommand, parseCount } from "../add-command.ts";
import { addReplay } from "./add-replay.ts";
import { cancelExecutionCommand, executionsCommand, showExecutionCommand } from "./executions-command.ts";
import type { CommandContext } from "../powers.ts";
import { resumeExecutionCommand } from "./resume-command.ts";

const STATES = ["running", "completed", "failed", "paused", "cancelled"];

/** Options may stand before or after the word of a subcommand, so each takes those of its parent too. */
export function addExecutions(program: Command, context: CommandContext, end: (code: number) => void): void {
  const executions = addCommand(program, "executions", "what was executed, newest first")
    .addOption(new Option("--state <name>", "only those in this state").choices(STATES))
    .option("--limit <number>", "how many at most; 50 when left out", parseCount)
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await executionsCommand(flags, context)));
  addCommand(executions, "show <id>", "one execution: its source with findings, its calls and what came of it")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await showExecutionCommand(id, command.optsWithGlobals(), context)),
    );
  addCommand(executions, "cancel <id>", "ends an execution that runs or is paused, whichever gateway has it")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await cancelExecutionCommand(id, command.optsWithGlobals(), context)),
    );
  addCommand(executions, "resume <id>", "goes on here with one that was put away, once a person has decided")
    .option("--json", "print as one JSON object")
    .action(async (id: string, _flags, command: Command) =>
      end(await resumeExecutionCommand(id, command.optsWithGlobals(), context)),
    );
  addReplay(executions, context, end);
}

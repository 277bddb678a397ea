/** Defines `glovebox executions replay` and `export`. */

import { Option } from "commander";
import type { Command } from "commander";

import { addCommand, parseCount } from "../add-command.ts";
import { exportExecutionCommand } from "./export-execution-command.ts";
import { replayCommand } from "./replay-command.ts";
import type { CommandContext } from "../powers.ts";

/** Subcommands of `executions`. Options may come before or after the subcommand. */
export function addReplay(executions: Command, context: CommandContext, end: (code: number) => void): void {
  addCommand(executions, "replay <id>", "replay an execution from its journal or an export, without upstreams")
    .option("--until <call>", "stop after the answer to this call", parseCount)
    .option("--code <file>", "other code, with the recorded answers")
    .addOption(new Option("--engine <name>", "another sandbox engine").choices(["isolate", "quickjs", "workerd"]))
    .option("--json", "print as one JSON object")
    .action(async (subject: string, _flags, command: Command) =>
      end(await replayCommand(subject, command.optsWithGlobals(), context)),
    );
  addCommand(
    executions,
    "export <id> [file]",
    "write an execution to standard output or a new file, to replay it elsewhere",
  ).action(async (id: string, file: string | undefined, _flags, command: Command) =>
    end(await exportExecutionCommand({ id, file }, command.optsWithGlobals(), context)),
  );
}

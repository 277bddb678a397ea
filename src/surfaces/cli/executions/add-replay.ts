/** The words of `glovebox executions replay` and `export`. */

import { Option } from "commander";
import type { Command } from "commander";

import { addCommand, parseCount } from "../add-command.ts";
import { exportExecutionCommand } from "./export-execution-command.ts";
import { replayCommand } from "./replay-command.ts";
import type { CommandContext } from "../powers.ts";

/** Beneath `executions`. Options may stand before or after the word of a subcommand. */
export function addReplay(executions: Command, context: CommandContext, end: (code: number) => void): void {
  addCommand(executions, "replay <id>", "an execution again, from its journal or an export, with no upstream touched")
    .option("--until <call>", "stop after the answer to this call and show what was done until then", parseCount)
    .option("--code <file>", "other code, against the answers that were recorded")
    .addOption(new Option("--engine <name>", "another sandbox engine").choices(["isolate", "quickjs", "workerd"]))
    .option("--json", "print as one JSON object")
    .action(async (subject: string, _flags, command: Command) =>
      end(await replayCommand(subject, command.optsWithGlobals(), context)),
    );
  addCommand(
    executions,
    "export <id> [file]",
    "writes an execution to standard output or a new file, to replay it elsewhere",
  ).action(async (id: string, file: string | undefined, _flags, command: Command) =>
    end(await exportExecutionCommand({ id, file }, command.optsWithGlobals(), context)),
  );
}

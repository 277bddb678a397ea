/** Defines `glovebox audit`. */

import { Option } from "commander";
import type { Command } from "commander";

import { exportLedger } from "./audit-export-command.ts";
import { keyCommand, listCommand, tailCommand } from "./audit-command.ts";
import { verifyCommand } from "./audit-verify-command.ts";
import { addCommand, parseCount } from "../add-command.ts";
import type { CliPowers } from "../powers.ts";

/** Options may come before or after the subcommand, so each also accepts those of its parent. */
export function addAudit(
  program: Command,
  { powers }: { readonly powers: CliPowers },
  end: (code: number) => void,
): void {
  const audit = addCommand(program, "audit", "search the ledger: what was done, by whom, with which outcome")
    .option("--principal <name>", "the actor")
    .option("--tool <name>", "the tool or other subject")
    .option("--action <name>", "such as call.ended, or call for all actions about calls")
    .option("--outcome <word>", "such as ok, error, failed, deny, or an error's code")
    .option("--execution <id>", "everything about one execution")
    .option("--since <time>", "a date, or a duration before now: 90s, 30m, 12h, 7d")
    .option("--until <time>", "the same, for the end")
    .option("--limit <number>", "maximum number (default 50)", parseCount)
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await listCommand(flags, powers)));
  addCommand(audit, "tail", "print new records until interrupted")
    .option("--json", "one JSON object per line")
    .action(async (_flags, command: Command) => end(await tailCommand(command.optsWithGlobals(), powers)));
  addCommand(audit, "export [file]", "write the ledger to standard output or a new file, with a signed trailer")
    .addOption(new Option("--format <name>", "jsonl, or otlp for OpenTelemetry").choices(["jsonl", "otlp"]))
    .action(async (file: string | undefined, _flags, command: Command) =>
      end(await exportLedger(file, command.optsWithGlobals(), powers)),
    );
  addCommand(audit, "verify [file]", "find records that were changed, removed, added, moved or cut off")
    .option("--key <key>", "the public key that must have signed, from glovebox audit key")
    .option("--json", "print as one JSON object")
    .action(async (file: string | undefined, _flags, command: Command) =>
      end(await verifyCommand(file, command.optsWithGlobals(), powers)),
    );
  addCommand(audit, "key", "print the public key of this ledger")
    .option("--json", "print as one JSON object")
    .action(async (_flags, command: Command) => end(await keyCommand(command.optsWithGlobals(), powers)));
}

/** The words of `glovebox audit` and its options. */

import { Option } from "commander";
import type { Command } from "commander";

import { exportLedger } from "./audit-export-command.ts";
import { keyCommand, listCommand, tailCommand } from "./audit-command.ts";
import { verifyCommand } from "./audit-verify-command.ts";
import { addCommand, parseCount } from "../add-command.ts";
import type { CliPowers } from "../powers.ts";

/** Options may stand before or after the word of a subcommand, so each takes those of its parent too. */
export function addAudit(
  program: Command,
  { powers }: { readonly powers: CliPowers },
  end: (code: number) => void,
): void {
  const audit = addCommand(program, "audit", "the ledger: what was done, by whom, and how it went")
    .option("--principal <name>", "who did it")
    .option("--tool <name>", "the tool, or whatever else it was done to")
    .option("--action <name>", "such as call.ended, or call for all actions about calls")
    .option("--outcome <word>", "such as ok, error, failed, deny, or an error's code")
    .option("--execution <id>", "everything about one execution")
    .option("--since <time>", "a date, or 90s, 30m, 12h, 7d for that long ago")
    .option("--until <time>", "likewise")
    .option("--limit <number>", "how many at most; 50 when left out", parseCount)
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await listCommand(flags, powers)));
  addCommand(audit, "tail", "prints new records as they come, until it is interrupted")
    .option("--json", "one JSON object per line")
    .action(async (_flags, command: Command) => end(await tailCommand(command.optsWithGlobals(), powers)));
  addCommand(audit, "export [file]", "writes the ledger to standard output or a new file, with a signed trailer")
    .addOption(new Option("--format <name>", "jsonl, or otlp for OpenTelemetry").choices(["jsonl", "otlp"]))
    .action(async (file: string | undefined, _flags, command: Command) =>
      end(await exportLedger(file, command.optsWithGlobals(), powers)),
    );
  addCommand(audit, "verify [file]", "finds what was changed, removed, added, moved or cut off")
    .option("--key <key>", "the public key that must have signed, as glovebox audit key prints it")
    .option("--json", "print as one JSON object")
    .action(async (file: string | undefined, _flags, command: Command) =>
      end(await verifyCommand(file, command.optsWithGlobals(), powers)),
    );
  addCommand(audit, "key", "the public key that this ledger is signed with")
    .option("--json", "print as one JSON object")
    .action(async (_flags, command: Command) => end(await keyCommand(command.optsWithGlobals(), powers)));
}

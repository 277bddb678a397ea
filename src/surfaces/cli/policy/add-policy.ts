/** The words of `glovebox policy` and its options. */

import { Option } from "commander";
import type { Command } from "commander";

import { addCommand } from "../add-command.ts";
import { explainCommand, policyCommand, simulateCommand } from "./policy-command.ts";
import type { CliPowers } from "../powers.ts";

/** Options may stand before or after the word of a subcommand, so each takes those of its parent too. */
export function addPolicy(
  program: Command,
  { powers }: { readonly powers: CliPowers },
  end: (code: number) => void,
): void {
  const policy = addCommand(program, "policy", "the rules that decide about calls")
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await policyCommand(flags, powers)));
  addCommand(policy, "explain <tool>", "why a call would be decided as it would, rule by rule; nothing is called")
    .option("--args <json>", "the arguments of the call; {} when left out")
    .option("--principal <name>", "who calls; local, an MCP client, when left out")
    .option("--group <names...>", "groups of who calls")
    .option("--json", "print as one JSON object")
    .action(async (tool: string, _flags, command: Command) =>
      end(await explainCommand(tool, command.optsWithGlobals(), powers)),
    );
  addCommand(policy, "simulate <file>", "what a rule file would have changed about the calls in the ledger")
    .option("--since <time>", "a date, or 90s, 30m, 12h, 7d for that long ago")
    .addOption(new Option("--profile <name>", "try another profile, too").choices(["balanced", "strict", "open"]))
    .option("--json", "print as one JSON object")
    .action(async (file: string, _flags, command: Command) =>
      end(await simulateCommand(file, command.optsWithGlobals(), powers)),
    );
}

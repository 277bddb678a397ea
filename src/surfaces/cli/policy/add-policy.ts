/** Defines `glovebox policy`. */

import { Option } from "commander";
import type { Command } from "commander";

import { addCommand } from "../add-command.ts";
import { explainCommand, policyCommand, simulateCommand } from "./policy-command.ts";
import type { CliPowers } from "../powers.ts";

/** Options may come before or after the subcommand, so each also accepts those of its parent. */
export function addPolicy(
  program: Command,
  { powers }: { readonly powers: CliPowers },
  end: (code: number) => void,
): void {
  const policy = addCommand(program, "policy", "show the rules that decide about calls")
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await policyCommand(flags, powers)));
  addCommand(policy, "explain <tool>", "explain the decision about a call, rule by rule; makes no call")
    .option("--args <json>", "the arguments of the call (default {})")
    .option("--principal <name>", "the principal (default local, the principal of MCP clients)")
    .option("--group <names...>", "groups of the principal")
    .option("--json", "print as one JSON object")
    .action(async (tool: string, _flags, command: Command) =>
      end(await explainCommand(tool, command.optsWithGlobals(), powers)),
    );
  addCommand(policy, "simulate <file>", "show what a rule file would have changed about the calls in the ledger")
    .option("--since <time>", "a date, or a duration before now: 90s, 30m, 12h, 7d")
    .addOption(new Option("--profile <name>", "also try another profile").choices(["balanced", "strict", "open"]))
    .option("--json", "print as one JSON object")
    .action(async (file: string, _flags, command: Command) =>
      end(await simulateCommand(file, command.optsWithGlobals(), powers)),
    );
}

/** The command line: parses arguments, runs one command and returns its exit code. */

import { Command, CommanderError } from "commander";

import { GloveboxError } from "../../domain/index.ts";
import { createCommands } from "./add-command.ts";
import { addApprovals } from "./approvals/approvals-commands.ts";
import { addAudit } from "./audit-commands.ts";
import { addDemo } from "./demo-command.ts";
import { addDoctor } from "./doctor-command.ts";
import { addExecutions } from "./executions/executions-commands.ts";
import { addLabels } from "./labels-commands.ts";
import { addPeople } from "./people/people-commands.ts";
import { addTokens } from "./people/tokens-commands.ts";
import { addPolicy } from "./policy/policy-commands.ts";
import { addEject } from "./onboarding/eject-command.ts";
import { addInit } from "./onboarding/init-command.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers, CommandContext } from "./powers.ts";
import { formatFault, printLine } from "./print.ts";
import { addRun } from "./run-command.ts";
import { addSecrets } from "./secrets-commands.ts";
import { addServing } from "./serve-commands.ts";
import { addCatalog, addServers } from "./servers/servers-commands.ts";
import { addSkills } from "./skills/skills-commands.ts";
import { addTrust } from "./trust-command.ts";

/** Errors of usage or configuration, not of a program. */
const USAGE_CODES = new Set(["REQUEST_INVALID", "CONFIG_INVALID", "CONFIG_UNTRUSTED"]);

/** In the order of the help. */
const GROUPS = [
  addInit,
  addEject,
  addDemo,
  addServing,
  addRun,
  addCatalog,
  addDoctor,
  addTrust,
  addServers,
  addSecrets,
  addApprovals,
  addPeople,
  addTokens,
  addPolicy,
  addLabels,
  addExecutions,
  addSkills,
  addAudit,
];

/** Runs one command and returns the exit code. Never rejects. */
export async function runCli(argv: readonly string[], context: CommandContext): Promise<number> {
  const { version, terminal } = context.powers;
  let code: number = EXIT.done;
  const program = new Command("glovebox")
    .description("Lets AI agents run code against your tools without letting that code touch anything else.")
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .showSuggestionAfterError();
  const commands = createCommands(context, (ended) => {
    code = ended;
  });
  for (const addGroup of GROUPS) addGroup(program, commands);
  commands.addJsonOptions();
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (thrown) {
    return toExit(thrown, context.powers);
  }
}

function toExit(thrown: unknown, { terminal, report }: CliPowers): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.done : EXIT.usage;
  const error = thrown instanceof GloveboxError ? thrown : toFault(thrown, report);
  printLine(terminal.stderr, formatFault(error));
  return USAGE_CODES.has(error.code) ? EXIT.usage : EXIT.failed;
}

/** The log has the stack trace under the incident id. */
function toFault(thrown: unknown, report: CliPowers["report"]): GloveboxError {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "EMFILE" || code === "ENFILE") {
    const hint = "Allow this process more open files: `ulimit -n 1024`";
    return new GloveboxError("CONFIG_INVALID", "Too many files are open", { cause: thrown, hint });
  }
  const message = `${thrown instanceof Error ? thrown.message : String(thrown)} (incident ${report(thrown)})`;
  const hint = "This is a defect of Glovebox: report it with the lines of the incident";
  return new GloveboxError("INTERNAL_BUG", message, { cause: thrown, hint });
}

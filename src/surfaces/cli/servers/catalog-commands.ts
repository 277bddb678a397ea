/** `glovebox tools` and `describe`: the tools that agents can use, and their declarations. */

import { Option } from "commander";
import type { Command } from "commander";

import { parseCount } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import { printJson, printLine } from "../print.ts";
import { describeServer, hasFailed } from "./servers-commands.ts";

const NAME_WIDTH = 36;
/** The page size of a search. */
const MOST_TOOLS = 50;

export function addCatalog(program: Command, { addCommand }: Commands): void {
  addCommand(program, "tools", "list or search the tools agents can use", toolsCommand)
    .argument("[query...]", "search words; without any, all tools")
    .option("--json", "print as one JSON object")
    .option("--limit <number>", "maximum number", parseCount);
  addCommand(program, "describe", "print TypeScript declarations of tools or whole namespaces", describeCommand)
    .argument("<names...>", "addresses such as github.listIssues, or namespaces such as github")
    .option("--json", "print as one JSON object")
    .addOption(new Option("--detail <level>", "level of detail").choices(["brief", "types", "full"]));
}

async function toolsCommand(
  { flags, principal, terminal, openGateway, print }: Invocation<{ readonly limit?: number }>,
  words: readonly string[],
): Promise<void> {
  await using gateway = await openGateway();
  const { limit = MOST_TOOLS } = flags;
  const found = await gateway.search(principal, { query: words.join(" "), limit });
  const lines = found.tools.map(({ name, effect, effectSource, summary, labels }) => {
    const shown = effectSource === "guess" ? `${effect}?` : effect;
    const marks = labels ? ` [${labels.join(", ")}]` : "";
    return `${name.padEnd(NAME_WIDTH)} ${shown.padEnd(8)} ${summary}${marks}`;
  });
  print(found, lines);
  if (flags.json) return;
  for (const server of found.servers) {
    if (hasFailed(server) || server.withheld !== undefined) printLine(terminal.stderr, describeServer(server));
  }
  const remedy = limit < MOST_TOOLS ? "narrow the query or raise --limit" : "narrow the query";
  if (found.cursor !== undefined) printLine(terminal.stderr, `More tools match: ${remedy}`);
}

/** Exit 1 if a name is neither a tool nor a namespace; the known ones are still printed. */
async function describeCommand(
  { flags, principal, terminal, openGateway }: Invocation<{ readonly detail?: "brief" | "types" | "full" }>,
  names: readonly string[],
): Promise<number> {
  await using gateway = await openGateway();
  const { declarations, unknown } = await gateway.describe(principal, names, flags.detail ?? "full");
  const isKnown = unknown.length === 0;
  if (flags.json) printJson(terminal.stdout, isKnown ? { declarations } : { declarations, unknown });
  else terminal.stdout.write(`${declarations.trimEnd()}\n`);
  return isKnown ? EXIT.done : EXIT.failed;
}

/** `glovebox tools` and `describe`: the tools that agents can use, and their declarations. */

import { EXIT } from "../powers.ts";
import type { CommandContext } from "../powers.ts";
import { printJson, printLine } from "../print.ts";
import { describeServer, hasFailed } from "./servers-command.ts";

export interface CatalogFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly limit?: number;
  readonly detail?: "brief" | "types" | "full";
}

const NAME_WIDTH = 36;
/** The page size of a search. */
const MOST_TOOLS = 50;

export async function toolsCommand(
  query: string,
  flags: CatalogFlags,
  { powers, principal }: CommandContext,
): Promise<number> {
  const { stdout, stderr } = powers.terminal;
  await using gateway = await powers.openGateway(await powers.loadSettings(flags.config));
  const { limit = MOST_TOOLS } = flags;
  const found = await gateway.search(principal, { query, limit });
  if (flags.json) printJson(stdout, found);
  else {
    for (const { name, effect, effectSource, summary, labels } of found.tools) {
      const shown = effectSource === "guess" ? `${effect}?` : effect;
      const marks = labels ? ` [${labels.join(", ")}]` : "";
      printLine(stdout, `${name.padEnd(NAME_WIDTH)} ${shown.padEnd(8)} ${summary}${marks}`);
    }
    for (const server of found.servers) {
      if (hasFailed(server) || server.withheld !== undefined) printLine(stderr, describeServer(server));
    }
    if (found.cursor !== undefined)
      printLine(
        stderr,
        limit < MOST_TOOLS
          ? "More tools match: narrow the query or raise --limit"
          : "More tools match: narrow the query",
      );
  }
  return EXIT.done;
}

/** Exit 1 if a name is neither a tool nor a namespace; the known ones are still printed. */
export async function describeCommand(
  names: readonly string[],
  flags: CatalogFlags,
  context: CommandContext,
): Promise<number> {
  const { powers, principal } = context;
  await using gateway = await powers.openGateway(await powers.loadSettings(flags.config));
  const { declarations, unknown } = await gateway.describe(principal, names, flags.detail ?? "full");
  if (flags.json) printJson(powers.terminal.stdout, { declarations, ...(unknown.length > 0 && { unknown }) });
  else powers.terminal.stdout.write(`${declarations.trimEnd()}\n`);
  return unknown.length > 0 ? EXIT.failed : EXIT.done;
}

/** `glovebox tools` and `describe`: what an agent would find and read. */

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
/** A search gives no more at once. */
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
        limit < MOST_TOOLS ? "There are more: narrow the query or raise --limit" : "There are more: narrow the query",
      );
  }
  return EXIT.done;
}

/** Exit 1 when a name is neither a tool nor a namespace; what is known is printed all the same. */
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

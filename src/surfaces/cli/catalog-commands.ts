/** `glovebox tools`, `describe` and `servers`: what an agent would find and read, and where it comes from. */

import type { Principal, UpstreamStatus } from "../../domain/index.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers } from "./powers.ts";
import { printJson, printLine } from "./print.ts";

export interface CatalogFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly limit?: number;
  readonly detail?: "brief" | "types" | "full";
}

interface Context {
  readonly powers: CliPowers;
  readonly principal: Principal;
}

const NAME_WIDTH = 36;
/** A search gives no more at once. */
const MOST_TOOLS = 50;

export async function toolsCommand(
  query: string,
  flags: CatalogFlags,
  { powers, principal }: Context,
): Promise<number> {
  const { stdout, stderr } = powers.terminal;
  await using gateway = await powers.openGateway(await powers.loadSettings(flags.config));
  const { limit = MOST_TOOLS } = flags;
  const found = await gateway.search(principal, { query, limit });
  if (flags.json) printJson(stdout, found);
  else {
    for (const { name, effect, summary } of found.tools) {
      printLine(stdout, `${name.padEnd(NAME_WIDTH)} ${effect.padEnd(8)} ${summary}`);
    }
    for (const server of found.servers) if (server.state === "failed") printLine(stderr, describeServer(server));
    if (found.cursor !== undefined)
      printLine(
        stderr,
        limit < MOST_TOOLS ? "There are more: narrow the query or raise --limit" : "There are more: narrow the query",
      );
  }
  return EXIT.done;
}

export async function describeCommand(
  names: readonly string[],
  flags: CatalogFlags,
  context: Context,
): Promise<number> {
  const { powers, principal } = context;
  await using gateway = await powers.openGateway(await powers.loadSettings(flags.config));
  const declarations = await gateway.describe(principal, names, flags.detail ?? "full");
  if (flags.json) printJson(powers.terminal.stdout, { declarations });
  else powers.terminal.stdout.write(`${declarations.trimEnd()}\n`);
  return EXIT.done;
}

/** Exit 1 when an upstream has failed, so that a script can tell. */
export async function serversCommand(flags: CatalogFlags, { powers, principal }: Context): Promise<number> {
  const { stdout } = powers.terminal;
  await using gateway = await powers.openGateway(await powers.loadSettings(flags.config));
  const { servers } = await gateway.search(principal, { limit: 1 });
  if (flags.json) printJson(stdout, { servers });
  else for (const server of servers) printLine(stdout, describeServer(server));
  return servers.some(({ state }) => state === "failed") ? EXIT.failed : EXIT.done;
}

export function describeServer(server: UpstreamStatus): string {
  const lines = [`${server.name}: ${server.state}, ${server.tools} tools, ${server.transport}`];
  if (server.cause !== undefined) lines.push(`  cause: ${server.cause}`);
  if (server.hint !== undefined) lines.push(`  hint: ${server.hint}`);
  if (server.state === "failed") for (const line of server.stderr ?? []) lines.push(`  | ${line}`);
  return lines.join("\n");
}

/** `glovebox servers`, `servers approve` and `servers restart`: upstreams, their state, and withheld definitions. */

import type { HeldTool } from "../../../catalog/index.ts";
import { GloveboxError, serverCommand, parseConnectorId } from "../../../domain/index.ts";
import type { ConnectorId, UpstreamStatus } from "../../../domain/index.ts";
import { EXIT } from "../powers.ts";
import type { CliPowers, CommandContext } from "../powers.ts";
import { countOf, printJson, printLine } from "../print.ts";

export interface ServersFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

/** Exit 1 if an upstream has failed. Withheld definitions do not count as a failure. */
export async function serversCommand(flags: ServersFlags, { powers, principal }: CommandContext): Promise<number> {
  const { stdout } = powers.terminal;
  const settings = await powers.loadSettings(flags.config);
  await using gateway = await powers.openGateway(settings);
  const { servers } = await gateway.search(principal, { limit: 1 });
  const names = new Set(servers.map(({ name }) => name));
  const held = (await gateway.held.list()).filter(({ server }) => names.has(server));
  if (flags.json) printJson(stdout, { servers, held });
  for (const server of flags.json ? [] : servers) {
    printLine(stdout, describeServer(server));
    printHeld(
      powers,
      held.filter((tool) => tool.server === server.name),
    );
  }
  return servers.some(hasFailed) ? EXIT.failed : EXIT.done;
}

/** Cannot be used now: Glovebox retries it later, or it waits for a person. */
export function hasFailed({ state }: UpstreamStatus): boolean {
  return state === "failed" || state === "needs-login" || state === "suspended";
}

export function describeServer(server: UpstreamStatus): string {
  const era = server.era === undefined ? "" : `, MCP ${server.era}`;
  const lines = [`${server.name}: ${server.state}, ${countOf(server.tools, "tool")}, ${server.transport}${era}`];
  if (server.cause !== undefined) lines.push(`  cause: ${server.cause}`);
  if (server.hint !== undefined) lines.push(`  hint: ${server.hint}`);
  if (hasFailed(server)) for (const line of server.stderr ?? []) lines.push(`  | ${line}`);
  return lines.join("\n");
}

function printHeld({ terminal }: CliPowers, held: readonly HeldTool[]): void {
  for (const { tool, why, difference } of held) {
    printLine(terminal.stdout, `  withheld: ${tool}, ${why}`);
    for (const line of difference) printLine(terminal.stdout, `    ${line}`);
  }
}

/** Prints the difference, then accepts it without asking, so that scripts can use it. */
export async function approveServerCommand(
  [name, ...tools]: readonly string[],
  flags: ServersFlags,
  { powers, principal }: CommandContext,
): Promise<number> {
  const settings = await powers.loadSettings(flags.config);
  const server = parseConnectorId(name);
  if (server === undefined) throw noServer(name ?? "");
  if (tools.length > 0 && flags.all === true) throw bothNamed();
  await lookIfNothingHeld(server, { powers, principal, flags });
  await using records = await powers.openRecords(settings);
  const { held } = records;
  if (tools.length === 0 && flags.all !== true && (await held.list(server)).length > 1) throw unnamed(server);
  const show = (shown: readonly HeldTool[]): void => {
    if (flags.json !== true) printHeld(powers, shown);
  };
  const approved = await held.approve({ server, tools: tools.length > 0 ? tools : "all", principal }, show);
  if (flags.json) printJson(powers.terminal.stdout, { approved });
  else printLine(powers.terminal.stdout, `${server}: ${approved.length} approved`);
  return EXIT.done;
}

/** A gateway that starts later ignores it, because it starts every upstream. */
export async function restartServerCommand(
  name: string,
  flags: ServersFlags,
  { powers, principal }: CommandContext,
): Promise<number> {
  const settings = await powers.loadSettings(flags.config);
  const server = parseConnectorId(name);
  if (server === undefined || !(settings.upstreams.has(server) || settings.apis.has(server))) throw noServer(name);
  await using records = await powers.openRecords(settings);
  await records.restart(server, principal.id);
  printLine(powers.terminal.stderr, `Gateways that run on this configuration restart ${server} within a few seconds`);
  return EXIT.done;
}

/** Lists the server's tools now if no gateway has done so since the last approval. */
async function lookIfNothingHeld(
  server: ConnectorId,
  { powers, principal, flags }: CommandContext & { readonly flags: ServersFlags },
): Promise<void> {
  const settings = await powers.loadSettings(flags.config);
  const isHeld = await withHeld(powers, settings, server);
  if (isHeld) return;
  await using gateway = await powers.openGateway(settings);
  const { servers } = await gateway.search(principal, { limit: 1 });
  if (!servers.some(({ name }) => name === server)) throw noServer(server);
}

async function withHeld(
  powers: CliPowers,
  settings: Parameters<CliPowers["openRecords"]>[0],
  server: ConnectorId,
): Promise<boolean> {
  await using records = await powers.openRecords(settings);
  const { held } = records;
  return (await held.list(server)).length > 0;
}

/** The error for an unknown server name. */
export function noServer(name: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `The configuration has no server ${JSON.stringify(name)}`, {
    hint: "glovebox servers lists them",
  });
}

function bothNamed(): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", "Pass tool names or --all, not both", { hint: "Remove one of them" });
}

function unnamed(server: ConnectorId): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `More than one tool of ${server} is withheld`, {
    hint: `Pass the tool names, or approve all: ${serverCommand("approve", server)} --all`,
  });
}

/** `glovebox serve` and `glovebox mcp`: the two ways for clients to connect. */

import { once } from "node:events";

import type { Command } from "commander";

import type { ExecutionResult } from "../../domain/index.ts";
import { parsePort } from "./add-command.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { IDLE_HINT, findIdleInCatalog, formatIdle } from "./idle-patterns.ts";
import { loadPolicy } from "./policy-commands.ts";
import { watchInterrupt } from "./powers.ts";
import { countOf } from "./print.ts";

interface ServeFlags {
  readonly host?: string;
  readonly port?: number;
  readonly unrestrictedNetwork?: boolean;
}

const LEVELS: Readonly<Record<ExecutionResult["isolation"], string>> = {
  strict: "strict (own process, every layer of confinement)",
  confined: "confined (own process, some layers of confinement)",
  process: "process (own process, no confinement by the operating system)",
};

/** For the commands that run programs. */
export const UNRESTRICTED = [
  "--unrestricted-network",
  "confirm a configuration that lets programs reach every public host",
] as const;

export function addServing(program: Command, { addCommand }: Commands): void {
  addCommand(program, "serve", "serve MCP over Streamable HTTP, the admin page and /health", serveCommand)
    .option("--json", "print the addresses as one JSON object")
    .option("--host <name>", "a loopback name or address to listen on")
    .option("--port <number>", "the port to listen on; 0 chooses a free one", parsePort)
    .option(...UNRESTRICTED);
  addCommand(program, "mcp", "serve MCP on standard input and output, for a client's mcp.json", mcpCommand).option(
    ...UNRESTRICTED,
  );
}

/** Serves until it is interrupted. */
async function serveCommand({ flags, powers, principal, agent, terminal, ...rest }: Invocation<ServeFlags>) {
  const servers = await powers.loadServers();
  const settings = await rest.loadSettings();
  const { host = settings.server.host, port = settings.server.port } = flags;
  using interrupt = watchInterrupt(terminal);
  const ended = once(interrupt.signal, "abort");
  await using gateway = await powers.openGateway(settings, { ...flags, lasting: true });
  const { webFolder, report, version } = powers;
  const token = powers.createToken();
  const door = { gateway, principal: agent, operator: principal, token, webFolder, report };
  const server = await servers.serveHttp({ host, port, ...door });
  try {
    // An interrupt does not wait for upstreams that are still starting.
    const found = await Promise.race([gateway.search(agent, { limit: 1 }), ended]);
    if (!("servers" in found)) return;
    const policy = { ...settings.policy, ...(await loadPolicy(settings)) };
    const idlePatterns = await findIdleInCatalog({ ...settings, policy }, gateway, agent);
    const { isolation, engine } = gateway.health();
    const { url } = server;
    const mcp = `${url}/mcp`;
    const admin = `${url}/#token=${token}`;
    const { source } = settings;
    const missing = isolation === "strict" ? "" : "; glovebox doctor names what is missing";
    const idle = idlePatterns.length > 0 ? { idlePatterns } : {};
    rest.print({ url, mcp, admin, engine, isolation, servers: found.servers, ...idle }, [
      `Glovebox ${version} serves MCP at ${mcp}`,
      `  admin page  ${admin}`,
      `  isolation   ${LEVELS[isolation]}${missing}`,
      `  settings    ${source.kind === "file" ? source.path : "built in, with a demo upstream"}`,
      ...found.servers.map(({ name, state, tools }) => `  upstream    ${name}: ${state}, ${countOf(tools, "tool")}`),
      ...found.servers.flatMap(({ name, cause, hint }) =>
        cause === undefined ? [] : [`  ! ${name}: ${cause}${hint === undefined ? "" : ` — ${hint}`}`],
      ),
      ...idlePatterns.map((one) => `  ! ${formatIdle(one)} — ${IDLE_HINT}`),
      "",
      "Add it to an MCP client, in its mcp.json:",
      `  ${JSON.stringify({ mcpServers: { glovebox: { type: "http", url: mcp } } })}`,
      `or with Claude Code: claude mcp add --transport http glovebox ${mcp}`,
      "",
      source.kind === "file"
        ? `Show the tools without a client: npx glovebox tools --config ${source.path}`
        : "Run a program without a client: npx glovebox run examples/demo.ts",
      "Stop with Ctrl-C.",
    ]);
    await ended;
  } finally {
    await server.close();
  }
}

/** Serves one client on standard input and output; only the protocol may write to stdout. */
async function mcpCommand({ flags, powers, agent, terminal, loadSettings }: Invocation<ServeFlags>): Promise<void> {
  const servers = await powers.loadServers();
  const { stdin: input, stdout: output } = terminal;
  const settings = await loadSettings();
  await using gateway = await powers.openGateway(settings, { ...flags, lasting: true });
  const served = servers.serveMcpOverStdio({ gateway, principal: agent, report: powers.report }, { input, output });
  await Promise.race([served, once(watchInterrupt(terminal).signal, "abort")]);
}

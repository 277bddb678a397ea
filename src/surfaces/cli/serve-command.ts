/** `glovebox serve` and `glovebox mcp`: the two ways for clients to connect. */

import type { Settings } from "../../config/index.ts";
import type { ExecutionResult, Principal, UpstreamStatus } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers, Terminal } from "./powers.ts";
import { countOf, printJson, printLine } from "./print.ts";

export interface ServeFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly host?: string;
  readonly port?: number;
  readonly unrestrictedNetwork?: boolean;
}

const LEVELS: Readonly<Record<ExecutionResult["isolation"], string>> = {
  strict: "strict (own process, every layer of confinement)",
  confined: "confined (own process, some layers of confinement)",
  process: "process (own process, no confinement by the operating system)",
};

/** Serves until it is interrupted. */
export async function serveCommand(
  flags: ServeFlags,
  { powers, principal: operator, agent }: { powers: CliPowers; principal: Principal; agent: Principal },
): Promise<number> {
  const servers = await powers.loadServers();
  const settings = await powers.loadSettings(flags.config);
  const { host = settings.server.host, port = settings.server.port } = flags;
  const ended = waitForInterrupt(powers.terminal);
  await using gateway = await powers.openGateway(settings, { ...flags, lasting: true });
  const { webFolder, report } = powers;
  const token = powers.createToken();
  const server = await servers.serveHttp({ host, port, gateway, principal: agent, operator, token, webFolder, report });
  try {
    // An interrupt does not wait for upstreams that are still starting.
    const found = await Promise.race([gateway.search(agent, { limit: 1 }), ended]);
    if (!found) return EXIT.done;
    const { servers: upstreams } = found;
    announce({ url: server.url, token, settings, servers: upstreams, gateway, powers, json: flags.json === true });
    await ended;
  } finally {
    await server.close();
  }
  return EXIT.done;
}

/** Serves one client on standard input and output; only the protocol may write to stdout. */
export async function mcpCommand(
  flags: { readonly config?: string; readonly unrestrictedNetwork?: boolean },
  { powers, agent }: { powers: CliPowers; agent: Principal },
): Promise<number> {
  const servers = await powers.loadServers();
  const { stdin, stdout } = powers.terminal;
  const settings = await powers.loadSettings(flags.config);
  await using gateway = await powers.openGateway(settings, { ...flags, lasting: true });
  await Promise.race([
    servers.serveMcpOverStdio({ gateway, principal: agent, report: powers.report }, { input: stdin, output: stdout }),
    waitForInterrupt(powers.terminal),
  ]);
  return EXIT.done;
}

function waitForInterrupt(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const forget = terminal.onInterrupt(() => {
      forget();
      resolve();
    });
  });
}

interface Announcement {
  readonly url: string;
  readonly token: string;
  readonly settings: Settings;
  readonly servers: readonly UpstreamStatus[];
  readonly gateway: Gateway;
  readonly powers: CliPowers;
  readonly json: boolean;
}

function announce({ url, token, settings, servers, gateway, powers, json }: Announcement): void {
  const { stdout } = powers.terminal;
  const { isolation, engine } = gateway.health();
  const mcp = `${url}/mcp`;
  const admin = `${url}/#token=${token}`;
  if (json) return printJson(stdout, { url, mcp, admin, engine, isolation, servers });
  const client = { mcpServers: { glovebox: { type: "http", url: mcp } } };
  const lines = [
    `Glovebox ${powers.version} serves MCP at ${mcp}`,
    `  admin page  ${admin}`,
    `  isolation   ${LEVELS[isolation]}${isolation === "strict" ? "" : "; glovebox doctor names what is missing"}`,
    `  settings    ${settings.source.kind === "file" ? settings.source.path : "built in, with demo upstreams"}`,
    ...servers.map((server) => `  upstream    ${server.name}: ${server.state}, ${countOf(server.tools, "tool")}`),
    ...servers.flatMap(({ name, cause, hint }) =>
      cause === undefined ? [] : [`  ! ${name}: ${cause}${hint === undefined ? "" : ` — ${hint}`}`],
    ),
    "",
    "Add it to an MCP client, in its mcp.json:",
    `  ${JSON.stringify(client)}`,
    `or with Claude Code: claude mcp add --transport http glovebox ${mcp}`,
    "",
    "Run a program without a client: npx glovebox run examples/demo.ts",
    "Stop with Ctrl-C.",
  ];
  for (const line of lines) printLine(stdout, line);
}

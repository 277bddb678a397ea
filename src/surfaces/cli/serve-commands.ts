/** `glovebox serve` and `glovebox mcp`: the two ways for clients to connect. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import type { Writable } from "node:stream";

import type { Command } from "commander";

import type { Settings } from "../../config/index.ts";
import type { ExecutionResult } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import { createNearGateway, findNearPlace } from "../near-gateway.ts";
import type { OperatorDoor } from "../operator-records.ts";
import { describeWaiting } from "../reach-people.ts";
import { serveNear } from "../serve-near.ts";
import { findPage } from "./people/find-page.ts";
import { parsePort } from "./add-command.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { IDLE_HINT, findIdleInCatalog, formatIdle } from "./policy/idle-patterns.ts";
import { loadPolicy } from "./policy/load-policy.ts";
import { watchInterrupt } from "./powers.ts";
import { countOf, printLine } from "./print.ts";

interface ServeFlags {
  readonly host?: string;
  readonly port?: number;
  readonly unrestrictedNetwork?: boolean;
}

interface OpenFlags {
  readonly print?: boolean;
}

const LEVELS: Readonly<Record<ExecutionResult["isolation"], string>> = {
  strict: "strict (own process that reaches no file, socket or other process)",
  confined: "confined (own process, some layers of confinement)",
  process: "process (own process, no confinement by the operating system)",
};

/** For the commands that run programs. */
export const UNRESTRICTED = [
  "--unrestricted-network",
  "confirm a configuration that lets programs reach every public host",
] as const;

export function addServing(program: Command, { addCommand, addJsonCommand }: Commands): void {
  addCommand(program, "serve", "serve MCP over Streamable HTTP, the admin page and /health", serveCommand)
    .option("--json", "print the addresses as one JSON object")
    .option("--host <name>", "the address to listen on")
    .option("--port <number>", "the port to listen on; 0 chooses a free one", parsePort)
    .option(...UNRESTRICTED);
  addJsonCommand(program, "open", "open the admin page of a running server, with a one-time code", openCommand).option(
    "--print",
    "only print the address, which works for a minute",
  );
  addCommand(program, "mcp", "serve MCP on standard input and output, for a client's mcp.json", mcpCommand).option(
    ...UNRESTRICTED,
  );
}

/** Serves until it is interrupted. */
async function serveCommand({ flags, powers, principal, terminal, ...rest }: Invocation<ServeFlags>) {
  const servers = await powers.loadServers();
  const settings = await rest.loadSettings();
  const { host = settings.server.host, port = settings.server.port } = flags;
  using interrupt = watchInterrupt(terminal);
  const ended = once(interrupt.signal, "abort");
  await using gateway = await powers.openGateway(settings, { ...flags, lasting: true });
  const { packageFolder, report, version, uid, warn } = powers;
  const { agent, identity } = gateway;
  const webFolder = join(packageFolder, "dist", "web");
  await using operator = openOperatorDoor({ powers, settings, terminal });
  const door = { gateway, identity, webFolder, report, uid, warn, operator, storePath: settings.store.path };
  const server = await servers.serveHttp({ server: toServer(settings, { host, port }), ...door });
  try {
    // An interrupt does not wait for upstreams that are still starting.
    const found = await Promise.race([gateway.search(agent, { limit: 1 }), ended]);
    if (!("servers" in found)) return;
    const policy = { ...settings.policy, ...(await loadPolicy(settings)) };
    // A server that is not ready by now must not delay the line that names the address.
    const idlePatterns = await findIdleInCatalog({ ...settings, policy }, gateway, agent, []);
    const { isolation, engine } = gateway.health();
    const { url, pageUrl, openTo } = server;
    const mcp = `${url}/mcp`;
    const admin = `${pageUrl}/#code=${await identity.sessions.createCode(principal)}`;
    const { source } = settings;
    const missing = isolation === "strict" ? "" : "; glovebox doctor names what is missing";
    const idle = idlePatterns.length > 0 ? { idlePatterns } : {};
    rest.print({ url, mcp, admin, engine, isolation, servers: found.servers, ...idle }, [
      `Glovebox ${version} serves MCP at ${mcp}`,
      `  admin page  ${pageUrl}  (open it with: glovebox open)`,
      ...(openTo === undefined ? [] : [`  ! /mcp is open to ${openTo}`]),
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
        ? `Show the tools without a client: npx --no-install glovebox tools --config ${source.path}`
        : "Run a program without a client: npx --no-install glovebox run examples/demo.ts",
      "Stop with Ctrl-C.",
    ]);
    await using _page = await gateway.people.announcePage(pageUrl);
    await using _near = await serveCommands({ settings, powers, principal }, gateway);
    using _lines = await printApprovals(gateway, terminal.stderr);
    await ended;
  } finally {
    await server.close();
  }
}

/** What the page does beside the gateway; the records are opened when they are first needed. */
function openOperatorDoor({
  powers,
  settings,
  terminal,
}: Pick<Invocation, "powers" | "terminal"> & { readonly settings: Settings }): OperatorDoor & AsyncDisposable {
  const { source, store } = settings;
  const [command, script] = terminal.start;
  const config = source.kind === "file" ? ["--config", source.path] : [];
  let opened: ReturnType<typeof powers.openRecords> | undefined;
  let stored: ReturnType<typeof powers.readRecords> | undefined;
  const openRecords = () => (opened ??= powers.openRecords(settings));
  const readRecords = () => (stored ??= powers.readRecords(settings));
  return {
    ...(store.path !== ":memory:" && { openRecords, readRecords }),
    settings,
    showReplay: (kept, request) => powers.showReplay(settings, kept, request),
    toRecordingFile: (kept) => powers.toRecordingFile(kept),
    start: { command, args: [script, "mcp", ...config] },
    [Symbol.asyncDispose]: async () => {
      for (const records of [stored, opened]) await (await records)?.[Symbol.asyncDispose]();
    },
  };
}

/** Commands of the same user use this gateway, whose servers are ready, instead of starting their own. */
function serveCommands(
  { settings, powers, principal }: Pick<Invocation, "powers" | "principal"> & { readonly settings: Settings },
  gateway: Gateway,
): Promise<AsyncDisposable> {
  const open = () => createNearGateway(gateway, { ...principal, session: randomUUID() });
  return serveNear(findNearPlace(settings, powers.version), { open, report: powers.report });
}

/** Flags take precedence. A host that other machines can reach needs logins, as in the configuration. */
function toServer({ server }: Settings, place: { readonly host: string; readonly port: number }): Settings["server"] {
  const isLocal = /^(?:127\.|::1$|localhost$)/.test(place.host);
  return { ...server, ...place, auth: isLocal ? server.auth : "required" };
}

/** Opens the page of a running server, or of the one that the configuration describes, with a code for one minute. */
async function openCommand({ flags, powers, principal, openRecords, print, readSettings }: Invocation<OpenFlags>) {
  await using records = await openRecords();
  const page = await findPage(records, await readSettings());
  const url = `${page}/#code=${await (await records.openIdentity()).sessions.createCode(principal)}`;
  if (flags.print !== true && !flags.json) powers.openBrowser(new URL(url));
  print({ url }, [url]);
}

/** Prints one line for each approval that waits from now on, and one for those that wait already. */
async function printApprovals(gateway: Gateway, stderr: Writable): Promise<Disposable> {
  const { people, approvals } = gateway;
  const stop = gateway.onApprovalRequested((requested) => {
    void describeWaiting(requested, people).then((line) => printLine(stderr, line));
  });
  const waiting = await approvals.list({ isPending: true });
  const [first] = waiting;
  if (first)
    printLine(
      stderr,
      `${countOf(waiting.length, "approval")} already waiting, such as ${people.commands(first.id).show}`,
    );
  return { [Symbol.dispose]: stop };
}

/** Serves one client on standard input and output; only the protocol may write to stdout. */
async function mcpCommand({ flags, powers, principal, terminal, loadSettings }: Invocation<ServeFlags>): Promise<void> {
  const servers = await powers.loadServers();
  const { stdin: input, stdout: output } = terminal;
  const settings = await loadSettings();
  await using gateway = await powers.openGateway(settings, { ...flags, lasting: true });
  using _lines = await printApprovals(gateway, terminal.stderr);
  await using _near = await serveCommands({ settings, powers, principal }, gateway);
  const door = { gateway, principal: gateway.agent, report: powers.report };
  const served = servers.serveMcpOverStdio(door, { input, output });
  await Promise.race([served, once(watchInterrupt(terminal).signal, "abort")]);
}

/** `glovebox tools`, `describe` and `servers`: the tools that agents can use, and the upstreams behind them. */

import { randomBytes } from "node:crypto";

import { Option } from "commander";
import type { Command } from "commander";

import type { HeldDefinitions, HeldTool } from "../../../catalog/index.ts";
import type { DroppedLogin } from "../../../connectors/index.ts";
import { GloveboxError, parseConnectorId, serverCommand } from "../../../domain/index.ts";
import type { ConnectorId, UpstreamStatus } from "../../../domain/index.ts";
import { parseCount, parsePort } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import type { Terminal } from "../powers.ts";
import { askYesNo, countOf, printJson, printLine } from "../print.ts";
import { addChanges } from "./add-server.ts";
import { addRefusedHosts } from "./refused-hosts.ts";
import { listenForAnswer } from "./listen-for-answer.ts";
import { noServer, toServer } from "./to-server.ts";
import { formatToolChange, updateServer } from "./update-command.ts";

interface LoginFlags {
  readonly open?: boolean;
  readonly scope?: string;
  readonly port?: number;
}

/** Time limit for the person at the browser. */
/** Of the state that binds an answer to this login. */
const STATE_BYTES = 24;
const ANSWER_MS = 10 * 60_000;

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

export function addServers(program: Command, { addCommand, addJsonCommand }: Commands): void {
  const servers = addJsonCommand(
    program,
    "servers",
    "list upstreams, their state and withheld definitions",
    listServers,
  );
  addChanges(servers, addJsonCommand);
  addJsonCommand(
    servers,
    "approve <name> [tools...]",
    "show new or changed tool definitions, ask, and accept them",
    approveTools,
  )
    .option("--all", "all withheld definitions of this server that were not rejected")
    .option("--yes", "do not ask; needed without a terminal");
  addJsonCommand(
    servers,
    "reject <name> [tools...]",
    "mark withheld definitions as unwanted: they stay withheld",
    rejectTools,
  ).option("--all", "all withheld definitions of this server");
  addCommand(servers, "login <name>", "log in to an upstream with OAuth; prints an address for your browser", login)
    .option("--open", "also open the address in a browser")
    .option("--scope <scopes>", "additional scopes, separated by spaces")
    .option("--port <number>", "the port for the answer on 127.0.0.1 (default: a free one)", parsePort);
  addCommand(servers, "logout <name>", "delete the login of an upstream", logout);
  addJsonCommand(
    servers,
    "update <name>",
    "install another version of the package of a server with npx, show what changes, ask, and accept it",
    updateServer,
  ).option("--yes", "do not ask; needed without a terminal");
  addCommand(servers, "restart <name>", "restart an upstream in every gateway on this store", restartServer);
}

async function toolsCommand(
  { flags, principal, terminal, loadSettings, openNear, print }: Invocation<{ readonly limit?: number }>,
  words: readonly string[],
): Promise<void> {
  await using opened = await openNear(await loadSettings(), principal);
  const { limit = MOST_TOOLS } = flags;
  const found = await opened.near.search({ query: words.join(" "), limit });
  const lines = found.tools.map(({ name, effect, effectSource, summary, labels }) => {
    const shown = effectSource === "guess" ? `${effect}?` : effectSource === "reviewed" ? `${effect}*` : effect;
    const marks = labels ? ` [${labels.join(", ")}]` : "";
    return `${name.padEnd(NAME_WIDTH)} ${shown.padEnd(8)} ${summary}${marks}`;
  });
  print(found, lines);
  if (flags.json) return;
  for (const server of found.servers) {
    if (server.state !== "ready" || server.withheld !== undefined) printLine(terminal.stderr, describeServer(server));
  }
  const remedy = limit < MOST_TOOLS ? "narrow the query or raise --limit" : "narrow the query";
  if (found.cursor !== undefined) printLine(terminal.stderr, `More tools match: ${remedy}`);
}

/** Exit 1 if a name is neither a tool nor a namespace; the known ones are still printed. */
async function describeCommand(
  { flags, principal, terminal, loadSettings, openNear }: Invocation<{ readonly detail?: "brief" | "types" | "full" }>,
  names: readonly string[],
): Promise<number> {
  await using opened = await openNear(await loadSettings(), principal);
  const { declarations, unknown } = await opened.near.describe(names, flags.detail ?? "full");
  const isKnown = unknown.length === 0;
  if (flags.json) printJson(terminal.stdout, isKnown ? { declarations } : { declarations, unknown });
  else terminal.stdout.write(`${declarations.trimEnd()}\n`);
  return isKnown ? EXIT.done : EXIT.failed;
}

/** Exit 1 if an upstream has failed. Withheld definitions do not count as a failure. */
async function listServers({ principal, openGateway, readRecords, powers, print }: Invocation): Promise<number> {
  await using gateway = await openGateway();
  await gateway.takeSnapshot(principal); // waits for all of them
  const servers = await addRefusedHosts(gateway.health().upstreams, readRecords, powers.now());
  const names = new Set(servers.map(({ name }) => name));
  const held = (await gateway.held.list()).filter(({ server }) => names.has(server));
  const lines = servers.flatMap((server) => [
    describeServer(server),
    ...held.filter((tool) => tool.server === server.name).flatMap(formatHeld),
  ]);
  print({ servers, held }, lines);
  return servers.some(hasFailed) ? EXIT.failed : EXIT.done;
}

/** Cannot be used now: Glovebox retries it later, or it waits for a person. */
function hasFailed({ state }: UpstreamStatus): boolean {
  return state === "failed" || state === "needs-login" || state === "suspended";
}

function describeServer(server: UpstreamStatus): string {
  const era = server.era === undefined ? "" : `, MCP ${server.era}`;
  const { level = "off", refusedHosts = [], missingFiles = [] } = server.confinement ?? {};
  const confined = server.transport === "stdio" ? `, confine ${level}` : "";
  const lines = [
    `${server.name}: ${server.state}, ${countOf(server.tools, "tool")}, ${server.transport}${era}${confined}`,
  ];
  if (server.cause !== undefined) lines.push(`  cause: ${server.cause}`);
  if (server.hint !== undefined) lines.push(`  hint: ${server.hint}`);
  for (const finding of server.findings ?? []) lines.push(`  finding: ${finding}`);
  const key = `mcpServers.${server.name}`;
  for (const host of refusedHosts)
    lines.push(`  refused: ${host}; to allow it, add it to ${key}.networkPolicy.domains`);
  for (const file of missingFiles)
    lines.push(`  missing: ${file}; to allow it, add it to ${key}.files.read or files.write`);
  if (hasFailed(server)) for (const line of server.stderr ?? []) lines.push(`  | ${line}`);
  return lines.join("\n");
}

function formatHeld({ rejectedBy, ...held }: HeldTool): readonly string[] {
  const rejected = rejectedBy === undefined ? "" : `, rejected by ${rejectedBy}`;
  const [first = "", ...rest] = formatToolChange(held);
  return [`  withheld: ${first}${rejected}`, ...rest.map((line) => `  ${line}`)];
}

interface HeldFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** Shows the difference and asks. Exit 1 if the person declines. */
async function approveTools(
  invocation: Invocation<HeldFlags>,
  name: string,
  tools: readonly string[],
): Promise<number> {
  const { flags, terminal, print } = invocation;
  const request = await toHeldRequest(invocation, name, tools, "approve");
  await using records = await invocation.openRecords();
  const confirm = (shown: readonly HeldTool[]): Promise<boolean> | boolean => {
    if (!flags.json) for (const line of shown.flatMap(formatHeld)) printLine(terminal.stdout, line);
    return flags.yes === true || shown.length === 0 || confirmTools(shown, terminal);
  };
  const approved = await records.held.approve(request, confirm);
  if (!approved) {
    printLine(terminal.stderr, "Nothing was accepted");
    return EXIT.failed;
  }
  print({ approved }, [`${request.server}: ${approved.length} approved`]);
  return EXIT.done;
}

async function rejectTools(invocation: Invocation<HeldFlags>, name: string, tools: readonly string[]): Promise<void> {
  const request = await toHeldRequest(invocation, name, tools, "reject");
  await using records = await invocation.openRecords();
  const rejected = await records.held.reject(request);
  invocation.print({ rejected }, [...rejected.flatMap(formatHeld), `${request.server}: ${rejected.length} rejected`]);
}

/** Rejects with REQUEST_INVALID without a terminal: a definition is text of a stranger, so a person must have seen it. */
function confirmTools(shown: readonly HeldTool[], { stdin, stderr }: Terminal): Promise<boolean> {
  if (stdin.isTTY !== true) {
    throw new GloveboxError("REQUEST_INVALID", `${countOf(shown.length, "definition")} shown, nothing accepted`, {
      hint: "Without a terminal, read them and pass --yes; `glovebox servers reject` marks unwanted ones",
    });
  }
  const marks = shown.filter(({ suspicious }) => suspicious).length;
  const warning = marks === 0 ? "" : ` ${countOf(marks, "definition")} with suspicious text.`;
  return askYesNo(`${warning} Accept ${countOf(shown.length, "definition")}? [y/N] `.trimStart(), stdin, stderr);
}

async function toHeldRequest(
  invocation: Invocation<HeldFlags>,
  name: string,
  tools: readonly string[],
  verb: "approve" | "reject",
): Promise<Parameters<HeldDefinitions["approve"]>[0]> {
  const { flags, principal } = invocation;
  await invocation.loadSettings(); // an invalid configuration is reported before a wrong name
  const server = parseConnectorId(name);
  if (server === undefined) throw noServer(name);
  if (tools.length > 0 && flags.all === true) {
    throw new GloveboxError("REQUEST_INVALID", "Pass tool names or --all, not both", { hint: "Remove one of them" });
  }
  await listIfNothingHeld(server, invocation);
  await using records = await invocation.openRecords();
  const open = (await records.held.list(server)).filter(({ rejectedBy }) => rejectedBy === undefined);
  if (tools.length === 0 && flags.all !== true && open.length > 1) {
    throw new GloveboxError("REQUEST_INVALID", `More than one tool of ${server} is withheld`, {
      hint: `Pass the tool names, or ${verb} all: ${serverCommand(verb, server)} --all`,
    });
  }
  return { server, tools: tools.length > 0 ? tools : "all", principal };
}

/** A gateway that starts later ignores it, because it starts every upstream. */
async function restartServer(invocation: Invocation, name: string): Promise<void> {
  const { powers, principal, terminal } = invocation;
  const settings = await invocation.readSettings();
  const server = toServer(name, settings.upstreams, settings.apis);
  await using records = await powers.openRecords(settings);
  await records.restart(server, principal.id);
  printLine(terminal.stderr, `Gateways that run on this configuration restart ${server} within a few seconds`);
}

/** Lists the server's tools now if no gateway has done so since the last approval. */
async function listIfNothingHeld(server: ConnectorId, { principal, openGateway, openRecords }: Invocation) {
  {
    await using records = await openRecords();
    if ((await records.held.list(server)).length > 0) return;
  }
  await using gateway = await openGateway();
  await gateway.takeSnapshot(principal); // waits for all of them
  const { upstreams: servers } = gateway.health();
  if (!servers.some(({ name }) => name === server)) throw noServer(server);
}

/** Only the address goes to standard output, so that it can be piped. Tokens are never printed. */
async function login(
  { flags, powers, principal, terminal, loadSettings }: Invocation<LoginFlags>,
  name: string,
): Promise<void> {
  const { stdout, stderr } = terminal;
  const settings = await loadSettings();
  const id = toServer(name, settings.upstreams);
  const scopes = (flags.scope ?? "").split(" ").filter(Boolean);
  const state = randomBytes(STATE_BYTES).toString("base64url");
  await using listener = await listenForAnswer({ state, port: flags.port ?? 0, answerMs: ANSWER_MS });
  const stopListening = terminal.onInterrupt(() => listener.stop());
  try {
    await using records = await powers.openRecords(settings);
    const { logins } = records;
    const begun = await logins.begin(id, { scopes, state, redirectUri: listener.redirectUri });
    printLine(stderr, `Open this address to log in to ${id} at ${begun.issuer}:`);
    stdout.write(`${begun.authorizationUrl.href}\n`);
    if (flags.open === true) powers.openBrowser(begun.authorizationUrl);
    await logins.keep(await begun.finish(await listener.answer), principal.id);
    printLine(stderr, `Logged in to ${id}; gateways that run on this configuration use it within a few seconds`);
  } finally {
    stopListening();
  }
}

/** Deletes the login in any case, and reports whether its tokens are still valid. */
async function logout(invocation: Invocation, name: string): Promise<void> {
  const { powers, principal, terminal } = invocation;
  const settings = await invocation.loadSettings();
  const id = toServer(name, settings.upstreams);
  await using records = await powers.openRecords(settings);
  printLine(terminal.stderr, describeLogout(id, await records.logins.drop(id, principal.id)));
}

function describeLogout(id: ConnectorId, dropped: DroppedLogin): string {
  if (dropped.kind === "none") return `${id} had no login`;
  const { issuer, revocation } = dropped;
  const forgotten = `The login of ${id} is deleted`;
  if (!revocation) return forgotten;
  switch (revocation.kind) {
    case "revoked":
      return `${forgotten}, and its tokens are revoked at ${issuer}`;
    case "unsupported":
      return `${forgotten}; ${issuer} cannot revoke its tokens, so they stay valid until they expire`;
    case "failed":
      return `${forgotten}, but its tokens could not be revoked at ${issuer} (${revocation.cause}): they stay valid until they expire, or until you revoke them there`;
    default:
      return revocation satisfies never;
  }
}

/** `glovebox servers add`, `remove` and `test`: servers of the configuration, tried before they are written. */

import { resolve } from "node:path";

import type { Command } from "commander";

import type { Settings } from "../../../config/index.ts";
import { GloveboxError, isJsonObject, parseSecretName } from "../../../domain/index.ts";
import type { UpstreamStatus } from "../../../domain/index.ts";
import { planAdd, planConfigAdd, planConfigRemove, readPaste, writeEdit } from "../../../onboarding/index.ts";
import type { AddedServer, FileEdit, PastedServers } from "../../../onboarding/index.ts";
import { compareLines } from "../../../text/index.ts";
import { Secret } from "../../../vault/index.ts";
import type { Gateway } from "../../gateway.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import { AROUND, askYesNo, countOf, printLine } from "../print.ts";
import { noServer, toServer } from "./to-server.ts";

interface ChangeFlags {
  readonly config?: string;
  readonly name?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

interface TriedServer {
  readonly status: UpstreamStatus | undefined;
  readonly tools: Awaited<ReturnType<Gateway["search"]>>["tools"];
}

const MOST_TOOLS = 50;

export function addChanges(servers: Command, addJsonCommand: Commands["addJsonCommand"]): void {
  const add = "try a server or API, show its tools, ask, and add it to the configuration";
  addJsonCommand(servers, "add", add, addPasted)
    .argument("<paste...>", "a URL, a command (behind --), the JSON of a client, or an OpenAPI document")
    .option("--name <name>", "its name in the configuration")
    .option("--yes", "do not ask; needed without a terminal")
    .option("--dry-run", "only try and show it");
  const remove = addJsonCommand(
    servers,
    "remove <name>",
    "remove a server or API from the configuration",
    removeServer,
  );
  remove.option("--yes", "do not ask; needed without a terminal");
  addJsonCommand(servers, "test <name>", "connect to one server of the configuration and list its tools", testServer);
}

/** Exit 1 if a server cannot be connected, or the person declines. */
async function addPasted(invocation: Invocation<ChangeFlags>, words: readonly string[]): Promise<number> {
  const { flags, powers, terminal, print } = invocation;
  const settings = await invocation.readSettings();
  const configPath = toConfigPath(invocation, settings);
  const { user } = powers.openHome(undefined);
  const places = { home: user.home, project: terminal.cwd, platform: terminal.platform };
  await using records = await powers.openRecords(settings);
  const secretNames = (await records.vault.list()).map(({ name }) => String(name));
  const plan = (pasted: PastedServers) => planAdd(pasted, { places, secretNames, name: flags.name });
  const { added, tried } = await tryEach(readPaste(words), plan, invocation);
  const edit = planConfigAdd(configPath, added);
  const isReady = tried.every(({ status }) => status?.state === "ready" || status?.state === "needs-login");
  if (!flags.json) {
    for (const line of added.flatMap((one, index) => describeAdded(one, tried[index])))
      printLine(terminal.stdout, line);
    printChange(edit, invocation);
  }
  const isWritten = flags.dryRun !== true && (await confirm(isReady, invocation));
  if (isWritten) {
    for (const { name, value } of added.flatMap(({ secrets }) => secrets)) {
      const secret = parseSecretName(name);
      if (secret) await records.vault.set(secret, new Secret(value), invocation.principal.id);
    }
    writeEdit(edit);
    await powers.giveConsent(configPath, () => undefined);
  }
  const servers = added.map((one, index) => toShown(one, tried[index]));
  print({ config: configPath, written: isWritten, servers }, isWritten ? [`Written to ${configPath}`] : []);
  return isWritten || (flags.dryRun === true && isReady) ? EXIT.done : EXIT.failed;
}

/** Exit 1 if the person declines. Secrets and logins of the server stay. */
async function removeServer(invocation: Invocation<ChangeFlags>, name: string): Promise<number> {
  const { powers, print } = invocation;
  const configPath = toConfigPath(invocation, await invocation.readSettings());
  const edit = planConfigRemove(configPath, name);
  if (!edit) throw noServer(name);
  if (!invocation.flags.json) printChange(edit, invocation);
  if (!(await confirm(true, invocation))) return EXIT.failed;
  writeEdit(edit);
  await powers.giveConsent(configPath, () => undefined);
  print({ config: configPath, removed: name }, [
    `${name} is removed; running gateways use it until they are restarted`,
  ]);
  return EXIT.done;
}

/** Connects to one server of the configuration, and lists its tools. Exit 1 if it is not ready. */
async function testServer(invocation: Invocation, name: string): Promise<number> {
  const { powers, print } = invocation;
  const settings = await invocation.loadSettings();
  const id = toServer(name, settings.upstreams, settings.apis);
  const only = <Value>(all: ReadonlyMap<typeof id, Value>) => new Map([...all].filter(([one]) => one === id));
  const chosen = { ...settings, upstreams: only(settings.upstreams), apis: only(settings.apis), adapters: [] };
  await using gateway = await powers.openGateway(chosen, { runsPrograms: false });
  const { status, tools } = await tryGateway(gateway, name, invocation);
  print({ server: status, tools }, describeTried(name, { status, tools }));
  return status?.state === "ready" ? EXIT.done : EXIT.failed;
}

/** A URL that is not a server may be the document of an API. */
async function tryEach(
  pasted: PastedServers,
  plan: (pasted: PastedServers) => readonly AddedServer[],
  invocation: Invocation<ChangeFlags>,
) {
  const added = plan(pasted);
  const tried = await Promise.all(added.map((one) => tryServer(one, invocation)));
  const isBroken = tried.some(({ status }) => status === undefined || status.state === "failed");
  if (!pasted.isGuess || !isBroken) return { added, tried };
  const [entry] = Object.entries(pasted.entries).map(([name, raw]) => [name, swap(raw)] as const);
  if (!entry) return { added, tried };
  const section = pasted.section === "openapi" ? "mcpServers" : "openapi";
  const other = plan({ section, entries: { [entry[0]]: entry[1] }, isGuess: false });
  const second = await Promise.all(other.map((one) => tryServer(one, invocation)));
  return second.every(({ status }) => status?.state === "ready") ? { added: other, tried: second } : { added, tried };
}

function swap(raw: PastedServers["entries"][string]): PastedServers["entries"] {
  const { url, document } = isJsonObject(raw) ? raw : {};
  return url === undefined ? { url: document ?? "" } : { document: url };
}

/** In a gateway with a store in memory, so that nothing of it stays. */
async function tryServer(
  { name, section, tried }: AddedServer,
  invocation: Invocation<ChangeFlags>,
): Promise<TriedServer> {
  const { powers } = invocation;
  const settings = powers.parseObject({
    [section]: { [name]: tried },
    ...(section === "mcpServers" ? {} : { mcpServers: {} }),
    store: { url: "sqlite::memory:" },
    analysis: { types: "off" },
  });
  await using gateway = await powers.openGateway(settings, { runsPrograms: false });
  return await tryGateway(gateway, name, invocation);
}

async function tryGateway(
  gateway: Awaited<ReturnType<Invocation["openGateway"]>>,
  name: string,
  { principal }: Pick<Invocation, "principal">,
): Promise<TriedServer> {
  await gateway.takeSnapshot(principal); // waits for the server
  const status = gateway.health().upstreams.find((one) => one.name === name);
  const { tools } = await gateway.search(principal, { query: "", limit: MOST_TOOLS });
  return { status, tools };
}

function toShown({ name, section, secrets, warnings, missingSecrets }: AddedServer, tried: TriedServer | undefined) {
  const { state = "failed", cause, confinement } = tried?.status ?? {};
  const tools = tried?.tools.map(({ name: tool, effect }) => ({ name: tool, effect })) ?? [];
  const names = secrets.map((secret) => secret.name);
  return {
    name,
    section,
    state,
    cause,
    confinement: confinement?.level,
    tools,
    secrets: names,
    warnings,
    missingSecrets,
  };
}

function describeAdded(added: AddedServer, tried: TriedServer | undefined): readonly string[] {
  const { name, secrets, warnings, missingSecrets } = added;
  return [
    ...describeTried(name, tried ?? { status: undefined, tools: [] }),
    ...warnings.map((warning) => `  ${warning}`),
    ...secrets.map((secret) => `  the secret ${secret.name} moves to the vault`),
    ...missingSecrets.map((secret) => `  the secret ${secret} is missing: glovebox secrets set ${secret}`),
  ];
}

function describeTried(name: string, { status, tools }: TriedServer): readonly string[] {
  const { state = "failed", cause, confinement, transport } = status ?? {};
  const level = transport === "stdio" ? `, confine ${confinement?.level ?? "off"}` : "";
  return [
    `${name}: ${state}, ${countOf(status?.tools ?? 0, "tool")}${level}`,
    ...(cause === undefined ? [] : [`  cause: ${cause}`]),
    ...tools.map(({ name: tool, effect, summary }) => `  ${tool.padEnd(36)} ${effect.padEnd(8)} ${summary}`),
  ];
}

function printChange(edit: FileEdit, { terminal }: Invocation<ChangeFlags>): void {
  printLine(terminal.stdout, `Changes of ${edit.path}:`);
  for (const line of compareLines(edit.text ?? "", edit.after, AROUND)) printLine(terminal.stdout, line);
}

function toConfigPath({ flags, terminal, powers }: Invocation<ChangeFlags>, { source }: Settings): string {
  const path =
    source.kind === "file"
      ? source.path
      : resolve(terminal.cwd, flags.config ?? `${powers.openHome(undefined).user.configFolder}/glovebox.config.json`);
  if (!path.endsWith(".ts")) return path;
  throw new GloveboxError("CONFIG_INVALID", `${path} is code, which this command does not edit`, {
    hint: "Add the server by hand, or name a JSON file with --config",
  });
}

async function confirm(isReady: boolean, { flags, terminal }: Invocation<ChangeFlags>): Promise<boolean> {
  if (flags.yes === true) return true;
  const { stdin, stderr } = terminal;
  const doubt = isReady ? "" : "It is not ready. ";
  if (stdin.isTTY === true && flags.json !== true) return askYesNo(`${doubt}Write this? [y/N] `, stdin, stderr);
  throw new GloveboxError("REQUEST_INVALID", "Nothing was changed", {
    hint: "Without a terminal, look at it with --dry-run, then pass --yes",
  });
}

/** `glovebox init`: imports the servers of MCP clients, and registers Glovebox in them. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Command } from "commander";

import { GloveboxError } from "../../../domain/index.ts";
import { CLIENTS, applyInit, findClientPlaces, listClientPlaces, planInit } from "../../../onboarding/index.ts";
import type { InitPlan, Places, ClientPlace } from "../../../onboarding/index.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import type { UserFiles } from "../powers.ts";
import { askYesNo, printLine } from "../print.ts";
import { describeResult, describePlan, listNextSteps } from "./print-init.ts";
import { openSealedRecords } from "./sealed-records.ts";
import { waitForCall } from "./wait-for-call.ts";

export interface HomeFlags {
  readonly home?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

interface InitFlags extends HomeFlags {
  readonly client?: readonly string[];
  readonly keep?: boolean;
  readonly project?: boolean;
}

export function addInit(program: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(program, "init", "import the servers of your MCP clients, and register Glovebox in them", initCommand)
    .option("--client <name...>", `only these clients: ${CLIENTS.map(({ id }) => id).join(", ")}`)
    .option("--yes", "do not ask; needed without a terminal")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--keep", "leave imported servers in the clients, too")
    .option("--project", "write the configuration to this folder, and change the clients' files in it")
    .option("--home <folder>", "another home folder");
}

/** Exit 1 if the file of a client cannot be used; the others are changed. */
async function initCommand(invocation: Invocation<InitFlags>): Promise<number> {
  const { flags, powers, terminal, print } = invocation;
  const { keep = false, project: isProject = false } = flags;
  const files = powers.openHome(flags.home === undefined ? undefined : resolve(terminal.cwd, flags.home));
  const places = toPlaces(files, invocation);
  const configPath = chooseConfig(files, invocation);
  const settings = await files.readPlanned(configPath);
  const known = await listSecretNames(invocation, settings);
  const start = { command: terminal.start[0], args: [terminal.start[1], "mcp", "--config", configPath] };
  const { checkServer: checkEntry } = files;
  const fixed = { places, configPath, start, keep, isProject, secretNames: known, checkEntry };
  const toPlan = (clientPlaces: readonly ClientPlace[], confirmed: ReadonlySet<string>): InitPlan =>
    planInit({ ...fixed, clientPlaces, confirmed });
  const found = chooseClients(findClientPlaces(places), places, flags.client);
  const isAsked = isInteractive(invocation);
  const chosen = isAsked && !flags.client ? await askClients(found, toPlan(found, new Set()), invocation) : found;
  const first = toPlan(chosen, new Set());
  const confirmed = isAsked ? await askServers(first, invocation) : new Set<string>();
  const plan = confirmed.size === 0 ? first : toPlan(chosen, confirmed);
  if (!flags.json) for (const line of describePlan(plan)) printLine(terminal.stdout, line);
  const failed = plan.clients.some(({ problem }) => problem) ? EXIT.failed : EXIT.done;
  if (flags.dryRun === true) {
    if (flags.json) print(describeResult(plan, { config: configPath, isApplied: false }), []);
    return failed;
  }
  if (!(await confirm(plan, invocation))) return EXIT.failed;
  await using sealed = await openSealedRecords(invocation, settings);
  await applyInit(plan, configPath, { stateFolder: files.user.stateFolder, store: settings.store.path, ...sealed });
  if (isProject) await files.giveConsent(configPath, () => undefined);
  const next = listNextSteps(plan, configPath);
  print(describeResult(plan, { config: configPath, isApplied: true, next }), ["", ...next]);
  if (isAsked) await waitForCall(invocation, settings);
  return failed;
}

export function toPlaces({ user }: UserFiles, { terminal }: Pick<Invocation, "terminal">): Places {
  const { home, configHome: xdgConfigHome } = user;
  return { home, project: terminal.cwd, platform: terminal.platform, xdgConfigHome };
}

/** Throws CONFIG_INVALID for a configuration that is code. */
function chooseConfig({ user }: UserFiles, { flags, terminal }: Invocation<InitFlags & { readonly config?: string }>) {
  const folder = flags.project === true ? terminal.cwd : user.configFolder;
  const names = ["json", "jsonc", "ts"].map((ending) => join(folder, `glovebox.config.${ending}`));
  const path =
    flags.config === undefined
      ? (names.find((name) => existsSync(name)) ?? join(folder, "glovebox.config.json"))
      : resolve(terminal.cwd, flags.config);
  if (!path.endsWith(".ts")) return path;
  throw new GloveboxError("CONFIG_INVALID", `${path} is code, which init does not edit`, {
    hint: "Add the servers by hand (`glovebox init --dry-run --config new.json` shows them), or name a JSON file with --config",
  });
}

/** A client that is named is registered even if it has no file yet. */
function chooseClients(
  found: readonly ClientPlace[],
  places: Places,
  names: readonly string[] | undefined,
): readonly ClientPlace[] {
  if (names) return names.flatMap((name) => chooseClient(name, found, places));
  if (found.length > 0) return found;
  throw new GloveboxError("REQUEST_INVALID", `No MCP client was found in ${places.home}`, {
    hint: `Name one with --client: ${CLIENTS.map(({ id }) => id).join(", ")}`,
  });
}

function chooseClient(name: string, found: readonly ClientPlace[], places: Places): readonly ClientPlace[] {
  const client = CLIENTS.find(({ id }) => id === name);
  if (!client) {
    throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(name)} is not a known client`, {
      hint: `Known clients: ${CLIENTS.map(({ id }) => id).join(", ")}`,
    });
  }
  const own = found.filter((place) => place.client === client);
  if (own.some(({ scope }) => scope === "user")) return own;
  return [...own, ...listClientPlaces(client, places).slice(0, 1)];
}

function isInteractive({ flags, terminal }: Invocation<InitFlags>): boolean {
  const isTerminal = terminal.stdin.isTTY === true && terminal.stderr.isTTY === true;
  return isTerminal && flags.yes !== true && flags.json !== true && flags.dryRun !== true;
}

async function askClients(
  found: readonly ClientPlace[],
  { clients }: InitPlan,
  { terminal: { stdin, stderr } }: Invocation<InitFlags>,
): Promise<readonly ClientPlace[]> {
  const refused = new Set<string>();
  for (const { title, path, servers, scope, problem } of clients) {
    if (scope === "project" || problem || refused.has(path)) continue;
    const has = servers.length === 0 ? "" : `, import ${servers.join(", ")}`;
    if (!(await askYesNo(`Register Glovebox in ${title}${has} (${path})? [y/N] `, stdin, stderr))) refused.add(path);
  }
  return found.filter(({ path }) => !refused.has(path));
}

async function askServers({ servers }: InitPlan, { terminal }: Invocation<InitFlags>): Promise<ReadonlySet<string>> {
  const confirmed = new Set<string>();
  for (const { name, entry, clients } of servers.filter(({ needsConfirmation }) => needsConfirmation)) {
    const question = `${name} is from a file of this project (${clients.join(", ")}): ${JSON.stringify(entry)}`;
    if (await askYesNo(`${question}\nEnable it? [y/N] `, terminal.stdin, terminal.stderr)) confirmed.add(name);
  }
  return confirmed;
}

/** Without a terminal, a person must have seen the changes before. */
async function confirm({ edits }: InitPlan, invocation: Invocation<InitFlags>): Promise<boolean> {
  const { flags, terminal } = invocation;
  if (flags.yes === true || edits.length === 0) return true;
  if (isInteractive(invocation)) return askYesNo("Write these changes? [y/N] ", terminal.stdin, terminal.stderr);
  throw new GloveboxError("REQUEST_INVALID", "Nothing was changed", {
    hint: "Without a terminal, look at the changes with --dry-run, then pass --yes",
  });
}

async function listSecretNames({ powers }: Invocation, settings: Parameters<typeof powers.openRecords>[0]) {
  if (!existsSync(settings.store.path)) return [];
  await using records = await powers.openRecords(settings);
  return (await records.vault.list()).map(({ name }) => String(name));
}

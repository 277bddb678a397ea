/** `glovebox secrets`: values come from standard input, never from an argument, and are never printed. */

import { createInterface } from "node:readline";

import { GloveboxError, parseSecretName } from "../../domain/index.ts";
import type { Principal, SecretName } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers, Terminal } from "./powers.ts";
import { printJson, printLine } from "./print.ts";

export interface SecretsFlags {
  readonly config?: string;
  readonly json?: boolean;
}

interface Context {
  readonly powers: CliPowers;
  readonly principal: Principal;
}

export async function listSecrets(flags: SecretsFlags, { powers }: Context): Promise<number> {
  await using vault = await powers.openVault(await powers.loadSettings(flags.config));
  const secrets = await vault.list();
  if (flags.json) printJson(powers.terminal.stdout, { secrets });
  else for (const { name, version } of secrets) printLine(powers.terminal.stdout, `${name} (version ${version})`);
  return EXIT.done;
}

export async function setSecret(rawName: string, flags: SecretsFlags, { powers, principal }: Context): Promise<number> {
  const name = parseName(rawName);
  const settings = await powers.loadSettings(flags.config);
  const value = await readValue(powers.terminal);
  await using vault = await powers.openVault(settings);
  await vault.set(name, new Secret(value), principal.id);
  printLine(
    powers.terminal.stderr,
    `${name} is set; write \${secret:${name}} in an upstream's env or headers to use it`,
  );
  return EXIT.done;
}

export async function removeSecret(
  rawName: string,
  flags: SecretsFlags,
  { powers, principal }: Context,
): Promise<number> {
  const name = parseName(rawName);
  await using vault = await powers.openVault(await powers.loadSettings(flags.config));
  await vault.remove(name, principal.id);
  return EXIT.done;
}

function parseName(rawName: string): SecretName {
  const name = parseSecretName(rawName);
  if (name) return name;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(rawName)} cannot be the name of a secret`, {
    hint: "Use letters, digits and underscores, a letter first",
  });
}

/** The first line that comes in. A terminal is asked without showing what is typed. */
async function readValue({ stdin, stderr }: Terminal): Promise<string> {
  if (stdin.isTTY) stderr.write("Value (not shown): ");
  const lines = createInterface({ input: stdin, terminal: stdin.isTTY === true });
  for await (const line of lines) {
    if (stdin.isTTY) stderr.write("\n");
    if (line !== "") return line;
    break;
  }
  throw new GloveboxError("REQUEST_INVALID", "No value came in on standard input", { hint: "Type it, or pipe it in" });
}

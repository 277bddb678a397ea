/** `glovebox secrets`: reads values and keys from standard input, never from an argument, and never prints them. */

import { GloveboxError, parseSecretName } from "../../domain/index.ts";
import type { SecretName } from "../../domain/index.ts";

import type { Vault } from "../../vault/index.ts";
import { EXIT } from "./powers.ts";
import type { CommandContext } from "./powers.ts";
import { printJson, printLine } from "./print.ts";
import { readSecret } from "./read-secret.ts";

/** Running gateways poll once a second; this covers a few polls. */
const HAND_OVER_MS = 5000;

export interface SecretsFlags {
  readonly config?: string;
  readonly json?: boolean;
}

export async function listSecrets(flags: SecretsFlags, { powers }: CommandContext): Promise<number> {
  await using records = await powers.openRecords(await powers.loadSettings(flags.config));
  const { vault } = records;
  const secrets = await vault.list();
  if (flags.json) printJson(powers.terminal.stdout, { secrets });
  else for (const { name, version } of secrets) printLine(powers.terminal.stdout, `${name} (version ${version})`);
  return EXIT.done;
}

export async function setSecret(
  rawName: string,
  flags: SecretsFlags,
  { powers, principal }: CommandContext,
): Promise<number> {
  const name = parseName(rawName);
  const settings = await powers.loadSettings(flags.config);
  const value = await readSecret(powers.terminal, "Value");
  await using records = await powers.openRecords(settings);
  const { vault } = records;
  await vault.set(name, value, principal.id);
  printLine(
    powers.terminal.stderr,
    `${name} is set; write \${secret:${name}} in an upstream's env or headers to use it`,
  );
  return EXIT.done;
}

export async function removeSecret(
  rawName: string,
  flags: SecretsFlags,
  { powers, principal }: CommandContext,
): Promise<number> {
  const name = parseName(rawName);
  await using records = await powers.openRecords(await powers.loadSettings(flags.config));
  const { vault } = records;
  await vault.remove(name, principal.id);
  return EXIT.done;
}

function parseName(rawName: string): SecretName {
  const name = parseSecretName(rawName);
  if (name) return name;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(rawName)} is not a valid secret name`, {
    hint: "Use letters, digits and underscores, a letter first",
  });
}

/** Exit 1 if a secret cannot be opened with either key: its value must be set again. */
export async function rotateKey(flags: SecretsFlags, { powers, principal }: CommandContext): Promise<number> {
  const { stdout, stderr } = powers.terminal;
  await using records = await powers.openRecords(await powers.loadSettings(flags.config));
  const { vault } = records;
  const key = vault.needsNewKey ? await readSecret(powers.terminal, "New key, 64 hex digits") : undefined;
  const rotation = await vault.rotate({ actor: principal.id, handOverMs: HAND_OVER_MS, ...(key && { key }) });
  if (flags.json) printJson(stdout, rotation);
  else printLine(stderr, describeRotation(rotation));
  if (vault.isKeyOfEnvironment)
    printLine(stderr, "Set GLOVEBOX_ENCRYPTION_KEY to the new key before Glovebox starts again");
  return rotation.damaged.length === 0 ? EXIT.done : EXIT.failed;
}

function describeRotation({ secrets, damaged }: Awaited<ReturnType<Vault["rotate"]>>): string {
  const done = `The key was changed; ${secrets} secrets are sealed with the new one`;
  if (damaged.length === 0) return done;
  return `${done}\nThese cannot be opened because their records were changed; set them again: ${damaged.join(", ")}`;
}

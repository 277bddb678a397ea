/** `glovebox secrets`: reads values and keys from standard input, never from an argument, and never prints them. */

import { createInterface } from "node:readline";

import type { Command } from "commander";

import { GloveboxError, defined, parseSecretName } from "../../domain/index.ts";
import type { SecretName } from "../../domain/index.ts";
import { Secret } from "../../vault/index.ts";
import { describeSecrets } from "../describe-secrets.ts";
import type { DescribedSecret } from "../describe-secrets.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { EXIT } from "./powers.ts";
import type { Terminal } from "./powers.ts";
import { printJson, printLine } from "./print.ts";

/** Running gateways poll once a second; this covers a few polls. */
const HAND_OVER_MS = 5000;
/** Above the limit of a secret, so that a longer one is refused and not cut. */
const MAX_BYTES = 1024 * 1024;

export function addSecrets(program: Command, { addCommand, addJsonCommand }: Commands): void {
  const secrets = addJsonCommand(program, "secrets", "list the names of the secrets", listSecrets);
  addCommand(secrets, "set <name>", "set a secret; its value is read from standard input", setSecret);
  addCommand(secrets, "remove <name>", "remove a secret", removeSecret);
  addCommand(secrets, "rotate-key", "seal all secrets with a new key while gateways run", rotateKey);
}

/** Also names that the settings refer to and that are not set. */
async function listSecrets({ powers, print, readSettings }: Invocation): Promise<void> {
  const settings = await readSettings();
  await using records = await powers.openRecords(settings);
  const isInMemory = settings.store.path === ":memory:";
  await using stored = isInMemory ? undefined : await powers.readRecords(settings);
  const secrets = await describeSecrets(settings, records.vault, stored?.openReader());
  print({ secrets }, secrets.flatMap(formatSecret));
}

function formatSecret({ name, version, usedBy, boundTo, lastUse }: DescribedSecret): readonly string[] {
  const state = version === undefined ? "not set" : `version ${version}`;
  const used = lastUse && `  last used ${new Date(lastUse.at).toISOString()} by ${lastUse.by}`;
  return [
    `${name} (${state})`,
    ...usedBy.map((setting) => `  used by ${setting}`),
    ...(boundTo ? [`  programs may send it to ${boundTo.hosts.join(", ")}`] : []),
    ...(used === undefined ? [] : [used]),
  ];
}

async function setSecret({ powers, principal, terminal, readSettings }: Invocation, rawName: string): Promise<void> {
  const name = parseName(rawName);
  const settings = await readSettings();
  const value = await readSecret(terminal, "Value");
  await using records = await powers.openRecords(settings);
  await records.vault.set(name, value, principal.id);
  printLine(terminal.stderr, `${name} is set; write \${secret:${name}} in an upstream's env or headers to use it`);
}

async function removeSecret({ principal, openRecords }: Invocation, rawName: string): Promise<void> {
  const name = parseName(rawName);
  await using records = await openRecords();
  await records.vault.remove(name, principal.id);
}

function parseName(rawName: string): SecretName {
  const name = parseSecretName(rawName);
  if (name) return name;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(rawName)} is not a valid secret name`, {
    hint: "Use letters, digits and underscores, a letter first",
  });
}

/** Exit 1 if a secret cannot be opened with either key: its value must be set again. */
async function rotateKey({ flags, principal, terminal, openRecords }: Invocation): Promise<number> {
  const { stdout, stderr } = terminal;
  await using records = await openRecords();
  const { vault } = records;
  const key = vault.needsNewKey ? await readSecret(terminal, "New key, 64 hex digits") : undefined;
  const rotation = await vault.rotate({ actor: principal.id, handOverMs: HAND_OVER_MS, ...defined({ key }) });
  const { secrets, damaged } = rotation;
  if (flags.json) printJson(stdout, rotation);
  else printLine(stderr, `The key was changed; ${secrets} secrets are sealed with the new one`);
  if (!flags.json && damaged.length > 0)
    printLine(
      stderr,
      `These cannot be opened because their records were changed; set them again: ${damaged.join(", ")}`,
    );
  if (vault.isKeyOfEnvironment)
    printLine(stderr, "Set GLOVEBOX_ENCRYPTION_KEY to the new key before Glovebox starts again");
  return damaged.length === 0 ? EXIT.done : EXIT.failed;
}

/** One line of a terminal without echo, or all piped input without one final line break. */
export async function readSecret({ stdin, stderr }: Terminal, label: string): Promise<Secret> {
  const text = stdin.isTTY === true ? await readLine({ stdin, stderr }, label) : await readAll(stdin);
  if (text !== "") return new Secret(text);
  throw new GloveboxError("REQUEST_INVALID", "Standard input is empty", { hint: "Type it, or pipe it in" });
}

async function readLine({ stdin, stderr }: Pick<Terminal, "stdin" | "stderr">, label: string): Promise<string> {
  stderr.write(`${label} (not shown): `);
  for await (const line of createInterface({ input: stdin, terminal: true })) {
    stderr.write("\n");
    return line;
  }
  return "";
}

/** Invalid UTF-8 is refused, because it would be stored as another value. */
async function readAll(stdin: Terminal["stdin"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    chunks.push(piece);
    if (bytes > MAX_BYTES) break;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, "");
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", "Standard input is not valid UTF-8", {
      cause,
      hint: "Encode it, for example with `base64`",
    });
  }
}

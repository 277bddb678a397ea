/** `glovebox tokens`: credentials of agents and services. The text of a token is printed once. */

import type { Command } from "commander";

import { GloveboxError, defined, parsePrincipalId } from "../../../domain/index.ts";
import type { PrincipalId } from "../../../domain/index.ts";
import { SCOPES } from "../../../identity/index.ts";
import type { Tokens, TokenSummary } from "../../../identity/index.ts";
import { parseCount, parseFuture } from "../add-command.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { printLine } from "../print.ts";

interface CreateFlags {
  readonly scopes?: readonly string[];
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  readonly person?: string;
  readonly expires?: string;
  readonly perMinute?: number;
  readonly profile?: string;
  readonly replace?: boolean;
}

const split = (value: string, former: readonly string[] = []): readonly string[] => [
  ...former,
  ...value.split(",").map((one) => one.trim()),
];

export function addTokens(program: Command, { addCommand, addJsonCommand }: Commands): void {
  const tokens = addJsonCommand(program, "tokens", "list tokens of agents and services", listTokens);
  addJsonCommand(tokens, "list", "list tokens of agents and services", listTokens);
  addJsonCommand(tokens, "create <name>", "create a token and print it, once", createToken)
    .requiredOption("--scopes <list>", `what it allows: ${SCOPES.join(", ")}`, split)
    .option("--servers <list>", "only tools of these servers", split)
    .option("--tools <list>", "only tools that match one of these patterns", split)
    .option("--person <name>", "the person behind it (default: you)")
    .option("--expires <time>", "a date, or a duration such as 30d")
    .option("--per-minute <number>", "at most this many executions in a minute", parseCount)
    .option("--profile <name>", "only what `profiles` of the configuration has under this name")
    .option("--replace", "revoke the token of this name; the new one continues its records");
  addCommand(tokens, "revoke <id>", "revoke a token, within a second and for good", revokeToken);
}

async function createToken(invocation: Invocation<CreateFlags>, name: string): Promise<void> {
  const { flags, powers, principal, terminal, openRecords, print } = invocation;
  const { scopes = [], servers, tools, person, expires, perMinute, profile, replace } = flags;
  await using records = await openRecords();
  const { tokens } = await records.openIdentity();
  const behind = person === undefined ? undefined : toPerson(person);
  const expiresAt = expires === undefined ? undefined : parseFuture(expires, powers.now());
  const request = {
    name,
    scopes,
    ...defined({ servers, tools, person: behind, expiresAt, executionsPerMinute: perMinute, profile, replace }),
  };
  const created = await tokens.create(request, principal);
  const { token, summary } = created;
  const { id, scopes: granted } = summary;
  for (const line of showReach(created)) printLine(terminal.stderr, line);
  const until = summary.expiresAt === undefined ? null : new Date(summary.expiresAt).toISOString();
  print({ id, token, scopes: granted, expiresAt: until }, [token]);
}

function toPerson(name: string): PrincipalId {
  const id = parsePrincipalId(`person:${name}`);
  if (id) return id;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(name.slice(0, 80))} is not a name of a person`, {
    hint: "`glovebox people list` shows them",
  });
}

function showReach({ summary: { id, name }, reach: { until, can } }: Awaited<ReturnType<Tokens["create"]>>) {
  return [
    `Token ${id} (token:${name}). It is not shown again. Anyone who has it can, ${until}:`,
    ...can.map((one) => `  ${one}`),
    `Revoke it with: glovebox tokens revoke ${id}`,
  ];
}

async function listTokens({ powers, openRecords, print }: Invocation): Promise<void> {
  await using records = await openRecords();
  const tokens = await (await records.openIdentity()).tokens.list();
  print(
    { tokens },
    tokens.map(
      (token) => `${token.id}  token:${token.name}  ${token.scopes.join(",")}  ${stateOf(token, powers.now())}`,
    ),
  );
}

function stateOf({ revokedAt, expiresAt, lastUsedAt }: TokenSummary, now: number): string {
  if (revokedAt !== undefined) return `revoked ${new Date(revokedAt).toISOString()}`;
  if (expiresAt !== undefined && expiresAt <= now) return `expired ${new Date(expiresAt).toISOString()}`;
  const used = lastUsedAt === undefined ? "never used" : `last used ${new Date(lastUsedAt).toISOString()}`;
  return expiresAt === undefined ? used : `${used}, expires ${new Date(expiresAt).toISOString()}`;
}

async function revokeToken({ principal, terminal, openRecords }: Invocation, id: string): Promise<void> {
  await using records = await openRecords();
  const { name } = await (await records.openIdentity()).tokens.revoke(id, principal);
  printLine(terminal.stderr, `token:${name} is revoked`);
}

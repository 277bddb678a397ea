/** `glovebox audit`, `audit tail` and `audit key`: search the ledger. */

import { setTimeout as sleep } from "node:timers/promises";

import type { LedgerReader } from "../../../ledger/index.ts";
import { GloveboxError, canonicalJson } from "../../../domain/index.ts";
import type { Instant, JsonObject } from "../../../domain/index.ts";
import { parseMoment } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import type { CliPowers } from "../powers.ts";
import { printJson, printLine } from "../print.ts";

export interface AuditFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly principal?: string;
  readonly tool?: string;
  readonly action?: string;
  readonly outcome?: string;
  readonly execution?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 50;
/** Polling interval of `tail`. */
const LOOK_MS = 250;

/** The newest matches, oldest first. */
export async function listCommand(flags: AuditFlags, powers: CliPowers): Promise<number> {
  const { stdout } = powers.terminal;
  const query = toQuery(flags, powers.now());
  await using stored = await powers.readRecords(await powers.loadSettings(flags.config));
  const records = (await stored.openReader().search(query)).toReversed();
  if (flags.json) printJson(stdout, { records });
  else for (const record of records) printLine(stdout, formatRecord(record));
  return EXIT.done;
}

/** Prints every new record of all processes. */
export async function tailCommand(
  flags: Pick<AuditFlags, "config" | "json">,
  { terminal, ...powers }: CliPowers,
): Promise<number> {
  const ended = new AbortController();
  const stop = terminal.onInterrupt(() => ended.abort());
  await using records = await powers.readRecords(await powers.loadSettings(flags.config));
  const reader = records.openReader();
  let next = (await reader.last()) + 1;
  printLine(terminal.stderr, `waiting for record ${next}`);
  while (!ended.signal.aborted) {
    next = await printFrom(reader, next, (record) =>
      flags.json ? printJson(terminal.stdout, record) : printLine(terminal.stdout, formatRecord(record)),
    );
    await sleep(LOOK_MS, undefined, { signal: ended.signal }).catch(() => undefined);
  }
  stop();
  return EXIT.done;
}

/** An operator keeps the key elsewhere, to verify exports. */
export async function keyCommand(flags: Pick<AuditFlags, "config" | "json">, powers: CliPowers): Promise<number> {
  await using records = await powers.readRecords(await powers.loadSettings(flags.config));
  const reader = records.openReader();
  const { key } = reader;
  if (key === undefined)
    throw new GloveboxError("REQUEST_NOT_FOUND", "The ledger has no signing key yet", {
      hint: "Glovebox creates it when it first opens the ledger: run `glovebox doctor`",
    });
  if (flags.json) printJson(powers.terminal.stdout, { key });
  else printLine(powers.terminal.stdout, key);
  return EXIT.done;
}

async function printFrom(reader: LedgerReader, from: number, print: (record: JsonObject) => void): Promise<number> {
  let next = from;
  for await (const record of reader.records({ from })) {
    print(record);
    next += 1;
  }
  return next;
}

function toQuery(flags: AuditFlags, now: Instant): Parameters<LedgerReader["search"]>[0] {
  const { principal, tool, action, outcome, execution, since, until, limit = DEFAULT_LIMIT } = flags;
  return {
    limit,
    ...(principal !== undefined && { actor: principal }),
    ...(tool !== undefined && { subject: tool }),
    ...(action !== undefined && { action }),
    ...(outcome !== undefined && { outcome }),
    ...(execution !== undefined && { execution }),
    ...(since !== undefined && { since: parseMoment(since, now) }),
    ...(until !== undefined && { until: parseMoment(until, now) }),
  };
}

function formatRecord({ seq, at, actor, action, subject, detail }: JsonObject): string {
  const time = typeof at === "number" ? new Date(at).toISOString() : "?";
  const words = [seq, actor, action, subject].map((word) => (typeof word === "string" ? word : JSON.stringify(word)));
  return `${time} ${words.join(" ")} ${canonicalJson(detail ?? null)}`;
}

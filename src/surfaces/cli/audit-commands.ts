/** `glovebox audit`: searches, follows, exports and verifies the ledger. */

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { Option } from "commander";
import type { Command } from "commander";

import { GloveboxError, canonicalJson, defined } from "../../domain/index.ts";
import type { Instant, JsonObject } from "../../domain/index.ts";
import { parseLedgerLine, parsePublicKey, toOtlp, verifyExport } from "../../ledger/index.ts";
import type { LedgerReader, LedgerVerdict } from "../../ledger/index.ts";
import { refuseUnknownFilters } from "./audit-filters.ts";
import { parseCount, parseMoment, writeOutput } from "./add-command.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { EXIT, watchInterrupt } from "./powers.ts";
import { formatFault, printJson, printLine } from "./print.ts";

interface AuditFlags {
  readonly principal?: string;
  readonly tool?: string;
  readonly action?: string;
  readonly outcome?: string;
  readonly execution?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
}

type ExpectedKey = NonNullable<ReturnType<typeof parsePublicKey>>;

const DEFAULT_LIMIT = 50;
/** Polling interval of `tail`. */
const LOOK_MS = 250;
/** Log records in one OTLP request. */
const BATCH = 500;

export function addAudit(program: Command, { addCommand, addJsonCommand }: Commands): void {
  const audit = addJsonCommand(
    program,
    "audit",
    "search the ledger: what was done, by whom, with which outcome",
    listCommand,
  )
    .option("--principal <name>", "the actor")
    .option("--tool <name>", "the tool or other subject")
    .option("--action <name>", "such as call.ended, or call for all actions about calls")
    .option("--outcome <word>", "such as ok, error, failed, denied, deny, or an error's code")
    .option("--execution <id>", "everything about one execution")
    .option("--since <time>", "a date, or a duration before now: 90s, 30m, 12h, 7d")
    .option("--until <time>", "the same, for the end")
    .option("--limit <number>", "maximum number (default 50)", parseCount);
  addCommand(audit, "tail", "print new records until interrupted", tailCommand).option(
    "--json",
    "one JSON object per line",
  );
  addCommand(
    audit,
    "export [file]",
    "write the ledger to standard output or a new file, with a signed trailer",
    exportLedger,
  ).addOption(new Option("--format <name>", "jsonl, or otlp for OpenTelemetry").choices(["jsonl", "otlp"]));
  addJsonCommand(
    audit,
    "verify [file]",
    "find records that were changed, removed, added, moved or cut off",
    verifyCommand,
  ).option("--key <key>", "the public key that must have signed, from glovebox audit key");
  addJsonCommand(audit, "key", "print the public key of this ledger", keyCommand);
}

/** The newest matches, oldest first. */
async function listCommand({ flags, powers, readWithoutPolicy, print }: Invocation<AuditFlags>): Promise<void> {
  const query = toQuery(flags, powers.now());
  await using stored = await readWithoutPolicy();
  const reader = stored.openReader();
  const records = (await reader.search(query)).toReversed();
  if (records.length === 0) await refuseUnknownFilters(reader, query);
  print({ records }, records.map(formatRecord));
}

function toQuery(flags: AuditFlags, now: Instant): Parameters<LedgerReader["search"]>[0] {
  const { principal: actor, tool: subject, action, outcome, execution, limit = DEFAULT_LIMIT } = flags;
  const since = flags.since === undefined ? undefined : parseMoment(flags.since, now);
  const until = flags.until === undefined ? undefined : parseMoment(flags.until, now);
  return { limit, ...defined({ actor, subject, action, outcome, execution, since, until }) };
}

/** Prints every new record of all processes. */
async function tailCommand({ terminal, readWithoutPolicy, flags }: Invocation): Promise<void> {
  using interrupt = watchInterrupt(terminal);
  await using records = await readWithoutPolicy();
  const reader = records.openReader();
  let next = (await reader.last()) + 1;
  printLine(terminal.stderr, `waiting for record ${next}`);
  while (!interrupt.signal.aborted) {
    for await (const record of reader.records({ from: next })) {
      if (flags.json) printJson(terminal.stdout, record);
      else printLine(terminal.stdout, formatRecord(record));
      next += 1;
    }
    await sleep(LOOK_MS, undefined, { signal: interrupt.signal }).catch(() => undefined);
  }
}

/** An operator keeps the key elsewhere, to verify exports. */
async function keyCommand({ readWithoutPolicy, print }: Invocation): Promise<void> {
  await using records = await readWithoutPolicy();
  const { key } = records.openReader();
  if (key !== undefined) return print({ key }, [key]);
  throw new GloveboxError("REQUEST_NOT_FOUND", "The ledger has no signing key yet", {
    hint: "Glovebox creates it when it first opens the ledger: run `glovebox doctor`",
  });
}

function formatRecord({ seq, at, actor, action, subject, detail }: JsonObject): string {
  const time = typeof at === "number" ? new Date(at).toISOString() : "?";
  const words = [seq, actor, action, subject].map((word) => (typeof word === "string" ? word : JSON.stringify(word)));
  return `${time} ${words.join(" ")} ${canonicalJson(detail ?? null)}`;
}

/**
 * Writes every record, oldest first. A damaged ledger is written as it is, for inspection, but without a signature and
 * with exit code 1.
 */
async function exportLedger(
  { flags, powers, terminal, readWithoutPolicy }: Invocation<{ readonly format?: string }>,
  file: string | undefined,
): Promise<number> {
  await using records = await readWithoutPolicy();
  const reader = records.openReader();
  let verdict: LedgerVerdict | undefined;
  const onEnd = (found: LedgerVerdict): void => void (verdict = found);
  const lines = flags.format === "otlp" ? toOtlpLines(reader, powers.version) : toLines(reader, onEnd);
  await writeOutput(lines, file, terminal);
  if (!verdict || verdict.ok) return EXIT.done;
  printLine(terminal.stderr, `the ledger is damaged: record ${verdict.seq}: ${verdict.problem}`);
  return EXIT.failed;
}

async function* toLines(reader: LedgerReader, onEnd: (verdict: LedgerVerdict) => void): AsyncIterable<string> {
  onEnd(yield* reader.export());
}

/** One request per line, the form that collectors read from a file. */
async function* toOtlpLines(reader: LedgerReader, version: string): AsyncIterable<string> {
  let batch: JsonObject[] = [];
  for await (const record of reader.records()) {
    batch.push(record);
    if (batch.length < BATCH) continue;
    yield JSON.stringify(toOtlp(batch, version));
    batch = [];
  }
  if (batch.length > 0) yield JSON.stringify(toOtlp(batch, version));
}

/** Exit 1 if a record was changed, removed, added, moved or cut off; 2 if that could not be checked. */
async function verifyCommand(
  { flags, terminal, readWithoutPolicy, print }: Invocation<{ readonly key?: string }>,
  file: string | undefined,
): Promise<number> {
  const { stderr, cwd } = terminal;
  const key = flags.key === undefined ? undefined : parseKey(flags.key);
  try {
    const verdict =
      file === undefined
        ? await verifyStore(readWithoutPolicy, key)
        : await verifyExport(readLines(resolve(cwd, file)), key);
    print(verdict, [describe(verdict, file !== undefined && key === undefined)]);
    return verdict.ok ? EXIT.done : EXIT.failed;
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code !== "STORE_UNAVAILABLE") throw thrown;
    printLine(stderr, formatFault(thrown));
    return EXIT.usage;
  }
}

async function verifyStore(
  readWithoutPolicy: Invocation["readWithoutPolicy"],
  key: ExpectedKey | undefined,
): Promise<LedgerVerdict> {
  await using records = await readWithoutPolicy();
  return await records.openReader().verify(key); // before the store is closed
}

function parseKey(text: string): ExpectedKey {
  const key = parsePublicKey(text);
  if (key) return key;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(text)} is not a public key of a ledger`, {
    hint: "`glovebox audit key` prints it: ed25519: and 43 characters",
  });
}

function describe(verdict: LedgerVerdict, isAnySigner: boolean): string {
  if (!verdict.ok) return `record ${verdict.seq}: ${verdict.problem}`;
  const { records, first, signed, key } = verdict;
  const from = first === undefined ? "" : `, from record ${first} on; a signed cut dropped earlier ones`;
  const all = `${records} records, all intact${from}`;
  if (signed === undefined || key === undefined) return `${all}; not signed yet`;
  const pin = isAnySigner ? "; pass --key to check the signer" : "";
  return `${all}; signed up to record ${signed} by ${key}${pin}`;
}

/** A line that is not a record is passed to the check unchanged. */
async function* readLines(path: string): AsyncIterable<unknown> {
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      yield parseLedgerLine(line);
    }
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", `${path} cannot be read`, { cause, hint: "Check the path" });
  }
}

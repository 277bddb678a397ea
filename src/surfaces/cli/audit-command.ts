/** `glovebox audit`: the ledger as JSON Lines, and whether anybody has changed it. */

import { createReadStream, createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { parseLedgerLine, toLedgerLine, verifyLedger } from "../../audit/index.ts";
import type { Ledger } from "../../audit/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers } from "./powers.ts";
import { printJson, printLine } from "./print.ts";

export interface AuditFlags {
  readonly config?: string;
  readonly json?: boolean;
}

/** Writes every record, oldest first, to stdout or a file of its own. */
export async function exportLedger(file: string | undefined, flags: AuditFlags, powers: CliPowers): Promise<number> {
  const { terminal } = powers;
  await using ledger = await powers.openLedger(await powers.loadSettings(flags.config));
  const lines = Readable.from(toLines(ledger));
  const target: Writable =
    file === undefined ? terminal.stdout : createWriteStream(resolve(terminal.cwd, file), { flags: "wx", mode: 0o600 });
  try {
    await pipeline(lines, target, { end: file !== undefined });
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", `${file ?? "standard output"} cannot be written`, {
      cause,
      hint: "Name a file that does not exist yet, in a folder that you may write to",
    });
  }
  return EXIT.done;
}

async function* toLines(ledger: Pick<Ledger, "records">): AsyncIterable<string> {
  for await (const record of ledger.records()) yield `${toLedgerLine(record)}\n`;
}

/** Exit 1 when a record was changed, removed, added or moved. An export alone cannot show that its end was cut off. */
export async function verifyCommand(file: string | undefined, flags: AuditFlags, powers: CliPowers): Promise<number> {
  const { stdout } = powers.terminal;
  const verdict =
    file === undefined
      ? await verifyStore(flags, powers)
      : await verifyLedger(readLines(resolve(powers.terminal.cwd, file)));
  if (flags.json) printJson(stdout, verdict);
  else
    printLine(
      stdout,
      verdict.ok ? `${verdict.records} records, all intact` : `record ${verdict.seq}: ${verdict.problem}`,
    );
  return verdict.ok ? EXIT.done : EXIT.failed;
}

async function verifyStore(flags: AuditFlags, powers: CliPowers): ReturnType<typeof verifyLedger> {
  await using ledger = await powers.openLedger(await powers.loadSettings(flags.config));
  return await verifyLedger(ledger.records()); // before the ledger is closed
}

/** A line that is no record reaches the check as such. */
async function* readLines(path: string): AsyncIterable<unknown> {
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      yield parseLedgerLine(line);
    }
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", `${path} cannot be read`, { cause, hint: "Check the path" });
  }
}

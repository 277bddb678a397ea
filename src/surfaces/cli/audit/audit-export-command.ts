/** `glovebox audit export`: the whole ledger as JSON Lines with a signed trailer, or as OpenTelemetry logs. */

import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { toOtlp } from "../../../ledger/index.ts";
import type { LedgerReader, LedgerVerdict } from "../../../ledger/index.ts";
import { GloveboxError } from "../../../domain/index.ts";
import type { JsonObject } from "../../../domain/index.ts";
import { EXIT } from "../powers.ts";
import type { CliPowers } from "../powers.ts";
import { printLine } from "../print.ts";

export interface ExportFlags {
  readonly config?: string;
  readonly format?: string;
}

/** Log records in one OTLP request. */
const BATCH = 500;

/**
 * Writes every record, oldest first. A damaged ledger is written as it is, for inspection, but without a signature and
 * with exit code 1.
 */
export async function exportLedger(file: string | undefined, flags: ExportFlags, powers: CliPowers): Promise<number> {
  const { terminal } = powers;
  await using records = await powers.readRecords(await powers.loadSettings(flags.config));
  const reader = records.openReader();
  let verdict: LedgerVerdict | undefined;
  const onEnd = (found: LedgerVerdict): void => void (verdict = found);
  const lines = flags.format === "otlp" ? toOtlpLines(reader, powers.version) : toLines(reader, onEnd);
  const target: Writable =
    file === undefined ? terminal.stdout : createWriteStream(resolve(terminal.cwd, file), { flags: "wx", mode: 0o600 });
  try {
    await pipeline(Readable.from(lines), target, { end: file !== undefined });
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", `${file ?? "standard output"} cannot be written`, {
      cause,
      hint: "Choose a new file in a folder that you may write to",
    });
  }
  if (!verdict || verdict.ok) return EXIT.done;
  printLine(terminal.stderr, `the ledger is damaged: record ${verdict.seq}: ${verdict.problem}`);
  return EXIT.failed;
}

async function* toLines(reader: LedgerReader, onEnd: (verdict: LedgerVerdict) => void): AsyncIterable<string> {
  const lines = reader.export();
  let step = await lines.next();
  for (; !step.done; step = await lines.next()) yield `${step.value}\n`;
  onEnd(step.value);
}

/** One request per line, the form that collectors read from a file. */
async function* toOtlpLines(reader: LedgerReader, version: string): AsyncIterable<string> {
  let batch: JsonObject[] = [];
  for await (const record of reader.records()) {
    batch.push(record);
    if (batch.length < BATCH) continue;
    yield `${JSON.stringify(toOtlp(batch, version))}\n`;
    batch = [];
  }
  if (batch.length > 0) yield `${JSON.stringify(toOtlp(batch, version))}\n`;
}

/** `glovebox audit verify`: checks the ledger or an export for changes. */

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

import { parseLedgerLine, parsePublicKey, verifyExport } from "../../../ledger/index.ts";
import type { LedgerVerdict } from "../../../ledger/index.ts";

type ExpectedKey = NonNullable<ReturnType<typeof parsePublicKey>>;
import { GloveboxError } from "../../../domain/index.ts";
import { EXIT } from "../powers.ts";
import type { CliPowers } from "../powers.ts";
import { formatFault, printJson, printLine } from "../print.ts";

export interface VerifyFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly key?: string;
}

/** Exit 1 if a record was changed, removed, added, moved or cut off; 2 if that could not be checked. */
export async function verifyCommand(file: string | undefined, flags: VerifyFlags, powers: CliPowers): Promise<number> {
  const { stdout, cwd } = powers.terminal;
  const key = flags.key === undefined ? undefined : parseKey(flags.key);
  const verdict =
    file === undefined ? await verifyStore(flags, key, powers) : await verifyExport(readLines(resolve(cwd, file)), key);
  if (verdict instanceof GloveboxError) {
    printLine(powers.terminal.stderr, formatFault(verdict));
    return EXIT.usage;
  }
  if (flags.json) printJson(stdout, verdict);
  else printLine(stdout, describe(verdict, file !== undefined && key === undefined));
  return verdict.ok ? EXIT.done : EXIT.failed;
}

/** An error means that the check was not possible; it does not describe the ledger. */
async function verifyStore(
  flags: VerifyFlags,
  key: ExpectedKey | undefined,
  powers: CliPowers,
): Promise<LedgerVerdict | GloveboxError> {
  try {
    await using records = await powers.readRecords(await powers.loadSettings(flags.config));
    const reader = records.openReader();
    return await reader.verify(key); // before the store is closed
  } catch (thrown) {
    if (thrown instanceof GloveboxError && thrown.code === "STORE_UNAVAILABLE") return thrown;
    throw thrown;
  }
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

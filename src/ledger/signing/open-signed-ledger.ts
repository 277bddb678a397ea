/** The ledger with signatures: checks what it finds before it continues, and signs what it adds. */

import { setTimeout as sleep } from "node:timers/promises";

import { SUSPECT } from "../chain-check.ts";
import { openLedger } from "../open-ledger.ts";
import type { Ledger, LedgerOptions } from "../open-ledger.ts";
import type { LedgerHead } from "../record.ts";
import { findCut, findSuspicion } from "./find-suspicion.ts";
import { readHeadFile, removeHeadFile } from "./head-file.ts";
import type { FoundHead } from "./head-file.ts";
import { createStatementWriter } from "./statement-writer.ts";
import type { StatementWriterOptions } from "./statement-writer.ts";

export interface SignedLedgerOptions extends LedgerOptions, Omit<StatementWriterOptions, "hasHead" | "suspect"> {
  readonly store: StatementWriterOptions["store"];
  /** True if the key was just created: then nothing in the store can have been signed. */
  readonly isNewKey: boolean;
}

/** Another process that started at the same time may have created its key but not yet its head. */
const HEAD_CHECKS = 50;
const HEAD_CHECK_MS = 20;

/**
 * Rejects with CONFIG_INVALID if the store was signed with another key. Records that were removed, before the start or
 * while this process runs, do not stop it: the ledger records the removal, signed, and `verifyStore` reports it.
 */
export async function openSignedLedger(options: SignedLedgerOptions): Promise<Ledger> {
  const { headFile, isNewKey, onAppended } = options;
  const found = await findHead(options);
  const suspicion = await findSuspicion({ ...options, isFirst: isNewKey }, found);
  const note = (head: LedgerHead): void => {
    statements.advance(head);
    onAppended?.(head);
  };
  const ledger = await openLedger({ ...options, onAppended: note, findCut: () => findCut(options) });
  const suspect = async (subject: string, head: FoundHead | undefined): Promise<void> => {
    // Names the record that should have been the last one, if the head is readable.
    const detail = { head: typeof head === "object" ? { ...head } : null };
    await ledger.write({ actor: "gateway", action: SUSPECT, subject, detail });
    // The ledger has recorded that the head is wrong.
    if (headFile !== undefined) await removeHeadFile(headFile);
  };
  const hasHead = typeof found === "object" && suspicion === undefined;
  const statements = createStatementWriter({ ...options, suspect, hasHead }, await ledger.head());
  if (suspicion !== undefined) await suspect(suspicion, found);
  if (suspicion !== undefined || found === "missing") await statements.sign();
  const close = async (): Promise<void> => {
    await ledger.drain();
    await statements.check();
    await ledger.close();
    await statements.close();
  };
  return { ...ledger, close, [Symbol.asyncDispose]: close };
}

/** The head is written before the first record, so it can only be missing if a process just created the key. */
async function findHead({ store, headFile, isNewKey }: SignedLedgerOptions): Promise<FoundHead | undefined> {
  if (headFile === undefined) return undefined;
  for (let attempt = 1; ; attempt += 1) {
    const isCertain = isNewKey || attempt === HEAD_CHECKS || (await store.ledger.last()) !== undefined;
    const found = await readHeadFile(headFile);
    if (found !== "missing" || isCertain) return found;
    await sleep(HEAD_CHECK_MS);
  }
}

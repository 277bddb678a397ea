/** The ledger together with its signatures: looks at what it finds before it goes on, and signs what it adds. */

import { setTimeout as sleep } from "node:timers/promises";

import type { Store } from "../../store/index.ts";

import { SUSPECT } from "../chain-check.ts";
import { openLedger } from "../open-ledger.ts";
import type { Ledger, LedgerOptions } from "../open-ledger.ts";
import type { LedgerHead } from "../record.ts";
import { findCut, findSuspicion } from "./find-suspicion.ts";
import { readHeadFile, removeHeadFile } from "./head-file.ts";
import type { FoundHead } from "./head-file.ts";
import { createStatementWriter } from "./statement-writer.ts";
import type { SigningSchedule } from "./statement-writer.ts";
import type { Signer } from "./signer.ts";

export interface SignedLedgerOptions extends LedgerOptions {
  readonly store: Pick<Store, "ledger" | "statements">;
  readonly signer: Signer;
  /** True when the key was made just now: then nothing that is there can have been signed. */
  readonly isNewKey: boolean;
  /** Left out for a store in memory. */
  readonly headFile?: string;
  readonly schedule?: SigningSchedule;
}

/** How long another process, which began together with this one, may take from its key to its head. */
const LOOKS = 50;
const LOOK_MS = 20;

/**
 * Rejects with CONFIG_INVALID when the store was signed with another key. Records that were removed, while nobody was
 * looking or while this process writes, do not stop it: they are written down in the ledger itself, signed, and `verify`
 * tells them.
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
    await ledger.write({ actor: "gateway", action: SUSPECT, subject, detail: describe(head) });
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

/** The head is written before the first record; only a process that has just made the key may still be about to. */
async function findHead({ store, headFile, isNewKey }: SignedLedgerOptions): Promise<FoundHead | undefined> {
  if (headFile === undefined) return undefined;
  for (let look = 1; ; look += 1) {
    const isCertain = isNewKey || look === LOOKS || (await store.ledger.last()) !== undefined;
    const found = await readHeadFile(headFile);
    if (found !== "missing" || isCertain) return found;
    await sleep(LOOK_MS);
  }
}

/** What was lost, as far as the head tells: the record that should have been the last one. */
function describe(found: FoundHead | undefined): { readonly head: { readonly [key: string]: string | number } | null } {
  return { head: typeof found === "object" ? { ...found } : null };
}

/** A quick check whether the ledger is as its signer left it. `verifyStore` checks everything. */

import { GloveboxError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { findRemoval } from "../follow-chain.ts";
import { GENESIS } from "../record.ts";
import type { LedgerHead } from "../record.ts";
import type { FoundHead } from "./head-file.ts";
import { createSignatureCheck } from "../signer.ts";
import type { Signer } from "../signer.ts";
import { parseStatementText } from "../statement.ts";

export interface SuspicionSources {
  readonly store: Pick<Store, "ledger" | "statements">;
  readonly signer: Signer;
  /** False if a head must exist: then a missing one was removed. */
  readonly isFirst: boolean;
}

/** Rejects with CONFIG_INVALID if the store was signed with another key. */
export async function findSuspicion(
  sources: SuspicionSources,
  head: FoundHead | undefined,
): Promise<string | undefined> {
  const { store, signer, isFirst } = sources;
  const statement = await store.statements.last();
  const signed = statement && parseStatementText(statement.text);
  if (signed && signed.key !== signer.key)
    throw new GloveboxError("CONFIG_INVALID", "The ledger in this store is signed with another key", {
      hint: "Nothing was changed. Restore the former ledger.key beside the store, or use another store",
    });
  const last = await store.ledger.last();
  if (statement && !signed) return `statement ${statement.number} was changed`;
  if (statement && statement.seq > (last?.seq ?? statement.seq - 1))
    return `records were removed up to ${statement.seq}`;
  if (head === undefined) return undefined;
  if (head === "missing") return isFirst ? undefined : "the signed head is missing";
  if (head === "unreadable" || !(await createSignatureCheck(signer.key)(head))) return "the signed head was changed";
  if (head.number > (statement?.number ?? 0)) return `statements were removed up to ${head.number}`;
  return findRemoval({ store, findCut: () => findCut(sources) }, head);
}

/** Returns the last cut with a valid signature: a forged cut must not explain missing records. */
export async function findCut({ store, signer }: Omit<SuspicionSources, "isFirst">): Promise<LedgerHead> {
  const row = await store.statements.lastCut();
  const cut = row && parseStatementText(row.text);
  if (cut?.kind !== "cut" || !(await createSignatureCheck(signer.key)(cut))) return GENESIS;
  return { seq: cut.seq, digest: cut.digest };
}

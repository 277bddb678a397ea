/** The ledger together with its signatures: looks at what it finds before it goes on, and signs what it adds. */

import { GloveboxError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { SUSPECT } from "../chain-check.ts";
import { openLedger } from "../open-ledger.ts";
import type { Ledger, LedgerOptions } from "../open-ledger.ts";
import { readHeadFile, removeHeadFile } from "./head-file.ts";
import type { FoundHead } from "./head-file.ts";
import { keepStatements } from "./keep-statements.ts";
import type { Pace } from "./keep-statements.ts";
import { createSignatureCheck } from "./signer.ts";
import type { Signer } from "./signer.ts";
import { parseStatementText } from "./statement.ts";

export interface SignedLedgerOptions extends LedgerOptions {
  readonly store: Pick<Store, "ledger" | "statements">;
  readonly signer: Signer;
  /** True when the key was made just now: then nothing that is there can have been signed. */
  readonly isNewKey: boolean;
  /** Left out for a store in memory. */
  readonly headFile?: string;
  readonly pace?: Pace;
}

/**
 * Rejects with CONFIG_INVALID when the store was signed with another key. Records that were removed while nobody was
 * looking do not keep it from opening: they are written down in the ledger itself, signed, and `verify` tells them.
 */
export async function openSignedLedger(options: SignedLedgerOptions): Promise<Ledger> {
  const { headFile, onAppended } = options;
  const found = headFile === undefined ? undefined : await readHeadFile(headFile);
  const suspicion = await findSuspicion(options, found);
  const note = (head: Parameters<NonNullable<typeof onAppended>>[0]): void => {
    keeper.note(head);
    onAppended?.(head);
  };
  const ledger = await openLedger({ ...options, onAppended: note });
  const keeper = keepStatements(options, await ledger.head());
  if (suspicion !== undefined) {
    await ledger.write({ actor: "gateway", action: SUSPECT, subject: suspicion, detail: describe(found) });
    if (headFile !== undefined) await removeHeadFile(headFile);
  }
  if (suspicion !== undefined || found === "missing") await keeper.sign();
  const close = async (): Promise<void> => {
    await ledger.close();
    await keeper.close();
  };
  return { ...ledger, close, [Symbol.asyncDispose]: close };
}

/** What was lost, as far as the head tells: the record that should have been the last one. */
function describe(found: FoundHead | undefined): { readonly head: { readonly [key: string]: string | number } | null } {
  return { head: typeof found === "object" ? { ...found } : null };
}

/** Only what shows at once; `verify` looks at everything. */
async function findSuspicion(
  { store, signer, isNewKey }: SignedLedgerOptions,
  head: FoundHead | undefined,
): Promise<string | undefined> {
  const statement = await store.statements.last();
  const signed = statement && parseStatementText(statement.text);
  if (signed && signed.key !== signer.key) throw otherKey();
  const last = await store.ledger.last();
  if (statement && !signed) return `statement ${statement.number} was changed`;
  if (statement && statement.seq > (last?.seq ?? statement.seq - 1))
    return `records were removed up to ${statement.seq}`;
  if (head === undefined) return undefined;
  if (head === "missing") return last && !isNewKey ? "the signed head is missing" : undefined;
  if (head === "unreadable" || !(await createSignatureCheck(signer.key)(head))) return "the signed head was changed";
  if (head.number > (statement?.number ?? 0)) return `statements were removed up to ${head.number}`;
  if (head.seq === 0) return undefined;
  const cut = await store.statements.lastCut();
  if (head.seq <= (cut?.seq ?? 0)) return undefined;
  const [record] = await store.ledger.read({ from: head.seq, limit: 1 });
  if (record?.seq !== head.seq) return `records were removed up to ${head.seq}`;
  return record.digest === head.digest ? undefined : `record ${head.seq} is not the one that was signed`;
}

function otherKey(): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", "The ledger in this store is signed with another key", {
    hint: "Nothing was changed. Put the former ledger.key back beside the store, or use another store",
  });
}

/**
 * Drops old records up to a checkpoint without rewriting others. A signed cut remains, with the range that was dropped
 * and the digest from which the chain continues.
 */

import type { Instant } from "../../domain/index.ts";
import type { StatementRow, Store } from "../../store/index.ts";
import { DAY_MS, HOUR_MS, pollEvery } from "../../timing/index.ts";

import type { Ledger } from "../open-ledger.ts";
import { createSignatureCheck } from "../signer.ts";
import type { Signer } from "../signer.ts";
import { parseStatementText, toStatementText } from "../statement.ts";
import type { Checkpoint } from "../statement.ts";

export interface CutOptions {
  readonly store: Pick<Store, "ledger" | "statements" | "exports">;
  readonly ledger: Pick<Ledger, "write">;
  readonly signer: Signer;
  readonly now: () => Instant;
  /** A record is dropped as soon as one of the two limits is exceeded. */
  readonly retention: { readonly days?: number; readonly records?: number };
  /** Ids of the exports that must have received a record before it is dropped. */
  readonly exports: readonly string[];
}

/** Bounds how long one commit blocks the event loop. */
const BATCH = 1_000;

/**
 * Cuts the ledger now and then every hour. Does nothing without a limit. A cut that fails is repeated an hour later,
 * and disposing waits for the cut in progress.
 */
export function startRetention(options: CutOptions): AsyncDisposable {
  const { days, records } = options.retention;
  if (days === undefined && records === undefined) return { [Symbol.asyncDispose]: async () => undefined };
  const cut = async (): Promise<void> => void (await cutLedger(options));
  return pollEvery(HOUR_MS, cut, cut());
}

/** Returns how many records it dropped. The cut is recorded in the ledger before anything is dropped. */
export async function cutLedger(options: CutOptions): Promise<number> {
  const { store, ledger, signer, now } = options;
  const former = await store.statements.lastCut();
  const checkpoint = await findPlace(options, former);
  if (!checkpoint) return former ? dropAll(options, former) : 0;
  const { seq, digest } = checkpoint;
  const first = (former?.seq ?? 0) + 1;
  await ledger.write({
    actor: "gateway",
    action: "ledger.cut",
    subject: `${first}-${seq}`,
    detail: { first, seq, digest },
  });
  const number = ((await store.statements.last())?.number ?? 0) + 1;
  const cut = { kind: "cut", number, first, seq, digest, checkpoint: checkpoint.number, at: now() } as const;
  const row = { number, kind: cut.kind, seq, at: cut.at, text: toStatementText(await signer.sign(cut)) };
  // Another process took the number; the next run cuts.
  if ((await store.statements.append(row)) === "taken") return 0;
  return dropAll(options, row);
}

async function findPlace(options: CutOptions, former: StatementRow | undefined): Promise<Checkpoint | undefined> {
  const { store, now, retention } = options;
  const last = await store.ledger.last();
  if (!last) return undefined;
  const sent = await lowestCursor(options);
  const { days, records } = retention;
  const byAge = days === undefined ? undefined : { at: now() - days * DAY_MS, seq: sent };
  const byCount = records === undefined ? undefined : { at: now(), seq: Math.min(sent, last.seq - records) };
  const bounds = [byAge, byCount].filter((bound) => bound !== undefined);
  const found = await Promise.all(bounds.map((bound) => store.statements.findCheckpoint(bound)));
  const furthest = found.reduce((best, row) => ((row?.seq ?? 0) > (best?.seq ?? 0) ? row : best), undefined);
  if (!furthest || furthest.seq <= (former?.seq ?? 0)) return undefined;
  return checkPlace(options, furthest);
}

/** Verifies a checkpoint, because its digest becomes part of a signed cut. */
async function checkPlace({ store, signer }: CutOptions, { seq, text }: StatementRow): Promise<Checkpoint | undefined> {
  const statement = parseStatementText(text);
  if (statement?.kind !== "checkpoint" || !(await createSignatureCheck(signer.key)(statement))) return undefined;
  const [record] = await store.ledger.read({ from: seq, limit: 1 });
  return record?.seq === seq && record.digest === statement.digest ? statement : undefined;
}

async function lowestCursor({ store, exports }: CutOptions): Promise<number> {
  if (exports.length === 0) return Number.MAX_SAFE_INTEGER;
  const rows = await store.exports.list();
  return Math.min(...exports.map((id) => rows.find((row) => row.id === id)?.cursor ?? 0));
}

/** Also finishes what a crash left undone. */
async function dropAll({ store }: CutOptions, { text }: StatementRow): Promise<number> {
  const cut = parseStatementText(text);
  if (cut?.kind !== "cut") return 0;
  let dropped = 0;
  for (;;) {
    const some = await store.statements.drop(BATCH, cut.checkpoint);
    dropped += some;
    if (some < BATCH) return dropped;
  }
}

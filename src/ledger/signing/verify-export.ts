/**
 * Verifies an export without its store. Each group of records ends with a signed trailer: one for an export, one after
 * each batch for a file that grows.
 */

import { createChainCheck } from "../chain-check.ts";
import type { ChainCheck, LedgerProblem } from "../chain-check.ts";
import { GENESIS, parseLedgerRecord } from "../record.ts";
import type { LedgerHead } from "../record.ts";
import type { LedgerVerdict } from "../verify-ledger.ts";
import { createSignatureCheck } from "../signer.ts";
import type { PublicKey } from "../statement.ts";
import { parseStatement } from "../statement.ts";
import type { SignedStatement, Trailer } from "../statement.ts";

interface TrailerGroup {
  readonly start: LedgerHead;
  readonly check: ChainCheck;
}

/**
 * `lines` are parsed lines; anything that is neither a record nor a trailer is a problem. Without `pinned`, all trailers
 * must have the same signer, which the verdict names.
 */
export async function verifyExport(
  lines: AsyncIterable<unknown> | Iterable<unknown>,
  pinned?: PublicKey,
): Promise<LedgerVerdict> {
  let group: TrailerGroup | undefined;
  let begin: LedgerHead | undefined;
  let key = pinned;
  let sealed: LedgerHead | undefined;
  let suspicion: LedgerProblem | undefined;
  for await (const line of lines) {
    const trailer = toTrailer(line);
    group ??= open(sealed ?? trailerStart(trailer) ?? recordStart(line));
    begin ??= group.start;
    const problem = trailer ? await checkTrailer(trailer, group, (key ??= trailer.key)) : group.check.add(line);
    if (problem) return problem;
    sealed = trailer ? group.check.last() : undefined;
    suspicion ??= group.check.suspicion();
    if (trailer) group = undefined;
  }
  const seq = (group?.check.last() ?? sealed ?? GENESIS).seq;
  if (!sealed || !begin || key === undefined)
    return { ok: false, seq: seq + 1, problem: "the signed trailer is missing: the end was removed" };
  return suspicion ?? toVerdict(begin, seq, key);
}

function toVerdict(begin: LedgerHead, seq: number, key: PublicKey): LedgerVerdict {
  return { ok: true, records: seq - begin.seq, ...(begin.seq > 0 && { first: begin.seq + 1 }), signed: seq, key };
}

function open(start: LedgerHead): TrailerGroup {
  return { start, check: createChainCheck(start) };
}

function toTrailer(line: unknown): SignedStatement<Trailer> | undefined {
  const statement = parseStatement(line);
  return statement?.kind === "trailer" ? statement : undefined;
}

/** An export can begin at any record. The result is compared with its trailer. */
function recordStart(line: unknown): LedgerHead {
  const record = parseLedgerRecord(line);
  return record ? { seq: record.seq - 1, digest: record.previous } : GENESIS;
}

/** For an export without records. */
function trailerStart(trailer: SignedStatement<Trailer> | undefined): LedgerHead | undefined {
  return trailer && { seq: trailer.first - 1, digest: trailer.previous };
}

async function checkTrailer(
  trailer: SignedStatement<Trailer>,
  { start, check }: TrailerGroup,
  key: PublicKey,
): Promise<LedgerProblem | undefined> {
  const seq = check.last().seq + 1;
  if (!(await createSignatureCheck(key)(trailer)))
    return { ok: false, seq, problem: `the trailer was changed, or is not signed by ${key}` };
  const end = check.last();
  const isSame =
    trailer.first === start.seq + 1 &&
    trailer.previous === start.digest &&
    trailer.seq === end.seq &&
    trailer.digest === end.digest &&
    trailer.count === end.seq - start.seq;
  return isSame ? undefined : { ok: false, seq, problem: "records are missing: the trailer covers others" };
}

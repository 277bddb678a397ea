/**
 * Verifies an export without its store. Each group of records ends with a signed trailer: one for an export, one after
 * each batch for a file that grows.
 */

import { defined } from "../../domain/index.ts";
import { createChainCheck } from "../chain-check.ts";
import type { ChainCheck, LedgerProblem, LedgerVerdict } from "../chain-check.ts";
import { GENESIS, parseLedgerRecord } from "../record.ts";
import type { LedgerHead } from "../record.ts";
import { createSignatureCheck } from "../signer.ts";
import { parseStatement } from "../statement.ts";
import type { PublicKey, SignedStatement, Trailer } from "../statement.ts";

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
    const statement = parseStatement(line);
    const trailer = statement?.kind === "trailer" ? statement : undefined;
    const start = group?.start ?? sealed ?? findStart(line, trailer);
    group ??= { start, check: createChainCheck(start) };
    begin ??= start;
    const problem = trailer ? await checkTrailer(trailer, group, (key ??= trailer.key)) : group.check.add(line);
    if (problem) return problem;
    sealed = trailer ? group.check.last() : undefined;
    suspicion ??= group.check.suspicion();
    if (trailer) group = undefined;
  }
  const seq = (group?.check.last() ?? sealed ?? GENESIS).seq;
  if (!sealed || !begin || key === undefined)
    return { ok: false, seq: seq + 1, problem: "the signed trailer is missing: the end was removed" };
  if (suspicion) return suspicion;
  const first = begin.seq > 0 ? begin.seq + 1 : undefined;
  return { ok: true, records: seq - begin.seq, ...defined({ first }), signed: seq, key };
}

/** An export can begin at any record, or have only a trailer. The result is compared with its trailer. */
function findStart(line: unknown, trailer: Trailer | undefined): LedgerHead {
  if (trailer) return { seq: trailer.first - 1, digest: trailer.previous };
  const record = parseLedgerRecord(line);
  return record ? { seq: record.seq - 1, digest: record.previous } : GENESIS;
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

/** Records where none may be: below the first number, or among those that a cut has dropped. */

import type { Store } from "../../store/index.ts";

import { createChainCheck } from "../chain-check.ts";
import type { LedgerProblem } from "../chain-check.ts";
import { readPages } from "../read-records.ts";
import type { SignedState } from "./check-statements.ts";
import { parseDigest } from "../../domain/index.ts";

/** While a cut is being carried out, what is left before it must still lead up to it. */
export async function findStray(
  store: Pick<Store, "ledger">,
  { start, isDropping }: Pick<SignedState, "start" | "isDropping">,
): Promise<LedgerProblem | undefined> {
  const [lowest] = await store.ledger.read({ from: -Number.MAX_VALUE, limit: 1 });
  if (!lowest || lowest.seq > start.seq) return undefined;
  const { seq } = lowest;
  if (seq < 1) return { ok: false, seq, problem: "a record was added before the first one" };
  if (!isDropping) return { ok: false, seq, problem: "a record was added where records were dropped" };
  const previous = parseDigest(lowest.previous);
  const before = previous && { seq: seq - 1, digest: previous };
  const problem = before ? await walk(store, { from: before, to: start }) : "this is not a ledger record";
  if (problem === undefined) return undefined;
  const [next] = await store.ledger.read({ from: -Number.MAX_VALUE, limit: 1 });
  // Meanwhile more of them were dropped: look again.
  return next?.seq === seq ? { ok: false, seq, problem } : findStray(store, { start, isDropping });
}

async function walk(
  store: Pick<Store, "ledger">,
  { from, to }: Readonly<Record<"from" | "to", SignedState["start"]>>,
): Promise<string | undefined> {
  const check = createChainCheck(from, { signed: new Map([[to.seq, to.digest]]) });
  for await (const page of readPages(store, from.seq + 1)) {
    for (const record of page) {
      if (check.last().seq >= to.seq) return undefined;
      const problem = check.addStored(record);
      if (problem) return problem.problem;
    }
  }
  return check.last().seq >= to.seq ? undefined : `records up to ${to.seq} are missing`;
}

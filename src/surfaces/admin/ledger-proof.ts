/** Verifies the ledger for the people at the page: one verification at a time, in slices, with its progress. */

import { setImmediate } from "node:timers/promises";

import { toPublicError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { StoredRecords } from "../operator-records.ts";
import type { ProofAnswer } from "./contract/ledger.ts";

interface ProofPowers {
  readonly readRecords: () => Promise<StoredRecords>;
  readonly now: () => Instant;
  readonly report: (thrown: unknown) => string;
}

export interface LedgerProof {
  state(): ProofAnswer;
  /** Returns the state at once; another call joins the verification that runs. */
  start(by: string): ProofAnswer;
}

export function createLedgerProof({ readRecords, now, report }: ProofPowers): LedgerProof {
  let state: ProofAnswer = {};
  const verify = async (by: string): Promise<void> => {
    const { last } = state;
    const kept = last && { last };
    try {
      const reader = (await readRecords()).openReader();
      const of = await reader.last();
      const verdict = await reader.verify(undefined, async (checked) => {
        state = { ...kept, running: { checked: Math.min(checked, of), of } };
        await setImmediate(); // other requests are answered between two pages
      });
      state = { last: { verdict, at: now(), by } };
    } catch (thrown) {
      state = { ...kept, failure: toPublicError(thrown, report).message };
    }
  };
  return {
    state: () => state,
    start: (by) => {
      if (!state.running) {
        state = { ...(state.last && { last: state.last }), running: { checked: 0, of: 0 } };
        void verify(by);
      }
      return state;
    },
  };
}

/** What the parts of this room are given. */

import type { Instant } from "../domain/index.ts";
import type { LedgerEntry } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";

import type { StopExecutions } from "./stop-executions.ts";

export type StoredPerson = Parameters<Store["identity"]["addPerson"]>[0];
export type StoredToken = Parameters<Store["identity"]["addToken"]>[0];
export type StoredPasskey = Parameters<Store["identity"]["addPasskey"]>[0];
export type StoredSession = Parameters<Store["identity"]["addSession"]>[0];

export interface IdentityPowers {
  readonly store: Store["identity"];
  /** Resolves once the entry is on disk. */
  readonly record: (entry: LedgerEntry) => Promise<unknown>;
  readonly now: () => Instant;
  readonly random: (count: number) => Uint8Array;
  /** 24 hex digits. */
  readonly createId: () => string;
  /** For principals that are no longer valid. */
  readonly stop: StopExecutions;
  /** Returns the digest function of one kind of credential. Its key is kept in the vault. */
  readonly digestFor: (purpose: string) => (text: string) => Uint8Array;
}

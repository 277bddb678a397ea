/** Which secrets programs may use, where and how, and the seal for stored data. Values are never in a grant. */

import type { SecretName } from "./ids.ts";
import type { HostPattern } from "./network.ts";

export interface SecretGrant {
  readonly hosts: readonly {
    /** As the operator wrote it, for declarations. */
    readonly written: string;
    readonly pattern: HostPattern;
    /** True if written with `http://`: the secret is sent unencrypted, and not over https. */
    readonly isPlain: boolean;
  }[];
  readonly places: readonly ("header" | "body")[];
  /** The principals whose programs may use it, by name; empty for all. */
  readonly principals: readonly string[];
}

/** Keyed by the name that programs write after `secrets.`. */
export type SecretGrants = ReadonlyMap<SecretName, SecretGrant>;

export interface Seal {
  /** `context` names what the data belongs to. It is not stored, and `open` needs the same one. */
  close(plain: string | Uint8Array, context: string): Uint8Array;
  /** Throws STORE_UNAVAILABLE if the data, the context or the key differs. */
  open(sealed: Uint8Array, context: string): string;
  /** Like `open`, for what is not text. */
  openBytes(sealed: Uint8Array, context: string): Uint8Array;
  /** A key for another use, the same in every process on this store. It reveals nothing about the sealing key. */
  derive(purpose: string): Uint8Array;
}

/** What a vault offers to the rest of the product. */

import type { Instant, JsonObject, Seal, SecretName } from "../domain/index.ts";

import type { Secret } from "./secret.ts";

/** Everything about a secret but its value. */
export interface SecretSummary {
  readonly name: SecretName;
  /** Counts how often it was set. */
  readonly version: number;
  readonly setAt: Instant;
}

/** Who is lent a secret, if it is not the gateway itself. */
export interface Borrower {
  readonly actor: string;
  /** Added to the ledger record of the loan. */
  readonly detail: JsonObject;
}

export interface RotationRequest {
  readonly actor: string;
  /** The new key, 64 hex digits, if the key of the environment is replaced and no variable holds the new one. */
  readonly key?: Secret;
  /** How long running gateways with the former key in their environment can take over the new one. */
  readonly handOverMs: number;
}

export interface Rotation {
  /** How many secrets are wrapped with the new key. */
  readonly secrets: number;
  /** Secrets whose records had been changed or moved, so that no key opens them. */
  readonly damaged: readonly SecretName[];
}

/** Owns neither the store nor the ledger. */
export interface Vault extends AsyncDisposable {
  /** Replaces an earlier value. Throws REQUEST_INVALID for a value that is empty or larger than 64 KiB. */
  set(name: SecretName, value: Secret, actor: string): Promise<void>;
  /** Lends a secret for one use; do not keep it. Throws VAULT_SECRET_MISSING if it is not set or cannot be opened. */
  lend(name: SecretName, purpose: string, borrower?: Borrower): Promise<Secret>;
  /**
   * Returns every secret that can be opened, or those with matching names, so that they can be masked. This is not a
   * loan and is not recorded. Returns nothing without a matching key.
   */
  known(isMeant?: (name: SecretName) => boolean): Promise<readonly Secret[]>;
  /** Sorted by name. Needs no key. */
  list(): Promise<readonly SecretSummary[]>;
  /** Returns false if there was none. Needs no key. */
  remove(name: SecretName, actor: string): Promise<boolean>;
  /** Call it at a start: creates the key of a new store, rejects a wrong key, and finishes an interrupted rotation. */
  ready(): Promise<void>;
  /** Takes over the next key after a rotation. Rejects as `ready` when the key is not available. */
  refresh(): Promise<void>;
  /** True when the key comes from the environment, where an operator has to change it. */
  readonly isKeyOfEnvironment: boolean;
  /** True when a rotation needs the new key as an argument: the environment holds only the key in use. */
  readonly needsNewKey: boolean;
  /** Returns the seal for what records keep of programs, and unlocks the store with it. */
  openSeal(): Promise<Seal>;
  /** Wraps every secret with another key. Other operations meanwhile succeed with either key. */
  rotate(request: RotationRequest): Promise<Rotation>;
  /** Forgets the key; idempotent. A later use loads the key again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Restarts an upstream when a secret that it was lent is set anew or removed, whichever process did that. What it was
 * lent is compared with what is stored, again and again, so that no change is missed while the upstream is starting.
 */

import { pollEvery } from "../../timing/index.ts";
import type { SecretName } from "../../domain/index.ts";
import type { SecretSummary, Vault } from "../../vault/index.ts";

import type { Connector } from "../connector.ts";

/** What one upstream was lent since it was last restarted. */
export interface LoanBook {
  readonly lend: Vault["lend"];
  /** True when one of these secrets is another one now, is gone, or is there at last. */
  hasChanged(secrets: readonly SecretSummary[]): boolean;
  clear(): void;
}

/** Lends through `vault`, and writes down which setting of each secret it lent first. */
export function createLoanBook(vault: Pick<Vault, "lend" | "list">): LoanBook {
  const loans = new Map<SecretName, string>();
  return {
    async lend(name, purpose) {
      // Noted before: a change in between makes one restart too many, and never one too few.
      const stamp = toStamp(name, await vault.list());
      if (!loans.has(name)) loans.set(name, stamp);
      return vault.lend(name, purpose);
    },
    hasChanged: (secrets) => [...loans].some(([name, stamp]) => toStamp(name, secrets) !== stamp),
    clear: () => loans.clear(),
  };
}

function toStamp(name: SecretName, secrets: readonly SecretSummary[]): string {
  const found = secrets.find((secret) => secret.name === name);
  return found ? `${found.version} ${found.setAt}` : "none";
}

export interface SecretWatch extends AsyncDisposable {}

/** An upstream with what it was lent. */
export interface BorrowingUpstream {
  readonly connector: Connector;
  readonly loans: LoanBook;
}

export interface SecretWatchOptions {
  readonly borrowers: readonly BorrowingUpstream[];
  readonly list: () => Promise<readonly SecretSummary[]>;
  readonly everyMs: number;
}

/** Looks until it is disposed of; the first time after `everyMs`. */
export function watchSecrets({ borrowers, list, everyMs }: SecretWatchOptions): SecretWatch {
  const look = async (): Promise<void> => {
    const secrets = await list();
    // One that is just starting goes on with what it has; it is restarted at a later look.
    const due = borrowers.filter(
      ({ connector, loans }) => loans.hasChanged(secrets) && connector.status().state !== "connecting",
    );
    await Promise.all(due.map(restart));
  };
  return pollEvery(everyMs, look);
}

/** Cleared first: from then on the upstream starts with what is stored now. */
async function restart({ connector, loans }: BorrowingUpstream): Promise<void> {
  loans.clear();
  await connector.restart?.();
}

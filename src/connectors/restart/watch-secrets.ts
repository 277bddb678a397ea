/**
 * Restarts an upstream when a secret that it was lent is changed or removed, by any process. What it was lent is
 * compared with the vault at every poll, so that no change is missed while the upstream is starting.
 */

import { pollEvery } from "../../timing/index.ts";
import type { SecretName } from "../../domain/index.ts";
import type { SecretSummary, Vault } from "../../vault/index.ts";

import type { Connector } from "../connector.ts";

/** The secrets that one upstream was lent since its last restart, each with the version that it was lent first. */
export function createLoanBook(vault: Pick<Vault, "lend" | "list">) {
  const loans = new Map<SecretName, string>();
  const lend: Vault["lend"] = async (name, purpose) => {
    // Recorded before lending: a change in between causes one restart too many, never one too few.
    const stamp = toStamp(name, await vault.list());
    if (!loans.has(name)) loans.set(name, stamp);
    return vault.lend(name, purpose);
  };
  return {
    lend,
    /** True when one of the lent secrets was changed, removed or set for the first time. */
    hasChanged: (secrets: readonly SecretSummary[]): boolean =>
      [...loans].some(([name, stamp]) => toStamp(name, secrets) !== stamp),
    clear: (): void => loans.clear(),
  };
}

function toStamp(name: SecretName, secrets: readonly SecretSummary[]): string {
  const found = secrets.find((secret) => secret.name === name);
  return found ? `${found.version} ${found.setAt}` : "none";
}

/** An upstream with the secrets that it was lent. */
export interface BorrowingUpstream {
  readonly connector: Connector;
  readonly loans: ReturnType<typeof createLoanBook>;
}

/** Polls until disposed, the first time after `everyMs`. */
export function watchSecrets({
  borrowers,
  list,
  everyMs,
}: {
  readonly borrowers: readonly BorrowingUpstream[];
  readonly list: Vault["list"];
  readonly everyMs: number;
}): AsyncDisposable {
  return pollEvery(everyMs, async () => {
    const secrets = await list();
    const restarts = borrowers.map(async ({ connector, loans }) => {
      // An upstream that is connecting keeps its old secrets; a later poll restarts it.
      if (!loans.hasChanged(secrets) || connector.status().state === "connecting") return;
      // Cleared first: from then on the upstream starts with the current secrets.
      loans.clear();
      await connector.restart?.();
    });
    await Promise.all(restarts);
  });
}

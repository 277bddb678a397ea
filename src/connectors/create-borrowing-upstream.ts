/** An upstream together with the secrets that it was lent, which are masked in everything that it returns. */

import { defined } from "../domain/index.ts";
import type { ConnectorId, JsonObject, UpstreamStatus } from "../domain/index.ts";
import type { createPathMask } from "../text/index.ts";
import { createMask } from "../vault/index.ts";
import type { Mask, Secret, Vault } from "../vault/index.ts";

import type { Connector } from "./connector.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { createLoanBook } from "./restart/watch-secrets.ts";
import type { BorrowingUpstream } from "./restart/watch-secrets.ts";

/** An upstream returns little but its own data, so its own secrets can be masked even when they are short. */
const MIN_OWN_LENGTH = 4;

/** An entry for the ledger. */
export interface UpstreamEntry {
  readonly actor: "gateway";
  readonly action: string;
  readonly subject: ConnectorId;
  readonly detail: JsonObject;
}

export interface BorrowingOptions {
  readonly vault: Pick<Vault, "lend" | "list">;
  /** Masks the secrets of the whole gateway. */
  readonly mask: Mask;
  /** Called with each change of state that the ledger records. Must not throw; nothing waits for it. */
  readonly record: (entry: UpstreamEntry) => void;
  /** Upstreams whose results are passed on if they do not match their schema. */
  readonly lenient?: ReadonlySet<ConnectorId>;
  /** Masks the home folder in errors. */
  readonly paths?: ReturnType<typeof createPathMask>;
  /** Makes the cause of a failure fit for a record. */
  readonly cleanCause: (text: string) => string;
}

/** Lends secrets to one upstream. */
export interface SecretLender extends Pick<Vault, "lend"> {
  /** Masks a secret that reaches the upstream in another way. */
  readonly remember: (secret: Secret) => void;
}

/**
 * Masks in everything that the upstream returns what it was lent and the `credentials` in its settings, for as long as
 * the upstream exists, and also what any other upstream was lent.
 */
export function createBorrowingUpstream(
  { vault, mask, paths, lenient, record, cleanCause }: BorrowingOptions,
  credentials: readonly string[],
  create: (lender: SecretLender, onState: (state: UpstreamStatus["state"]) => void) => Connector,
): BorrowingUpstream {
  const own = createMask({ shortest: MIN_OWN_LENGTH });
  const add = (credential: string): void => {
    own.add(credential);
    mask.add(credential);
  };
  credentials.forEach(add);
  const loans = createLoanBook(vault);
  const remember = (secret: Secret): void => add(secret.reveal());
  const lend: Vault["lend"] = async (name, purpose) => {
    const secret = await loans.lend(name, purpose);
    remember(secret);
    return secret;
  };
  const onState = (state: UpstreamStatus["state"]): void => {
    if (state === "connecting") loans.clear();
    const action = ACTIONS[state];
    if (action === undefined) return;
    const { name: subject, transport, cause } = connector.status();
    const cleaned = cause === undefined ? undefined : cleanCause(cause);
    record({ actor: "gateway", action, subject, detail: { state, transport, ...defined({ cause: cleaned }) } });
  };
  const hide = (text: string): string => mask.hide(own.hide(text));
  const connector: Connector = hideSecrets(create({ lend, remember }, onState), {
    hide,
    hideOwn: own.hide,
    ...defined({ maskHome: paths?.home }),
  });
  return { connector: { ...connector, isLenient: lenient?.has(connector.id) ?? false }, loans };
}

/** The action that the ledger records when an upstream enters a state. */
const ACTIONS: Readonly<Partial<Record<UpstreamStatus["state"], string>>> = {
  ready: "upstream.connected",
  failed: "upstream.failed",
  suspended: "upstream.suspended",
};

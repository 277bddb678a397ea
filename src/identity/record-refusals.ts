/**
 * Records refused credentials without letting a stranger fill the ledger: of an address, the first few of a minute, and
 * then every tenfold number of attempts. Each record has the number of attempts so far.
 */

import { defined } from "../domain/index.ts";
import type { Instant } from "../domain/index.ts";
import type { LedgerEntry } from "../ledger/index.ts";
import { MINUTE_MS, createRecent } from "../timing/index.ts";

import { networkOf } from "./network-of.ts";

export interface CredentialRefusal {
  /** What was refused: a token, a session, a one-time code or a password. */
  readonly what: "token" | "session" | "code" | "proxy" | "login";
  readonly reason: string;
  /** The address of the client. */
  readonly origin: string;
  /** The principal and the id of a credential that was valid once. */
  readonly principal?: string;
  readonly id?: string;
}

const FIRST = 3;
/** Refusals of an address in a minute that are an anomaly; one of those that are recorded. */
const BRUTE_FORCE = 100;
const MAX_ORIGINS = 1_000;
/** Of all addresses together, in a minute. */
const MAX_RECORDS = 120;

export function createRefusals({
  record,
  now,
}: {
  /** Must not throw; the answer does not wait for it. */
  readonly record: (entry: LedgerEntry) => void;
  readonly now: () => Instant;
}): (refusal: CredentialRefusal) => void {
  const windows = createRecent<string, { startedAt: Instant; attempts: number }>(MAX_ORIGINS);
  const total = { startedAt: 0, records: 0 };
  return ({ what, reason, origin, principal, id }) => {
    const at = now();
    const network = networkOf(origin);
    const known = windows.get(network);
    const window = known && at - known.startedAt < MINUTE_MS ? known : { startedAt: at, attempts: 0 };
    window.attempts += 1;
    windows.set(network, window);
    if (at - total.startedAt >= MINUTE_MS) Object.assign(total, { startedAt: at, records: 0 });
    if (!isRecorded(window.attempts) || total.records >= MAX_RECORDS) return;
    total.records += 1;
    const detail = { reason, origin, attempts: window.attempts, ...defined({ id }) };
    record({ actor: principal ?? "unknown", action: `${what}.refused`, subject: origin, detail });
    if (window.attempts !== BRUTE_FORCE) return;
    const anomaly = { kind: "bruteForce", origin, attempts: BRUTE_FORCE, windowMs: MINUTE_MS };
    record({ actor: "gateway", action: "anomaly.seen", subject: origin, detail: anomaly });
  };
}

function isRecorded(attempts: number): boolean {
  return attempts <= FIRST || Number.isInteger(Math.log10(attempts));
}

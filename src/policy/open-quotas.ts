/**
 * Quotas: what principals may use over time. Units are taken before anything begins and what was not used goes back
 * after, so that no number of parallel requests gets more than there is. Operators are not counted.
 */

import { GloveboxError } from "../domain/index.ts";
import type { Instant, Principal, QuotaSettings, Tool } from "../domain/index.ts";
import type { QuotaStore } from "../store/index.ts";
import { claimCall, claimExecution } from "./claim-quotas.ts";
import type { NamedClaim } from "./claim-quotas.ts";
import { describeFull } from "./describe-full.ts";

/** What wants to begin. */
export type QuotaRequest =
  | { readonly kind: "execution"; readonly principal: Principal; readonly wallMs: number }
  | { readonly kind: "call"; readonly principal: Principal; readonly tool: Tool };

/** What was taken. */
export interface QuotaGrant {
  /** How long an execution may take, which is less than it asked for when only less is left. */
  readonly wallMs: number;
  /** Gives back what an execution did not use. A grant that is never settled counts as used whole. */
  settle(usedMs: number): Promise<void>;
}

/** The one place that counts. Another implementation may count for many gateways. */
export interface Quotas {
  /** Takes from every quota that the request falls under, or from none. Rejects with LIMIT_QUOTA. */
  take(request: QuotaRequest): Promise<QuotaGrant>;
}

export interface QuotasOptions {
  readonly settings: QuotaSettings;
  readonly store: QuotaStore;
  readonly now: () => Instant;
  /** Unique, also among processes. */
  readonly createLease: () => string;
}

const NOTHING_TAKEN = { settle: async () => undefined };

export function openQuotas({ settings, store, now, createLease }: QuotasOptions): Quotas {
  const claimsOf = (request: QuotaRequest, lease: string): readonly NamedClaim[] => {
    if (request.principal.kind === "operator") return [];
    return request.kind === "call"
      ? claimCall(settings, request)
      : claimExecution(settings, request, { lease, now: now() });
  };
  return {
    async take(request) {
      const wallMs = request.kind === "execution" ? request.wallMs : 0;
      const lease = createLease();
      const named = claimsOf(request, lease);
      if (named.length === 0) return { wallMs, ...NOTHING_TAKEN };
      const at = now();
      const outcome = await store.take(
        named.map(({ claim }) => claim),
        at,
      );
      if (outcome.kind === "full") throw refuse(named, outcome, at);
      if (request.kind === "call") return { wallMs, ...NOTHING_TAKEN };
      const timed = new Set(named.filter(({ unit }) => unit === "ms").map(({ claim }) => claim.key));
      const times = outcome.units.filter(({ key }) => timed.has(key));
      const granted = Math.min(wallMs, ...times.map(({ amount }) => amount));
      const leases = named.some(({ claim }) => claim.kind === "place") ? [lease] : [];
      return { wallMs: granted, settle: (usedMs) => settle(store, { times, leases, usedMs, granted }) };
    },
  };
}

interface Taken {
  readonly times: Extract<Awaited<ReturnType<QuotaStore["take"]>>, { kind: "taken" }>["units"];
  readonly leases: readonly string[];
  readonly usedMs: number;
  readonly granted: number;
}

/** A program is stopped a moment after its time is over; that moment is not charged, so no count goes over its limit. */
async function settle(store: QuotaStore, { times, leases, usedMs, granted }: Taken): Promise<void> {
  if (times.length === 0 && leases.length === 0) return;
  const charged = Math.min(granted, Math.ceil(Math.max(0, usedMs)));
  const units = times.map((one) => ({ ...one, amount: one.amount - charged }));
  await store.giveBack({ units, leases });
}

type Full = Extract<Awaited<ReturnType<QuotaStore["take"]>>, { kind: "full" }>;

function refuse(named: readonly NamedClaim[], full: Full, now: Instant): GloveboxError {
  const claimed = named.find(({ claim }) => claim.key === full.claim.key);
  if (!claimed) throw new TypeError("The store refused a claim that nobody made");
  const { message, hint } = describeFull(claimed, { used: full.used, freeAt: full.freeAt, now });
  return new GloveboxError("LIMIT_QUOTA", message, { hint });
}

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
  /** One that goes on `again` was counted when it began: it takes time only. */
  | { readonly kind: "execution"; readonly principal: Principal; readonly wallMs: number; readonly when?: "again" }
  | { readonly kind: "call"; readonly principal: Principal; readonly tool: Tool };

/** What was taken. */
export interface QuotaGrant {
  /** How long an execution may take, which is less than it asked for when only less is left. */
  readonly wallMs: number;
  /** The setting of the quota that left it less than it asked for. */
  readonly shortenedBy?: string;
  /**
   * Gives back what an execution did not use, with the next that is written: nobody waits for it, and whoever asks later
   * finds it. A grant that is never settled, or whose settling is lost, counts as used whole.
   */
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

type Times = Extract<Awaited<ReturnType<QuotaStore["take"]>>, { kind: "taken" }>["units"];

const NOTHING_TAKEN = { settle: async () => undefined };

export function openQuotas({ settings, store, now, createLease }: QuotasOptions): Quotas {
  const claimsOf = (request: QuotaRequest): readonly NamedClaim[] => {
    if (request.principal.kind === "operator") return [];
    if (request.kind === "call") return claimCall(settings, request);
    const claims = claimExecution(settings, request, { lease: createLease(), now: now() });
    return request.when === "again" ? claims.filter(({ unit }) => unit === "ms") : claims;
  };
  /** Of executions that this process runs. */
  const held = new Set<Times>();
  return {
    async take(request) {
      const wallMs = request.kind === "execution" ? request.wallMs : 0;
      const named = claimsOf(request);
      if (named.length === 0) return { wallMs, ...NOTHING_TAKEN };
      const at = now();
      const outcome = await store.take(
        named.map(({ claim }) => claim),
        at,
      );
      if (outcome.kind === "full") throw refuse(named, { ...outcome, reserved: sumHeld(held, outcome) }, at);
      if (request.kind === "call") return { wallMs, ...NOTHING_TAKEN };
      const timed = new Set(named.filter(({ unit }) => unit === "ms").map(({ claim }) => claim.key));
      const times = outcome.units.filter(({ key }) => timed.has(key));
      const granted = Math.min(wallMs, ...times.map(({ amount }) => amount));
      const leases = new Set(named.flatMap(({ claim }) => (claim.kind === "place" ? [claim.lease] : [])));
      const shortest = times.find(({ amount }) => amount === granted && amount < wallMs)?.key;
      const shortenedBy = named.find(({ claim }) => claim.key === shortest)?.setting;
      held.add(times);
      return {
        wallMs: granted,
        ...(shortenedBy !== undefined && { shortenedBy }),
        settle: async (usedMs) => {
          held.delete(times);
          settle(store, { times, leases: [...leases], usedMs, granted });
        },
      };
    },
  };
}

interface Taken {
  readonly times: Times;
  readonly leases: readonly string[];
  readonly usedMs: number;
  readonly granted: number;
}

/** A program is stopped a moment after its time is over; that moment is not charged, so no count goes over its limit. */
function settle(store: QuotaStore, { times, leases, usedMs, granted }: Taken): void {
  if (times.length === 0 && leases.length === 0) return;
  const charged = Math.min(granted, Math.ceil(Math.max(0, usedMs)));
  const units = times.map((one) => ({ ...one, amount: one.amount - charged }));
  void store.giveBack({ units, leases }).catch(() => undefined);
}

type Full = Extract<Awaited<ReturnType<QuotaStore["take"]>>, { kind: "full" }>;

/** How much of a window that is full executions of this process hold. */
function sumHeld(held: ReadonlySet<Times>, { claim, freeAt }: Full): number {
  if (claim.kind !== "window") return 0;
  const startedAt = freeAt - claim.windowMs;
  const own = [...held].flat().filter((one) => one.key === claim.key && one.startedAt === startedAt);
  return own.reduce((sum, { amount }) => sum + amount, 0);
}

function refuse(named: readonly NamedClaim[], full: Full & { readonly reserved: number }, now: Instant): GloveboxError {
  const claimed = named.find(({ claim }) => claim.key === full.claim.key);
  if (!claimed) throw new TypeError("The store refused a claim that nobody made");
  const { message, hint } = describeFull(claimed, { ...full, now });
  return new GloveboxError("LIMIT_QUOTA", message, { hint });
}

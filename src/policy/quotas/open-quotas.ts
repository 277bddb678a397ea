/**
 * Quotas: what principals may use over time. Units are taken before anything begins and what was not used goes back
 * after, so that no number of parallel requests gets more than there is. Operators are not counted.
 */

import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionId, Instant, Principal, QuotaSettings, Tool } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { claimCall, claimExecution } from "./claim-quotas.ts";
import type { NamedClaim } from "./claim-quotas.ts";
import { describeFullQuota } from "./describe-full.ts";

/** What wants to begin. */
export type QuotaRequest =
  | ExecutionClaim
  | { readonly kind: "call"; readonly principal: Principal; readonly tool: Tool };

/** An execution that begins or goes on, and the time that it wants. */
export interface ExecutionClaim {
  readonly kind: "execution";
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly wallMs: number;
  /**
   * One that goes on `again` was counted when it began: it takes time only. One that was `restarted` goes on with what it
   * held when its process died.
   */
  readonly when?: "again" | "restarted";
}

/** What was taken. */
export interface QuotaGrant {
  /** How long an execution may take, which is less than it asked for when only less is left. */
  readonly wallMs: number;
  /** The setting of the quota that left it less than it asked for. */
  readonly shortenedBy?: string;
  /**
   * Gives back what an execution did not use, with the next that is written: nobody waits for it, and whoever asks later
   * finds it. A grant whose settling is lost counts as used whole.
   */
  release(usedMs: number): Promise<void>;
}

/** The one place that counts. Another implementation may count for many gateways. */
export interface Quotas {
  /** Takes from every quota that the request falls under, or from none. Rejects with LIMIT_QUOTA. */
  take(request: QuotaRequest): Promise<QuotaGrant>;
  /** To be called every second: should this process die, it is known until when its executions can have run. */
  noteHeld(): Promise<void>;
  /** For an execution that its process left when it died, and that does not go on: gives back what it cannot have used. */
  releaseLost(execution: ExecutionId): Promise<void>;
}

export interface QuotasOptions {
  readonly settings: QuotaSettings;
  readonly store: Store["quotas"];
  readonly now: () => Instant;
}

type TakenWindows = Extract<Awaited<ReturnType<Store["quotas"]["take"]>>, { kind: "taken" }>["units"];

const NOTHING_TAKEN = { release: async () => undefined };

/** A process that lives says so every second; on a busy machine it may be late. */
const UNSEEN_MS = 2_000;

export function openQuotas({ settings, store, now }: QuotasOptions): Quotas {
  const claimsOf = (request: QuotaRequest): readonly NamedClaim[] => {
    if (request.principal.kind === "operator") return [];
    if (request.kind === "call") return claimCall(settings, request);
    const claims = claimExecution(settings, request, { holder: request.execution, now: now() });
    return request.when === "again" ? claims.filter(({ unit }) => unit === "ms") : claims;
  };
  /** Of executions that this process runs. */
  const held = new Map<ExecutionId, TakenWindows>();
  const giveBack = (execution: ExecutionId, chargedMs: number): void => {
    held.delete(execution);
    void store.giveBack(execution, Math.ceil(Math.max(0, chargedMs))).catch(() => undefined);
  };
  const restore = async ({ execution, wallMs }: ExecutionClaim): Promise<QuotaGrant> => {
    const before = ((await store.heldFor(execution)) ?? 0) + UNSEEN_MS;
    await store.restoreHold(execution, before, now());
    held.set(execution, []);
    return { wallMs, release: async (usedMs) => giveBack(execution, before + usedMs) };
  };
  return {
    noteHeld: async () => {
      if (held.size > 0) await store.noteHeld([...held.keys()], now());
    },
    releaseLost: (execution) => releaseLostQuota(execution, store),
    async take(request) {
      if (request.kind === "execution" && request.when === "restarted") return restore(request);
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
      const shortest = times.find(({ amount }) => amount === granted && amount < wallMs)?.key;
      const shortenedBy = named.find(({ claim }) => claim.key === shortest)?.setting;
      if (!named.some(({ claim }) => claim.holder !== undefined)) return { wallMs, ...NOTHING_TAKEN };
      held.set(request.execution, times);
      return {
        wallMs: granted,
        ...(shortenedBy !== undefined && { shortenedBy }),
        // A program is stopped a moment after its time is over; that is not charged, so no count goes over its limit.
        release: async (usedMs) => giveBack(request.execution, Math.min(granted, usedMs)),
      };
    },
  };
}

/** Without the settings of a gateway: whoever has the store can do it. Only for one whose process is dead. */
export async function releaseLostQuota(execution: ExecutionId, store: Store["quotas"]): Promise<void> {
  const heldMs = (await store.heldFor(execution)) ?? 0;
  await store.giveBack(execution, heldMs + UNSEEN_MS);
}

type FullQuota = Extract<Awaited<ReturnType<Store["quotas"]["take"]>>, { kind: "full" }>;

/** How much of a window that is full executions of this process hold. */
function sumHeld(held: ReadonlyMap<ExecutionId, TakenWindows>, { claim, freeAt }: FullQuota): number {
  if (claim.kind !== "window") return 0;
  const startedAt = freeAt - claim.windowMs;
  const own = [...held.values()].flat().filter((one) => one.key === claim.key && one.startedAt === startedAt);
  return own.reduce((sum, { amount }) => sum + amount, 0);
}

function refuse(
  named: readonly NamedClaim[],
  full: FullQuota & { readonly reserved: number },
  now: Instant,
): GloveboxError {
  const claimed = named.find(({ claim }) => claim.key === full.claim.key);
  if (!claimed) throw new TypeError("The store refused a claim that nobody made");
  const { message, hint } = describeFullQuota(claimed, { ...full, now });
  return new GloveboxError("LIMIT_QUOTA", message, { hint });
}

/**
 * Quotas: what principals may use over time. Units are taken before something starts and unused ones are returned after
 * it, so that parallel requests never exceed a quota. Operators have no quotas.
 */

import { GloveboxError, defined, hasRole } from "../../domain/index.ts";
import type { ExecutionId, Instant, Principal, QuotaSettings, Tool } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { SECOND_MS } from "../../timing/index.ts";
import { COST_UNITS, claimCall, claimExecution } from "./claim-quotas.ts";
import type { NamedClaim } from "./claim-quotas.ts";
import { listUse } from "./list-use.ts";
import type { UsedQuota } from "./list-use.ts";

export interface ExecutionClaim {
  readonly kind: "execution";
  readonly execution: ExecutionId;
  readonly principal: Principal;
  readonly wallMs: number;
  /** `again`: resumed, so it only takes time. `restarted`: recovered, so it keeps what it held. */
  readonly when?: "again" | "restarted";
}

export interface QuotaGrant {
  readonly wallMs: number;
  /** The setting of the quota that shortened the time. */
  readonly shortenedBy?: string;
  /** Does not wait for the write, but later requests see it. If it is lost, the whole time counts as used. */
  release(usedMs: number): Promise<void>;
}

export interface Quotas {
  /** Takes from every quota that applies, or from none. Rejects with LIMIT_QUOTA. */
  take(request: ExecutionClaim): Promise<QuotaGrant>;
  /** Like `take`, for a call; `undefined` if no quota applies. */
  takeCall(principal: Principal, tool: Tool): Promise<void> | undefined;
  /** Call it every second, so that after a crash it is known how long the executions of this process ran. */
  noteHeld(): Promise<void>;
  /** For an execution whose process died and that is not recovered: returns the time that it cannot have used. */
  releaseLost(execution: ExecutionId): Promise<void>;
  /** The quotas that something counts against now. */
  list(): Promise<readonly UsedQuota[]>;
}

interface QuotasOptions {
  readonly settings: QuotaSettings;
  readonly store: Store["quotas"];
  readonly now: () => Instant;
}

type Outcome = Awaited<ReturnType<Store["quotas"]["take"]>>;
type TakenWindows = Extract<Outcome, { kind: "taken" }>["units"];
type FullQuota = Extract<Outcome, { kind: "full" }>;

/** Counters that are read for a list. */
const MAX_LISTED = 1_000;

const NOTHING_TAKEN = { release: async () => undefined };

/** A live process calls `noteHeld` every second; on a busy machine it may be late. */
const UNSEEN_MS = 2_000;

export function openQuotas({ settings, store, now }: QuotasOptions): Quotas {
  const claimsOf = (request: ExecutionClaim): readonly NamedClaim[] => {
    if (hasRole(request.principal, "operator")) return [];
    const claims = claimExecution(settings, request, { holder: request.execution, now: now() });
    return request.when === "again" ? claims.filter(({ unit }) => unit === "ms") : claims;
  };
  const held = new Map<ExecutionId, TakenWindows>();
  const takeAll = async (named: readonly NamedClaim[]) => {
    const at = now();
    const outcome = await store.take(
      named.map(({ claim }) => claim),
      at,
    );
    if (outcome.kind === "full") throw refuse(named, { ...outcome, reserved: sumHeld(held, outcome) }, at);
    return outcome;
  };
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
    list: async () => listUse(settings, await store.list(MAX_LISTED), now()),
    noteHeld: async () => {
      if (held.size > 0) await store.noteHeld([...held.keys()], now());
    },
    releaseLost: async (execution) => {
      await store.giveBack(execution, ((await store.heldFor(execution)) ?? 0) + UNSEEN_MS);
    },
    takeCall(principal, tool) {
      const named = hasRole(principal, "operator") ? [] : claimCall(settings, { principal, tool });
      return named.length === 0 ? undefined : takeAll(named).then(() => undefined);
    },
    async take(request) {
      if (request.when === "restarted") return restore(request);
      const { wallMs } = request;
      const named = claimsOf(request);
      if (named.length === 0) return { wallMs, ...NOTHING_TAKEN };
      const outcome = await takeAll(named);
      const timed = new Set(named.filter(({ unit }) => unit === "ms").map(({ claim }) => claim.key));
      const times = outcome.units.filter(({ key }) => timed.has(key));
      const granted = Math.min(wallMs, ...times.map(({ amount }) => amount));
      const shortest = times.find(({ amount }) => amount === granted && amount < wallMs)?.key;
      const shortenedBy = named.find(({ claim }) => claim.key === shortest)?.setting;
      if (!named.some(({ claim }) => claim.holder !== undefined)) return { wallMs, ...NOTHING_TAKEN };
      held.set(request.execution, times);
      return {
        wallMs: granted,
        ...defined({ shortenedBy }),
        // A program stops shortly after its time is over; the excess is not charged, so no count exceeds its limit.
        release: async (usedMs) => giveBack(request.execution, Math.min(granted, usedMs)),
      };
    },
  };
}

/** Returns how much of a full window the executions of this process hold. */
function sumHeld(held: ReadonlyMap<ExecutionId, TakenWindows>, { claim, freeAt }: FullQuota): number {
  if (claim.kind !== "window") return 0;
  const startedAt = freeAt - claim.windowMs;
  const own = [...held.values()].flat().filter((one) => one.key === claim.key && one.startedAt === startedAt);
  return own.reduce((sum, { amount }) => sum + amount, 0);
}

const UNITS: Readonly<Record<Exclude<NamedClaim["unit"], "calls">, string>> = {
  executions: "executions in a minute",
  ms: "ms of execution time in an hour",
  places: "parallel executions",
  cost: "cost in a day",
};

/** The error about an exhausted quota: which one, how much is left or `reserved` by programs, and when it resets. */
function refuse(
  all: readonly NamedClaim[],
  { claim: { key }, used, reserved, freeAt }: FullQuota & { readonly reserved: number },
  now: Instant,
): GloveboxError {
  const named = all.find(({ claim }) => claim.key === key);
  if (!named) throw new TypeError("The store refused an unknown quota claim");
  const { claim, setting, who } = named;
  const show = (amount: number): string => String(named.unit === "cost" ? amount / COST_UNITS : amount);
  const seconds = Math.max(1, Math.ceil((freeAt - now) / SECOND_MS));
  const windowMs = claim.kind === "window" ? claim.windowMs : 0;
  const unit = named.unit === "calls" ? `calls in ${windowMs / SECOND_MS} s` : UNITS[named.unit];
  const limit = `${show(claim.limit)} ${unit} by ${who}`;
  if (reserved > 0) {
    const held = `${used - reserved} are used and ${reserved} are reserved by running programs`;
    const back = `unused time is released when they end, and all of it in ${seconds} s`;
    const message = `The quota ${setting} has too little left: of ${limit}, ${held}; ${back} (${toTime(freeAt)})`;
    const hint = `Retry when a running program has ended, or ask the operator to raise ${setting}`;
    return new GloveboxError("LIMIT_QUOTA", message, { hint });
  }
  const left = show(Math.max(0, claim.limit - used));
  const reset = claim.kind === "place" ? "a slot is free when one ends" : `it resets in ${seconds} s`;
  const price = named.unit === "cost" && claim.kind === "window" ? `, and this call costs ${show(claim.amount)}` : "";
  const state = `${show(used)} of ${limit}, ${left} left${price}; ${reset} (${toTime(freeAt)})`;
  return new GloveboxError("LIMIT_QUOTA", `The quota ${setting} is used up: ${state}`, {
    hint: `Wait and retry, or ask the operator to raise ${setting}`,
  });
}

/** A wrong clock can give a time outside of the range of dates. */
function toTime(at: Instant): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "at an unknown time" : `at the latest ${date.toISOString()}`;
}

/**
 * Which of the two protocol eras a server speaks: "legacy" shakes hands with `initialize` (up to 2025-11-25), "modern"
 * answers `server/discover` (from 2026-07-28 on). Asking takes time and upsets some old servers, so the answer is kept.
 */

import { isJsonObject } from "../../domain/index.ts";
import type { ConnectorId, Instant } from "../../domain/index.ts";

import type { DurableValues } from "../connector.ts";

export type Era = "legacy" | "modern";

/** What was found out about a server, and when. */
export interface EraVerdict {
  readonly era: Era;
  readonly at: Instant;
}

/** Remembers verdicts between starts. A failure to remember costs time only, so nobody hears of it. */
export interface EraVerdicts {
  get(id: ConnectorId): Promise<EraVerdict | undefined>;
  /** `undefined` forgets. */
  set(id: ConnectorId, verdict: EraVerdict | undefined): Promise<void>;
}

/** How one attempt finds out: `ask` probes and falls back, the other two rely on what is known. */
export type Handshake = "ask" | Era;

/** A server that was updated still answers the old way, and nothing would tell; so old verdicts run out. */
const LEGACY_HORIZON_MS = 24 * 60 * 60 * 1000;

/** What to try, in this order; the second only when the first failed in a way that speaks for the other era. */
export function planHandshakes(verdict: EraVerdict | undefined, now: Instant): readonly Handshake[] {
  if (verdict?.era === "modern") return ["modern", "ask"];
  const isFresh = verdict !== undefined && now >= verdict.at && now - verdict.at < LEGACY_HORIZON_MS;
  // Servers that exit at an unknown request are old ones, so what failed when asked is tried without asking.
  return isFresh ? ["legacy", "ask"] : ["ask", "legacy"];
}

/** Remembers verdicts among the durable values of the installation. */
export function createVerdicts(values: Pick<DurableValues, "get" | "set">): EraVerdicts {
  return {
    get: async (id) => parseVerdictText(await values.get(`era:${id}`)),
    set: (id, verdict) => values.set(`era:${id}`, toVerdictText(verdict)),
  };
}

/** The text that keeps a verdict. */
export function toVerdictText(verdict: EraVerdict | undefined): string {
  return verdict ? JSON.stringify(verdict) : "";
}

/** `undefined` for anything that `toVerdictText` would not have written. */
export function parseVerdictText(text: string | undefined): EraVerdict | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const raw: unknown = JSON.parse(text);
    if (!isJsonObject(raw)) return undefined;
    const { era, at } = raw;
    return (era === "legacy" || era === "modern") && typeof at === "number" ? { era, at } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The two protocol eras: a "legacy" server does the `initialize` handshake (up to 2025-11-25), a "modern" one answers
 * `server/discover` (from 2026-07-28). Probing takes time and breaks some old servers, so the result is stored.
 */

import { z } from "zod";

import { parseJson } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { DAY_MS } from "../../timing/index.ts";

const VERDICT = z.object({ era: z.enum(["legacy", "modern"]), at: z.number() });

/** The era of a server, and when it was found out. */
export type EraVerdict = Readonly<z.infer<typeof VERDICT>>;

export type Era = EraVerdict["era"];

/** How one attempt connects: `ask` probes and falls back, the other two rely on a verdict. */
export type Handshake = "ask" | Era;

/** What to try, in this order; the second only if the first failed in a way that suggests the other era. */
export function planHandshakes(verdict: EraVerdict | undefined, now: Instant): readonly Handshake[] {
  if (verdict?.era === "modern") return ["modern", "ask"];
  // An updated server still accepts the old handshake, so nothing would reveal the update: legacy verdicts expire.
  const isFresh = verdict !== undefined && now >= verdict.at && now - verdict.at < DAY_MS;
  // A server that exits at an unknown request is an old one, so a failed probe is followed by the legacy handshake.
  return isFresh ? ["legacy", "ask"] : ["ask", "legacy"];
}

/** The string that stores a verdict; empty for none. */
export function toVerdictText(verdict: EraVerdict | undefined): string {
  return verdict ? JSON.stringify(verdict) : "";
}

/** Returns `undefined` for anything that `toVerdictText` would not have written. */
export function parseVerdictText(text: string | undefined): EraVerdict | undefined {
  return VERDICT.safeParse(parseJson(text ?? "")).data;
}

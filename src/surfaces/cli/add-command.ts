/** Options and parsers that commands share. */

import { InvalidArgumentError } from "commander";
import type { Command } from "commander";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../timing/index.ts";

/** Adds a command with `--config`. */
export function addCommand(parent: Command, words: string, description: string): Command {
  return parent
    .command(words)
    .description(description)
    .option("--config <path>", "a configuration file instead of the one that is found")
    .copyInheritedSettings(parent);
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Parses a date, or a duration before `now`. */
export function parseMoment(text: string, now: Instant): Instant {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(text)} is not a time`, {
    hint: "Write a date such as 2026-11-16T08:00Z, or a duration before now: 90s, 30m, 12h, 7d",
  });
}

/** Parses an integer from 1 up. */
export function parseCount(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError("It must be an integer from 1 up.");
}
